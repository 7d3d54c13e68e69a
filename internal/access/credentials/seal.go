package credentials

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// SealOptions say where the key comes from that logins are encrypted with.
type SealOptions = config.Credentials

const keySize = 32 // bytes of a key, for AES-256

// sealedPart is the encrypted part of a file.
type sealedPart struct {
	By   string `json:"by"`   // where the key comes from, as in the configuration
	Key  string `json:"key"`  // the id of the key
	Data []byte `json:"data"` // nonce, ciphertext and tag of AES-256-GCM
}

// sealKey is a key to encrypt logins with.
type sealKey [keySize]byte

// String hides the key.
func (sealKey) String() string { return "a key" }

// GoString hides the key.
func (sealKey) GoString() string { return "a key" }

// id tells keys apart, and nothing of the key.
func (k sealKey) id() string {
	hash := sha256.Sum256(append([]byte("mcp-workbench: id of a key for logins\x00"), k[:]...))
	return hex.EncodeToString(hash[:8])
}

func (k sealKey) cipher() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// parseKey reads a key in Base64. Its errors do not show it.
func parseKey(text string) (sealKey, error) {
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(data) != keySize {
		return sealKey{}, fmt.Errorf("it is not %d bytes in Base64", keySize)
	}
	return sealKey(data), nil
}

// binding is what a ciphertext belongs to: it can be opened only in the file and the generation that it was made for.
func binding(name string, generation uint64) []byte {
	return fmt.Appendf(nil, "mcp-workbench login %d\n%s\n%d", stored.Logins.Format, name, generation)
}

// seal encrypts the content of a login's file.
func (s *Store) seal(name string, c *Credential, plain []byte) (*sealedPart, error) {
	key, err := s.keys.forSealing()
	if err != nil {
		return nil, sealError(filepath.Join(s.folder, name), c.Key, fmt.Sprintf("The login %s cannot be encrypted, and so is not stored", c.Key), err)
	}
	aead, err := key.cipher()
	if err != nil {
		return nil, err
	}
	return &sealedPart{By: s.keys.options.Seal, Key: key.id(), Data: aead.Seal(nil, nil, plain, binding(name, c.Generation))}, nil
}

// unseal decrypts the content of a login's file.
func (s *Store) unseal(name string, head fileHead) ([]byte, error) {
	path := filepath.Join(s.folder, name)
	key, err := s.keys.forOpening(head.Sealed)
	if err != nil {
		return nil, sealError(path, head.Key, fmt.Sprintf("The login in %s is encrypted and cannot be used", path), err)
	}
	aead, err := key.cipher()
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, nil, head.Sealed.Data, binding(name, head.Generation))
	if err != nil {
		return nil, broken(path, "its encrypted part was changed, or belongs to another file")
	}
	return plain, nil
}

// keyProblem is why a key cannot be had.
type keyProblem struct {
	reason string // a clause
	remedy string // a sentence, without the way out that all have
	isLost bool   // the login cannot be read before the remedy, so that removing it is a way out
	cause  error
}

func (p *keyProblem) Error() string { return p.reason }

func sealError(path string, key Key, what string, err error) error {
	shown := &toolbox.Error{Code: toolbox.LoginsSealed, Message: what + ": " + err.Error(), Cause: err}
	if problem, ok := errors.AsType[*keyProblem](err); ok {
		shown.Hint, shown.Cause = problem.remedy, problem.cause
		if problem.isLost {
			shown.Hint += fmt.Sprintf("\nIf the key is lost, replace the login by a new one: %s. Or remove the file: %s", loginAnew, removal(path))
		}
	}
	return &SealError{Path: path, Key: key, shown: shown}
}
