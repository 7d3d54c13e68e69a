//go:build !windows

package safefile

import "os"

// MakeFolder makes a folder that only this user can use, and the missing ones above it likewise. One that exists stays as it
// is.
func MakeFolder(path string) error { return os.MkdirAll(path, 0o700) }

// PrivateCommand is the command that lets only this user use a file or folder, whose path is quoted for a shell.
func PrivateCommand(quoted string, isFolder bool) string {
	if isFolder {
		return "chmod 700 " + quoted
	}
	return "chmod 600 " + quoted
}

// createTemp makes a temporary file with mode 0600. A mode like that of another file is set later.
func createTemp(folder, pattern, _ string) (*os.File, error) { return os.CreateTemp(folder, pattern) }
