//go:build unix

package builtin

import "os"

// syncFolder makes a rename in the folder last through a loss of power, where
// the file system can. Failing is no error: the rename itself is done.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		f.Close()
	}
}
