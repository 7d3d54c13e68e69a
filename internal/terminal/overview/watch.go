package overview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// The alternate screen of a terminal keeps the previous content.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	fromTheTop  = "\x1b[H"
	clearBelow  = "\x1b[J"
	clearLine   = "\x1b[K"
)

// Finder returns the running workbenches; an error with the code NotRunning if there is none.
type Finder func(ctx context.Context) ([]*control.Client, error)

// Watch refreshes the list of running workbenches until a person presses q.
func Watch(ctx context.Context, screen *tty.Screen, find Finder, every time.Duration, options Options) error {
	before, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return err
	}
	defer term.Restore(int(os.Stdin.Fd()), before) //nolint:errcheck // nothing else can be done
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
		if err := draw(ctx, screen, find, options); err != nil {
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

// draw draws over the previous page. No running workbench is not an error.
func draw(ctx context.Context, screen *tty.Screen, find Finder, options Options) error {
	found, err := find(ctx)
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
	Show(drawn, seen, options)
	lines := strings.Split(strings.TrimRight(page.String(), "\n"), "\n")
	width, height := screen.Size()
	if len(lines) >= height && height > 1 {
		lines = append(lines[:height-2], screen.Paint(tty.Faint, "…"))
	}
	for i, line := range lines { // a line that breaks would move all others
		lines[i] = tty.CutPainted(line, width)
	}
	fmt.Fprint(screen, fromTheTop+strings.Join(lines, clearLine+"\r\n")+clearLine+"\r\n"+clearBelow)
	return nil
}
