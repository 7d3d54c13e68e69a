//go:build unix

package safefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// AccessProblem returns how another user has forbidden access to a file or folder, as words that follow its name, or "".
func AccessProblem(info fs.FileInfo, forbidden fs.FileMode) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "has no known owner"
	case int64(stat.Uid) != int64(os.Geteuid()):
		return "belongs to another user"
	case writableBy(info) != "":
		return writableBy(info)
	case info.Mode().Perm()&forbidden != 0:
		return "can be read by other users"
	}
	return ""
}

// changeProblem is like AccessProblem with Change, but root may own the file: root can change everything anyway.
func changeProblem(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid == 0 {
		return writableBy(info)
	}
	return AccessProblem(info, Change)
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
