//go:build unix

package trust

import (
	"io/fs"
	"os"
	"syscall"
)

// strangers says how somebody else can change a file or folder, or "".
func strangers(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "has no known owner"
	case int64(stat.Uid) != int64(os.Geteuid()):
		return "belongs to another user"
	case info.Mode().Perm()&0o002 != 0:
		return "can be changed by every user of this machine"
	case info.Mode().Perm()&0o020 != 0:
		return "can be changed by its group"
	}
	return ""
}

// syncFolder makes a rename in the folder last.
func syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
