package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

func newTop() *cobra.Command {
	var which running
	var every time.Duration
	var tools bool
	top := &cobra.Command{
		Use:   "top",
		Short: "Watch the servers of running workbenches",
		Long:  `Show what 'mcp-workbench ps' shows, again and again. q or Ctrl-C ends it.`,
		Example: `  mcp-workbench top
  mcp-workbench top --interval 5s`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			screen := screenOf(cmd)
			if !screen.IsInteractive() {
				return &toolbox.Error{Code: toolbox.NeedsTerminal, Message: "top needs a terminal", Hint: "See: mcp-workbench ps --json"}
			}
			return watchRunning(cmd.Context(), screen, which, max(every, 100*time.Millisecond), tools)
		},
	}
	which.define(top)
	top.Flags().DurationVar(&every, "interval", time.Second, "how often to look")
	top.Flags().BoolVar(&tools, "tools", false, toolsUsage)
	return top
}

// The alternate screen of a terminal leaves what was there before as it was.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	fromTheTop  = "\x1b[H"
	clearBelow  = "\x1b[J"
	clearLine   = "\x1b[K"
)

func watchRunning(ctx context.Context, screen *tty.Screen, which running, every time.Duration, tools bool) error {
	before, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return err
	}
	defer term.Restore(int(os.Stdin.Fd()), before) //nolint:errcheck // there is nothing else to try
	fmt.Fprint(screen, enterScreen)
	defer fmt.Fprint(screen, leaveScreen)
	quit := make(chan struct{})
	go func() { // ends with the program
		defer close(quit)
		key := make([]byte, 1)
		for {
			if n, err := os.Stdin.Read(key); err != nil || n == 1 && strings.ContainsRune("qQ\x03\x1b", rune(key[0])) {
				return
			}
		}
	}()
	again := time.NewTicker(every)
	defer again.Stop()
	for {
		if err := drawRunning(ctx, screen, which, tools); err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-quit:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// drawRunning draws over what was drawn before. Nothing running is not the end of watching.
func drawRunning(ctx context.Context, screen *tty.Screen, which running, tools bool) error {
	found, err := which.find(ctx)
	problem, absent := errors.AsType[*toolbox.Error](err)
	if err != nil && (!absent || problem.Code != toolbox.NotRunning) {
		return err
	}
	var page bytes.Buffer
	drawn := screen.On(&page)
	fmt.Fprintf(drawn, "%s  %s\n\n", time.Now().Format(time.TimeOnly), screen.Paint(tty.Faint, "q ends this"))
	seen := make([]control.Workbench, len(found))
	for i, client := range found {
		seen[i] = client.Status
	}
	if absent {
		fmt.Fprintln(drawn, tty.Clean(problem.Message))
	}
	showRunning(drawn, seen, tools)
	lines := strings.Split(strings.TrimRight(page.String(), "\n"), "\n")
	if _, height := screen.Size(); len(lines) >= height && height > 1 {
		lines = append(lines[:height-2], screen.Paint(tty.Faint, "…"))
	}
	fmt.Fprint(screen, fromTheTop+strings.Join(lines, clearLine+"\r\n")+clearLine+"\r\n"+clearBelow)
	return nil
}
