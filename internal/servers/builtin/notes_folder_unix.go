//go:build unix

package builtin

import "os"

// syncFolder makes a rename in the folder durable where the file system supports that. Errors are ignored: the rename
// itself is done.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		f.Close()
	}
}
