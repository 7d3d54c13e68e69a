package hops

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
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
	if folder == "" || safefile.MakeFolder(folder) != nil {
		return key
	}
	path := filepath.Join(folder, keyName)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = file.Write(stored.HopsKey.EncodeKey(hex.EncodeToString(key)))
		if closed := file.Close(); err != nil || closed != nil {
			_ = os.Remove(path)
		}
		return key
	}
	if content, err := os.ReadFile(path); err == nil {
		if kept := parseKey(content); len(kept) == keySize {
			return kept
		}
	}
	return key
}

// parseKey reads the content of the file. The first format was the key itself.
func parseKey(content []byte) []byte {
	if len(content) == keySize || stored.HopsKey.Check(keyName, content) != nil {
		return content
	}
	kept, _ := hex.DecodeString(strings.TrimSpace(string(stored.HopsKey.KeyText(content)))) // a wrong length is not used
	return kept
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
