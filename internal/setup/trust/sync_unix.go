//go:build unix

package trust

import "os"

// syncFolder makes a rename in the folder durable.
func syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
