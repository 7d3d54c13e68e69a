package credentials

import (
	"errors"
	"os"
	"path/filepath"

	system "github.com/zalando/go-keyring"

	"github.com/mcp-workbench/mcp-workbench/internal/access/keyring"
)

// KeyringEntry names the entry in the system's keyring, for people.
const KeyringEntry = "keyring entry " + keyring.Service + "/" + keyring.LoginsEntry

// UsesKeyring reports whether logins in a folder are, or were, encrypted with a key in the system's keyring. It does not ask
// the keyring, which could ask the user.
func UsesKeyring(folder string) bool {
	if folder == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(folder, keyringLock))
	return err == nil || (&loginKeyring{folder: folder}).needed() != ""
}

// RemoveFromKeyring removes the key from the system's keyring. What it encrypts cannot be read any more.
func RemoveFromKeyring(folder string) error {
	_, err := (&loginKeyring{folder: folder}).call(func() (string, error) { return "", system.Delete(keyring.Service, keyring.LoginsEntry) })
	if err == nil || errors.Is(err, system.ErrNotFound) {
		return nil
	}
	return unusableKeyring(err)
}
