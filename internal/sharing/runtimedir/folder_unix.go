//go:build unix

package runtimedir

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// foreignAccess returns why other users can access a folder, or "".
func foreignAccess(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || int64(stat.Uid) != int64(os.Geteuid()):
		return "belongs to another user"
	case info.Mode().Perm()&0o077 != 0:
		return "is open to other users (chmod 700 closes it)"
	}
	return ""
}

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
