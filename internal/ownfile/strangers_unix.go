//go:build unix

package ownfile

import (
	"io/fs"
	"os"
	"syscall"
)

// Strangers says how somebody else can do with a file or folder what is forbidden, in
// words that follow its name, or "".
func Strangers(info fs.FileInfo, forbidden fs.FileMode) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	shared := info.Mode().Perm() & forbidden
	switch {
	case !ok:
		return "has no known owner"
	case int64(stat.Uid) != int64(os.Geteuid()):
		return "belongs to another user"
	case shared&0o002 != 0:
		return "can be changed by every user of this machine"
	case shared&0o020 != 0:
		return "can be changed by its group"
	case shared != 0:
		return "can be read by other users"
	}
	return ""
}
