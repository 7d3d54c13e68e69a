//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// AccessProblem returns how another user has forbidden access to a file or folder, as words that follow its name, or "".
func AccessProblem(info fs.FileInfo, forbidden fs.FileMode) string {
	if IsForeign(info) {
		return "belongs to another user"
	}
	return modeProblem(info, forbidden)
}

// IsForeign reports whether a file belongs to another user.
func IsForeign(info fs.FileInfo) bool {
	owner, isKnown := ownerOf(info)
	return !isKnown || int64(owner) != int64(os.Geteuid())
}

// StrangerProblem is like AccessProblem, but root may own the file: root can read and change everything anyway.
func StrangerProblem(info fs.FileInfo, forbidden fs.FileMode) string {
	if owner, isKnown := ownerOf(info); !isKnown || owner != 0 {
		return AccessProblem(info, forbidden)
	}
	return modeProblem(info, forbidden)
}

func changeProblem(info fs.FileInfo) string { return StrangerProblem(info, Change) }

// modeProblem returns what the mode of a file lets users besides the owner do that is forbidden, or "".
func modeProblem(info fs.FileInfo, forbidden fs.FileMode) string {
	switch {
	case writableBy(info) != "":
		return writableBy(info)
	case info.Mode().Perm()&forbidden != 0:
		return "can be read by other users"
	}
	return ""
}

// writableBy returns which users besides the owner can change a file or folder, or "".
func writableBy(info fs.FileInfo) string {
	switch mode := info.Mode().Perm(); {
	case mode&0o002 != 0:
		return "can be changed by every user of this machine"
	case mode&0o020 != 0:
		return "can be changed by its group"
	}
	return ""
}

// ReplaceProblem returns how a user other than this one and root can replace a file or link, or "". The reason is a clause
// that names the folder. In a sticky folder, only the owner of the entry or of the folder can replace an entry.
func ReplaceProblem(path string) string {
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	if err != nil {
		return "its folder cannot be examined: " + err.Error()
	}
	reason := changeProblem(info)
	if reason == "" {
		return ""
	}
	owner, isKnown := ownerOf(info)
	entry, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSticky != 0 && isKnown && isOurs(owner) {
		if owner, isKnown = ownerOf(entry); isKnown && isOurs(owner) {
			return ""
		}
	}
	return "the folder " + folder + " " + reason
}

func ownerOf(info fs.FileInfo) (uint32, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return stat.Uid, true
}

func isOurs(user uint32) bool { return user == 0 || int64(user) == int64(os.Geteuid()) }

// Identity returns numbers that tell a file from others that exist at the same time.
func Identity(info fs.FileInfo) (device, file uint64) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return uint64(stat.Dev), stat.Ino //nolint:unconvert // the type of Dev depends on the system
}

// SyncFolder writes the entries of a folder to disk, where the file system can do that.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}

// Stat is os.Stat with what AccessProblem needs, which the info has here.
func Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// SameFile is os.SameFile, also for infos of Open and Stat.
func SameFile(a, b fs.FileInfo) bool { return os.SameFile(a, b) }

// withAccess returns the info as it is: it has owner and mode.
func withAccess(_ *os.File, info fs.FileInfo) (fs.FileInfo, error) { return info, nil }
