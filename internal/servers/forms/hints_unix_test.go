//go:build unix

package forms

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// What to do about a secret that cannot be had is about the secret, not about the server that wants it.
func TestHints(t *testing.T) {
	r, dir := newResolver(t), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	file := func(name string, size int) {
		if err := os.WriteFile(path(name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file("empty", 0)
	file("large", maxValue+1)
	file("foreign", 5)
	if err := errors.Join(os.Mkdir(path("folder"), 0o700), syscall.Mkfifo(path("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	isForeign := os.Chown(path("foreign"), 12345, -1) == nil // root only
	ofFile := func(name string) config.Form {
		return config.Form{Kind: config.FormFile, Text: "${file:" + name + "}", Name: path(name)}
	}
	credential := config.Form{Kind: config.FormCredential, Text: "${credential:deploy}", Name: "deploy"}
	for _, test := range []struct {
		name         string
		form         config.Form
		reason, hint string
		skip         bool
	}{
		{name: "empty file", form: ofFile("empty"), reason: "it is empty", hint: "put the secret into " + path("empty")},
		{name: "large file", form: ofFile("large"), reason: "larger than 64 KiB", hint: "put only the secret into " + path("large")},
		{name: "folder", form: ofFile("folder"), reason: "not a file", hint: "name a regular file"},
		{name: "pipe", form: ofFile("pipe"), reason: "not a file", hint: "name a regular file"},
		{name: "foreign", form: ofFile("foreign"), reason: "another user", hint: " " + path("foreign") + " && chmod 600 " + path("foreign"), skip: !isForeign},
		{name: "no output", form: run(dir, ":"), reason: "it is empty", hint: "the command of the secret"},
		{name: "much output", form: run(dir, "yes"), reason: "more than 64 KiB", hint: "print only the secret"},
		{name: "no credential", form: credential, reason: "the unit has no credential deploy", hint: "LoadCredential=deploy:PATH"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.skip {
				t.Skip("only root can give a file away")
			}
			_, err := r.Value(t.Context(), test.form, append(os.Environ(), "CREDENTIALS_DIRECTORY="+dir))
			missing, ok := errors.AsType[*Error](err)
			if !ok || !strings.Contains(missing.Reason, test.reason) || !strings.Contains(missing.Hint, test.hint) {
				t.Errorf("got %v", err)
			}
		})
	}
}
