package forms

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// fillHint says what to do about an empty secret.
func fillHint(form config.Form, environ []string) string {
	switch form.Kind {
	case config.FormFile:
		return "put the secret into " + trust.Quote(form.Name)
	case config.FormExec:
		return "run the command of the secret in a terminal: it has to print the secret on stdout"
	case config.FormKeyring:
		return "run: mcp-workbench secret set " + trust.Quote(form.Name)
	}
	return "put the secret into the file that the unit loads as " + trust.Quote(filepath.Join(variable(environ, "CREDENTIALS_DIRECTORY"), form.Name))
}

// readHint says what to do about a file that cannot be read. info is nil if nothing is known about it.
func readHint(path string, info fs.FileInfo, err error) string {
	switch {
	case errors.Is(err, safefile.ErrSpecial):
		return "name a regular file"
	case errors.Is(err, fs.ErrPermission) && info != nil:
		return privateHint(path, info)
	case errors.Is(err, fs.ErrPermission):
		return "let yourself into its folder, or name a file that you can read"
	case info != nil && info.Size() > maxValue:
		return "put only the secret into " + trust.Quote(path)
	}
	return "name a regular file that only you can read"
}

// privateHint is a command that makes a file one that only its user can read.
func privateHint(path string, info fs.FileInfo) string {
	private := safefile.PrivateCommand(trust.Quote(path), false)
	if safefile.IsForeign(info) {
		return "if it is the file that you mean, run as root: " + ownCommand(path) + private
	}
	return "let only yourself or root own it; if nobody else has read it: " + private
}
