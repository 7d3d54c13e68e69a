package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/linediff"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// showDiff shows the diff of a file that a command would write. The masker may be nil.
func showDiff(screen *tty.Screen, path string, before, after []byte, masker *secret.Masker) {
	for line := range strings.Lines(masker.Mask(linediff.Unified(path, before, after))) {
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
		fmt.Fprintln(screen.Writer, screen.Paint(style, line))
	}
}

// confirm asks a person to confirm what was shown; Enter does. Without a terminal, --yes is needed.
func confirm(ctx context.Context, screen *tty.Screen, yes bool, question string) error {
	return confirmOr(ctx, screen, yes, question, true)
}

// confirmOr is confirm for questions where Enter may mean no.
func confirmOr(ctx context.Context, screen *tty.Screen, yes bool, question string, enter bool) error {
	if yes {
		return nil
	}
	agreed, err := screen.Confirm(ctx, question, enter)
	switch {
	case errors.Is(err, tty.ErrNobody):
		return &toolbox.Error{
			Code:    toolbox.AnswerNeeded,
			Message: "Nothing was changed: this is not a terminal, so nobody can be asked",
			Hint:    "Add --yes to confirm the change, or --dry-run to only see it.",
		}
	case err != nil:
		return err
	case !agreed:
		return &toolbox.Error{Code: toolbox.Declined, Message: "Nothing was changed"}
	}
	return nil
}
