package hops

import (
	"crypto/rand"
	"os"
	"path/filepath"
)

const (
	keyName = "hops.key"
	keySize = 32
)

// Key returns the key that the user's workbenches share. It is stored in a folder for this user only and created on
// first use. If that fails, the key is valid for this process only, and a loop through other processes ends at Max.
func Key(folder string) []byte {
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	if folder == "" || os.MkdirAll(folder, 0o700) != nil {
		return key
	}
	path := filepath.Join(folder, keyName)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = file.Write(key)
		if closed := file.Close(); err != nil || closed != nil {
			_ = os.Remove(path)
		}
		return key
	}
	if kept, err := os.ReadFile(path); err == nil && len(kept) == keySize {
		return kept
	}
	return key
}

// RealPath returns the same path for all paths that lead to one file.
func RealPath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}
