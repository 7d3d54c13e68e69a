package sandbox

import "golang.org/x/sys/unix"

// mayRead reports whether this process, which is in no sandbox, can read a path.
func mayRead(path string) bool { return may(path, unix.R_OK) }

// mayWrite reports whether this process can write to a file, or create files in a folder.
func mayWrite(path string) bool {
	if isFolder(path) {
		return may(path, unix.W_OK|unix.X_OK)
	}
	return may(path, unix.W_OK)
}

func may(path string, mode uint32) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS) == nil
}
