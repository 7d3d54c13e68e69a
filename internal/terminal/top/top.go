// Package top is the screen of top: panes with the servers, calls, tools, clients and questions of the running workbenches,
// and the log of a server, as they change. A person moves, sorts and filters, restarts servers, cancels calls and answers
// questions there.
package top

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Options say what is shown.
type Options struct {
	Version string        // of this program; workbenches of others are marked
	Tools   bool          // begin with the tools
	Every   time.Duration // between two drawings of what changed by itself
}

// Running turns a way to find workbenches into a Finder.
func Running(find func(context.Context) ([]*control.Client, error)) Finder {
	return func(ctx context.Context) ([]Workbench, error) {
		found, err := find(ctx)
		all := make([]Workbench, len(found))
		for i, one := range found {
			all[i] = Workbench{
				Status: one.Status, Watch: one.Watch, Refresh: one.Refresh, Waiting: one.Questions, Restart: one.Restart, Cancel: one.Cancel,
				Detail: one.Server, Logs: one.Logs, Answer: one.Answer,
			}
		}
		return all, err
	}
}

// Run shows the running workbenches until a person quits. It works on the controlling terminal: without one nothing can
// be answered, since a program might be at the keyboard. The terminal is restored, however it ends.
func Run(ctx context.Context, screen *tty.Screen, find Finder, options Options) error {
	in, out := os.Stdin, os.Stdout
	controlling, err := tty.OpenControlling(os.Getenv)
	if err == nil {
		defer controlling.Close()
		in, out = controlling.Files()
	}
	m := newModel(screen, options)
	m.isPerson = err == nil
	return m.run(ctx, find, in, out)
}

func (m *model) run(ctx context.Context, find Finder, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Signals end the context; the handler of the library would exit with an error.
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	f := &feed{find: find, send: program.Send, watched: make(map[int]bool)}
	m.send, m.ctx = program.Send, ctx
	var feeding sync.WaitGroup
	feeding.Go(func() { f.run(ctx) })
	_, err := program.Run()
	cancel()
	feeding.Wait()
	m.tasks.Wait()
	if errors.Is(err, context.Canceled) && !errors.Is(err, tea.ErrProgramPanic) {
		return nil // a signal: the usual end, too
	}
	return err
}
