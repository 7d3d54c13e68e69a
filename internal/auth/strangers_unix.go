//go:build unix

package auth

import (
	"io/fs"
	"os"
	"syscall"
)

// strangers says what somebody else can do with a file or folder, among what the mask
// forbids, or "".
func strangers(info fs.FileInfo, forbidden fs.FileMode) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	shared := info.Mode().Perm() & forbidden
	switch {
	case !ok:
		return "has no known owner"
	case int64(stat.Uid) != int64(os.Geteuid()):
		return "belongs to another user"
	case shared&0o022 != 0:
		return "can be changed by other users"
	case shared != 0:
		return "can be read by other users"
	}
	return ""
}
