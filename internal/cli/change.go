package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
)

// change is a file of the user's that a command would write.
type change struct {
	path   string
	before []byte // nil if the file is not there
	after  []byte
	mode   fs.FileMode    // of a file that is new
	masker *secret.Masker // hides what must not be shown of it
}

func (c *change) isNone() bool { return string(c.before) == string(c.after) }

// show writes the difference.
func (c *change) show(screen *tty.Screen) {
	for line := range strings.Lines(c.masker.Mask(jsonc.Diff(c.path, c.before, c.after))) {
		line = tty.Clean(strings.TrimSuffix(line, "\n"))
		style := tty.Plain
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			style = tty.Strong
		case strings.HasPrefix(line, "+"):
			style = tty.Good
		case strings.HasPrefix(line, "-"):
			style = tty.Bad
		case strings.HasPrefix(line, "@@"):
			style = tty.Faint
		}
		fmt.Fprintln(screen, screen.Paint(style, line))
	}
}

// write makes the change, unless the file is no longer what was shown.
func (c *change) write() error {
	err := safefile.Edit(c.path, ".mcp-workbench-*", c.before, c.after, c.mode)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, safefile.ErrChanged):
		return &toolbox.Error{
			Code:    toolbox.FileChanged,
			Message: c.path + " was changed by another program meanwhile, and was not written",
			Hint:    "Run the command again.",
			Cause:   err,
		}
	}
	return &toolbox.Error{
		Code:    toolbox.FileNotWritten,
		Message: fmt.Sprintf("%s was not written: %v", c.path, err),
		Hint:    "Check that the folder exists, is yours, and has room.",
		Cause:   err,
	}
}

// agree asks a person for leave to do what was shown. Without one, --yes has to say so.
func agree(ctx context.Context, screen *tty.Screen, yes bool, question string) error {
	if yes {
		return nil
	}
	agreed, err := screen.Confirm(ctx, question, true)
	switch {
	case errors.Is(err, tty.ErrNobody):
		return &toolbox.Error{
			Code:    toolbox.AnswerNeeded,
			Message: "Nothing was changed: this is no terminal, and nobody can be asked",
			Hint:    "Add --yes to agree to the change, or --dry-run to only see it.",
		}
	case err != nil:
		return err
	case !agreed:
		return &toolbox.Error{Code: toolbox.Declined, Message: "Nothing was changed"}
	}
	return nil
}
