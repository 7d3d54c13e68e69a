package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
)

// markers are what version control systems create in the top folder of a working copy.
var markers = []string{
	".git", ".hg", ".svn", ".jj", ".sl", ".bzr", ".pijul", "_darcs", ".fslckout", "_FOSSIL_", "CVS",
}

// Doubt returns why somebody else may have written a file in the working folder, or "". It also doubts a file that
// cannot be examined.
func Doubt(f File) string {
	ways := []string{f.Path}
	if f.EnvInfo != nil {
		ways = append(ways, filepath.Join(filepath.Dir(f.Path), f.EnvInfo.Name()))
	}
	var links, folders []string
	for _, path := range ways {
		followed, target, err := safefile.Follow(path)
		if err != nil {
			return "its folder cannot be examined: " + err.Error()
		}
		links = append(links, followed...)
		folders = append(folders, filepath.Dir(path), filepath.Dir(target))
	}
	for _, folder := range append(foldersOf(links), folders...) {
		if marker := versionControl(folder); marker != "" {
			return "it lies in a folder under version control, as " + display(marker) + " shows"
		}
	}
	if reason := safefile.AccessProblem(f.Info, safefile.Change); reason != "" {
		return "the file " + reason
	}
	if f.EnvInfo != nil {
		if reason := safefile.AccessProblem(f.EnvInfo, safefile.Change); reason != "" {
			return fmt.Sprintf("the %s beside it %s", f.EnvInfo.Name(), reason)
		}
	}
	for _, folder := range folders {
		info, err := safefile.Stat(folder)
		if err != nil {
			return "its folder cannot be examined: " + err.Error()
		}
		if reason := safefile.AccessProblem(info, safefile.Change); reason != "" {
			return "its folder " + reason
		}
	}
	for _, link := range links {
		if reason := safefile.ReplaceProblem(link); reason != "" {
			return "it is reached through the link " + display(link) + ", and " + reason
		}
	}
	return ""
}

// foldersOf returns the folders of the links: whoever can change one of them decides what is read.
func foldersOf(links []string) []string {
	folders := make([]string, len(links))
	for i, link := range links {
		folders[i] = filepath.Dir(link)
	}
	return folders
}

// versionControl returns the marker of a version control system in the folder or in a parent.
func versionControl(folder string) string {
	for {
		for _, name := range markers {
			marker := filepath.Join(folder, name)
			_, err := os.Lstat(marker)
			// An unreadable folder may contain one.
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
