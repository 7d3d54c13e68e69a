package credentials

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

const maxKeyFile = 4 << 10 // size of a file with a key; a larger one is an error

// keySource gets the key that logins are encrypted with.
type keySource struct {
	options SealOptions
	ring    *loginKeyring
}

func newKeySource(folder string, options SealOptions) *keySource {
	return &keySource{options: options, ring: &loginKeyring{folder: folder}}
}

// isOn reports whether logins are to be encrypted.
func (k *keySource) isOn() bool { return k.options.Seal != "" }

// forSealing returns the key to encrypt with.
func (k *keySource) forSealing() (sealKey, error) {
	switch k.options.Seal {
	case config.SealKeyring:
		return k.ring.ensure()
	case config.SealFile:
		return k.fromFile(fmt.Sprintf("To create it: %s", creation(k.options.KeyFile)))
	case config.SealSystemd:
		return k.fromSystemd()
	}
	return sealKey{}, &keyProblem{
		reason: fmt.Sprintf("the configuration says \"credentials\": {\"seal\": %q}, which is unknown", k.options.Seal),
		remedy: fmt.Sprintf("Known are %q, %q and %q.", config.SealKeyring, config.SealFile, config.SealSystemd),
	}
}

// forOpening returns the key that a file was encrypted with.
func (k *keySource) forOpening(sealed *sealedPart) (key sealKey, err error) {
	if k.options.Seal != sealed.By {
		return key, k.otherSource(sealed.By)
	}
	switch sealed.By {
	case config.SealKeyring:
		key, err = k.ring.find(sealed.Key)
	case config.SealFile:
		key, err = k.fromFile("Restore it from a backup: a new key does not open old logins.")
	case config.SealSystemd:
		key, err = k.fromSystemd()
	default:
		err = k.otherSource(sealed.By)
	}
	if problem, ok := errors.AsType[*keyProblem](err); ok {
		problem.isLost = true
	}
	if err == nil && key.id() != sealed.Key {
		err = &keyProblem{
			reason: "it was encrypted with another key than " + k.describe(),
			remedy: "Restore the key that was used then.",
			isLost: true,
		}
	}
	return key, err
}

func (k *keySource) otherSource(by string) *keyProblem {
	now := "the configuration says nothing about encryption"
	if k.isOn() {
		now = fmt.Sprintf("the configuration says \"seal\": %q", k.options.Seal)
	}
	return &keyProblem{
		reason: fmt.Sprintf("its key comes from %q, and %s", by, now),
		remedy: fmt.Sprintf("Write into your configuration: \"credentials\": {\"seal\": %q}, with its further keys as they were.", by),
		isLost: true,
	}
}

// describe names the configured key.
func (k *keySource) describe() string {
	switch k.options.Seal {
	case config.SealKeyring:
		return "the one in the system's keyring"
	case config.SealFile:
		return "the one in " + k.options.KeyFile
	}
	return fmt.Sprintf("the systemd credential '%s'", k.options.SystemdCredential)
}

// fromFile reads the key file. The remedy is for a file that is missing.
func (k *keySource) fromFile(remedy string) (sealKey, error) {
	path := k.options.KeyFile
	data, info, err := safefile.Read(path, maxKeyFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sealKey{}, &keyProblem{reason: fmt.Sprintf("the key file %s does not exist", path), remedy: remedy, cause: err}
	case err != nil:
		return sealKey{}, &keyProblem{reason: "the key file cannot be read: " + err.Error(), cause: err}
	}
	if reason := safefile.StrangerProblem(info, safefile.ReadOrChange); reason != "" {
		return sealKey{}, &keyProblem{
			reason: fmt.Sprintf("the key file %s %s", path, reason),
			remedy: "If nobody else used it: " + safefile.PrivateCommand(trust.Quote(path), false),
		}
	}
	key, err := parseKey(string(data))
	if err != nil {
		return sealKey{}, &keyProblem{reason: fmt.Sprintf("the key file %s cannot be used: %v", path, err), remedy: remedy}
	}
	return key, nil
}

// creation is a command that creates a key file.
func creation(path string) string {
	if runtime.GOOS == "windows" {
		return "openssl rand -base64 -out " + trust.Quote(path) + " 32"
	}
	return "(umask 077; head -c 32 /dev/urandom | base64 > " + trust.Quote(path) + ")"
}

// fromSystemd reads the key from the folder in which systemd provides the credentials of a unit.
func (k *keySource) fromSystemd() (sealKey, error) {
	name := k.options.SystemdCredential
	remedy := fmt.Sprintf("Start mcp-workbench from a unit with LoadCredentialEncrypted=%s:FILE. To create FILE: "+
		"head -c 32 /dev/urandom | base64 | systemd-creds encrypt --name=%s - FILE", name, name)
	folder := os.Getenv("CREDENTIALS_DIRECTORY")
	if folder == "" {
		return sealKey{}, &keyProblem{
			reason: fmt.Sprintf("the systemd credential '%s' is missing: CREDENTIALS_DIRECTORY is not set", name), remedy: remedy,
		}
	}
	if !filepath.IsLocal(name) || filepath.Base(name) != name {
		return sealKey{}, &keyProblem{reason: "the name of the systemd credential is not a file name", remedy: `Correct "systemdCredential".`}
	}
	path := filepath.Join(folder, name)
	data, info, err := safefile.Read(path, maxKeyFile)
	if err != nil {
		return sealKey{}, &keyProblem{reason: fmt.Sprintf("the systemd credential '%s' cannot be read: %v", name, err), remedy: remedy, cause: err}
	}
	// systemd lets the user of the unit read it by an access control list, which shows as a right of the group.
	if reason := safefile.StrangerProblem(info, 0o027); reason != "" {
		return sealKey{}, &keyProblem{reason: fmt.Sprintf("the systemd credential %s %s", path, reason), remedy: remedy}
	}
	key, err := parseKey(string(data))
	if err != nil {
		return sealKey{}, &keyProblem{reason: fmt.Sprintf("the systemd credential '%s' cannot be used: %v", name, err), remedy: remedy}
	}
	return key, nil
}
