package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/mcp-workbench/mcp-workbench/internal/ownfile"
)

// markers are what version control systems leave in the top folder of a copy.
var markers = []string{
	".git", ".hg", ".svn", ".jj", ".sl", ".bzr", ".pijul", "_darcs", ".fslckout", "_FOSSIL_", "CVS",
}

// Doubt says why somebody else may have written a file that was found in the working
// folder, or "" if nothing speaks for it. What cannot be examined is doubted.
func Doubt(f File) string {
	folders, err := foldersOf(f.Path)
	if err != nil {
		return "its folder cannot be examined: " + err.Error()
	}
	for _, folder := range folders {
		if marker := versionControl(folder); marker != "" {
			return "it lies in a folder under version control, as " + display(marker) + " shows"
		}
	}
	if reason := ownfile.Strangers(f.Info, ownfile.Change); reason != "" {
		return "the file " + reason
	}
	if f.EnvInfo != nil {
		if reason := ownfile.Strangers(f.EnvInfo, ownfile.Change); reason != "" {
			return fmt.Sprintf("the %s beside it %s", f.EnvInfo.Name(), reason)
		}
	}
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil {
			return "its folder cannot be examined: " + err.Error()
		}
		if reason := ownfile.Strangers(info, ownfile.Change); reason != "" {
			return "its folder " + reason
		}
	}
	return ""
}

// foldersOf returns the folder of a file as it was named, as it is really called, and the
// one that holds the file itself, if it is a link: whoever can change one of them decides
// what is read.
func foldersOf(path string) ([]string, error) {
	named := filepath.Dir(path)
	actual, err := filepath.EvalSymlinks(named)
	if err != nil {
		return nil, err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	folders := []string{named, actual, filepath.Dir(target)}
	slices.Sort(folders)
	return slices.Compact(folders), nil
}

// versionControl returns the marker of a version control system in the folder or in one
// above it.
func versionControl(folder string) string {
	for {
		for _, name := range markers {
			marker := filepath.Join(folder, name)
			_, err := os.Lstat(marker)
			// A folder that hides whether there is one may have one.
			if err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				return marker
			}
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return ""
		}
		folder = parent
	}
}
