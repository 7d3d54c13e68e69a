package cli

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// How all commands say what a name may be. See toolbox.Named.
const (
	serverWords = `SERVER is the name of a server, or TOOLBOX/SERVER where several toolboxes have one of
that name.`
	serverOrToolboxWords = `SERVER is the name of a server, or TOOLBOX/SERVER where several toolboxes have one of
that name. TOOLBOX stands for all of its servers.`
	toolWords = `TOOL is the name of a tool, or SERVER/TOOL or TOOLBOX/SERVER/TOOL where several have one of
that name.`
)

// refuseUnreadable refuses a new name that a person could not tell from another one, or type: with line breaks, invisible
// characters or needless spaces.
func refuseUnreadable(what, name string) error {
	if tty.CleanLine(name) == name {
		return nil
	}
	return &usageError{err: fmt.Errorf("%s %q has line breaks, invisible characters or needless spaces; choose another one, such as %q", what, name, tty.CleanLine(name))}
}

// refuseSlash refuses a new name that would read as a reference. Files may have such names, and commands find them, but make none.
func refuseSlash(what, name, hint string) error {
	if !strings.Contains(name, "/") {
		return nil
	}
	return &usageError{err: &toolbox.Error{
		Code:    toolbox.Usage,
		Message: fmt.Sprintf("A %s cannot be called '%s': a slash stands between toolbox and server", what, tty.CleanLine(name)),
		Hint:    tty.CleanLine(hint) + ".",
	}}
}
