// Package forms gets the secrets that a configuration names by forms such as ${keyring:NAME}: from the system's keyring,
// from commands, from private files, and from systemd. It is asked when a server starts, and keeps only what commands
// printed, for a short time.
package forms

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/access/keyring"
	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// maxValue is the size of a secret that a file or a command gives; a larger one is an error.
const maxValue = 64 << 10

// Resolver gets the values of forms. It is safe for concurrent use.
type Resolver struct {
	host *process.Host

	mu     sync.Mutex
	cached map[command]*output
}

// New returns a resolver that runs commands through a host.
func New(host *process.Host) *Resolver {
	return &Resolver{host: host, cached: make(map[command]*output)}
}

// Error says why the value of a form cannot be had, and what to do. It holds nothing of a value.
type Error struct {
	Form   config.Form
	Reason string // a clause
	Hint   string // a clause; "" if there is none
}

func (e *Error) Error() string {
	text := "the secret " + e.Form.String() + " cannot be had: " + e.Reason
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Value returns the value of a form. Commands run in the environment, which also says where credentials of systemd are.
func (r *Resolver) Value(ctx context.Context, form config.Form, environ []string) (value string, err error) {
	switch form.Kind {
	case config.FormKeyring:
		value, err = fromKeyring(form)
	case config.FormExec:
		value, err = r.fromCommand(ctx, form, environ)
	case config.FormFile:
		value, err = fromFile(form)
	case config.FormCredential:
		value, err = fromSystemd(form, environ)
	default:
		err = &Error{Form: form, Reason: "its kind is not known"}
	}
	switch {
	case err != nil:
		return "", err
	case value == "":
		return "", &Error{form, "it is empty", fillHint(form, environ)}
	case !utf8.ValidString(value):
		return "", &Error{Form: form, Reason: "it is not UTF-8 text", Hint: "encode it, for example as Base64"}
	}
	return value, nil
}

func fromKeyring(form config.Form) (string, error) {
	value, err := keyring.Get(form.Name)
	switch {
	case err == nil:
		return value, nil
	case errors.Is(err, keyring.ErrNotFound):
		return "", &Error{form, "the system's keyring does not have it", "run: mcp-workbench secret set " + trust.Quote(form.Name)}
	}
	return "", &Error{
		form, "the system's keyring cannot be used: " + err.Error(),
		"unlock it or start its service; on a machine without one, use ${file:PATH}, ${exec:COMMAND} or ${credential:NAME}",
	}
}

func fromFile(form config.Form) (string, error) {
	data, info, err := safefile.Read(form.Name, maxValue)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &Error{form, "the file " + form.Name + " does not exist", "create it: " + creation(form.Name)}
	case err != nil:
		return "", &Error{form, "the file cannot be read: " + err.Error(), readHint(form.Name, info, err)}
	}
	if reason := safefile.StrangerProblem(info, safefile.ReadOrChange); reason != "" {
		return "", &Error{form, "the file " + form.Name + " " + reason, privateHint(form.Name, info)}
	}
	return withoutNewline(string(data)), nil
}

// creation is a command that creates a private file.
func creation(path string) string { return "(umask 077; cat > " + trust.Quote(path) + ")" }

func fromSystemd(form config.Form, environ []string) (string, error) {
	hint := fmt.Sprintf("start mcp-workbench from a unit with LoadCredential=%s:PATH or LoadCredentialEncrypted=%s:PATH", form.Name, form.Name)
	folder := variable(environ, "CREDENTIALS_DIRECTORY")
	if folder == "" {
		return "", &Error{form, "CREDENTIALS_DIRECTORY is not set", hint}
	}
	path := filepath.Join(folder, form.Name)
	data, info, err := safefile.Read(path, maxValue)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &Error{form, "the unit has no credential " + form.Name, fmt.Sprintf("add it to the unit: LoadCredential=%s:PATH or LoadCredentialEncrypted=%s:PATH", form.Name, form.Name)}
	case err != nil:
		return "", &Error{form, "it cannot be read: " + err.Error(), hint}
	}
	// systemd lets the user of the unit read it by an access control list, which shows as a right of the group.
	if reason := safefile.StrangerProblem(info, 0o027); reason != "" {
		return "", &Error{form, "the file " + path + " " + reason, hint}
	}
	return withoutNewline(string(data)), nil
}

// variable returns the value of an environment variable; the last one wins.
func variable(environ []string, name string) (value string) {
	if environ == nil {
		environ = os.Environ()
	}
	for _, entry := range environ {
		if text, ok := strings.CutPrefix(entry, name+"="); ok {
			value = text
		}
	}
	return value
}

// withoutNewline cuts one newline from the end, which most programs write.
func withoutNewline(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}
