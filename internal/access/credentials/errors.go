package credentials

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// ErrNoFolder means that there is no folder to keep logins in.
var ErrNoFolder = &toolbox.Error{
	Code:    toolbox.NoStateFolder,
	Message: "There is no folder to keep logins in: HOME and XDG_STATE_HOME are not set",
	Hint:    "Set XDG_STATE_HOME to a folder that only you can use.",
}

// BrokenError is a file or folder that cannot be used. It wraps the *toolbox.Error for people.
type BrokenError struct {
	Path  string
	shown *toolbox.Error
}

// Error says what is wrong with the file, and what to do.
func (e *BrokenError) Error() string { return e.shown.Error() }

// Unwrap returns the error for people.
func (e *BrokenError) Unwrap() error { return e.shown }

// SealError is a login that is encrypted, or has to be, and whose key cannot be had. It wraps the *toolbox.Error for
// people.
type SealError struct {
	Path  string // of the file
	Key   Key    // of the login
	shown *toolbox.Error
}

// Error says why the key cannot be had, and what to do.
func (e *SealError) Error() string { return e.shown.Error() }

// Unwrap returns the error for people.
func (e *SealError) Unwrap() error { return e.shown }

// StaleError means that a login has changed since it was read. Nothing was written.
type StaleError struct {
	Key        Key
	Known      uint64 // the generation that the caller knows; 0: none
	Generation uint64 // the one on disk; 0: none
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("the login %s has changed since it was read (generation %d, now %d)", e.Key, e.Known, e.Generation)
}

// LoginCommand is how hints name the command that logs in; a caller that knows the server can put its name in.
const LoginCommand = "mcp-workbench login SERVER"

const loginAnew = LoginCommand + " --fresh"

// broken returns the error for a file that was read and cannot be used.
func broken(path, reason string) *BrokenError {
	return &BrokenError{path, &toolbox.Error{
		Code:    toolbox.LoginsUnusable,
		Message: fmt.Sprintf("The login in %s cannot be used: %s", path, reason),
		Hint:    fmt.Sprintf("Restore the file from a backup, or replace it by a new login: %s. Or remove it: %s", loginAnew, removal(path)),
	}}
}

// exposed returns the error for a file or folder that another user may have read or changed.
func exposed(path string, isFolder bool, reason, mode string) *BrokenError {
	otherwise := "replace the login by a new one: " + loginAnew
	if isFolder {
		otherwise = "remove the folder, and log in again"
	}
	return &BrokenError{path, &toolbox.Error{
		Code:    toolbox.LoginsUnusable,
		Message: fmt.Sprintf("%s cannot be used: %s %s", kept(path, isFolder), subject(isFolder), reason),
		Hint:    fmt.Sprintf("If nobody else used it: chmod %s %s. Otherwise %s", mode, trust.Quote(path), otherwise),
	}}
}

func subject(isFolder bool) string {
	if isFolder {
		return "the folder"
	}
	return "the file"
}

// kept names what a file or folder contains.
func kept(path string, isFolder bool) string {
	if isFolder {
		return fmt.Sprintf("The logins in the folder %s", path)
	}
	return fmt.Sprintf("The login in %s", path)
}

// foreign returns the error for a file or folder of another user.
func foreign(path string, isFolder bool) *BrokenError {
	return &BrokenError{path, &toolbox.Error{
		Code:    toolbox.LoginsUnusable,
		Message: kept(path, isFolder) + " cannot be used: " + subject(isFolder) + " belongs to another user",
		Hint:    "Run mcp-workbench as the user who logged in, or set XDG_STATE_HOME to a folder of your own. To see the owner: ls -ld " + trust.Quote(path),
	}}
}

// failed returns the error for something that the system did not do with a file or folder.
func failed(what, path string, err error) *BrokenError {
	hint := "Make sure that the folder is yours, can be written and is not full: ls -ld " + trust.Quote(filepath.Dir(path))
	if errors.Is(err, safefile.ErrLocked) {
		hint = "To see which workbenches are running: mcp-workbench ps"
	}
	return &BrokenError{path, &toolbox.Error{
		Code: toolbox.LoginsUnusable, Message: fmt.Sprintf("Cannot %s the login in %s: %v", what, path, reasonOf(err)), Hint: hint, Cause: err,
	}}
}

// reasonOf returns an error without the paths that the message names already.
func reasonOf(err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		return inner.Err
	}
	if inner, ok := errors.AsType[*os.LinkError](err); ok {
		return inner.Err
	}
	return err
}

// removal is the command that removes a file.
func removal(path string) string { return "rm " + trust.Quote(path) }
