package audit

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

// Names of the files in the folder of the keys.
const (
	sealKeyFile      = "audit-seal.key"      // the seed of the key that signs seals
	argumentsKeyFile = "audit-arguments.key" // the key of the hashes of arguments
)

const keyBytes = 32

// keys are the secrets of a user's log.
type keys struct {
	seal      ed25519.PrivateKey
	arguments []byte
}

// public returns the key that seals are verified with.
func (k *keys) public() ed25519.PublicKey { return k.seal.Public().(ed25519.PublicKey) }

// loadKeys reads the keys, and makes those that do not exist.
func loadKeys(folder string) (*keys, error) {
	if folder == "" {
		return nil, errors.New("there is no folder for its keys: HOME and XDG_STATE_HOME are not set")
	}
	if err := safefile.MakeFolder(folder); err != nil {
		return nil, err
	}
	seed, err := loadKey(filepath.Join(folder, sealKeyFile))
	if err != nil {
		return nil, err
	}
	arguments, err := loadKey(filepath.Join(folder, argumentsKeyFile))
	if err != nil {
		return nil, err
	}
	return &keys{seal: ed25519.NewKeyFromSeed(seed), arguments: arguments}, nil
}

// loadKey reads one key, or makes it.
func loadKey(path string) ([]byte, error) {
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	unlock, err := safefile.Lock(context.Background(), path+".lock", lockWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if key, err = readKey(path); !errors.Is(err, fs.ErrNotExist) {
		return key, err // another process has made it
	}
	key = make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	return key, safefile.Replace(path, ".audit-key-*", stored.AuditKey.EncodeKey(hex.EncodeToString(key)))
}

func readKey(path string) ([]byte, error) {
	const longest = 1 << 10
	data, info, err := safefile.Read(path, longest)
	if err != nil {
		return nil, err
	}
	if problem := safefile.AccessProblem(info, safefile.ReadOrChange); problem != "" {
		return nil, fmt.Errorf("the key %s %s", path, problem)
	}
	if err := stored.AuditKey.Check(path, data); err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(stored.AuditKey.KeyText(data))))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("%s is not a key: it needs %d hexadecimal digits", path, 2*keyBytes)
	}
	return key, nil
}

// PublicKey returns the key that the seals of this user are verified with. It makes none.
func PublicKey(folder string) (ed25519.PublicKey, error) {
	seed, err := readKey(filepath.Join(folder, sealKeyFile))
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey), nil
}

// ParsePublicKey reads a public key in hexadecimal digits.
func ParsePublicKey(text string) (ed25519.PublicKey, error) {
	key, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("a public key has %d hexadecimal digits", 2*ed25519.PublicKeySize)
	}
	return key, nil
}
