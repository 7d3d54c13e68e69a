package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
)

// reloader reads the configuration again when it is told to, or when the file changed.
type reloader struct {
	globals   globals
	workbench *app.App
	current   *config.Config   // in use
	hangUps   <-chan os.Signal // orders to reload; see watchHangUps
	log       *slog.Logger
	stderr    io.Writer
}

// watchHangUps takes hang-ups as orders to reload from now on, but not for a program that
// was started from a terminal: there they end it, see Main.
func watchHangUps() (hangUps <-chan os.Signal, stop func()) {
	orders := make(chan os.Signal, 1)
	if !onTerminal() {
		signal.Notify(orders, syscall.SIGHUP)
	}
	return orders, func() { signal.Stop(orders) }
}

// run reloads until ctx ends.
func (r *reloader) run(ctx context.Context) {
	changes := make(chan struct{}, 1)
	var watching sync.WaitGroup
	defer watching.Wait()
	if path := r.current.Path; path != "" {
		watching.Go(func() {
			err := config.Watch(ctx, path, func() {
				select {
				case changes <- struct{}{}:
				default:
				}
			})
			if err != nil {
				r.log.Warn(err.Error() + "; send SIGHUP to reload it")
			}
		})
	}
	for {
		select {
		case <-r.hangUps:
			r.reload()
		case <-changes:
			r.reload()
		case <-ctx.Done():
			return
		}
	}
}

// reload does all that can fail first, and changes nothing if it does.
func (r *reloader) reload() {
	next, untrusted, err := r.globals.loadTrusted()
	if err == nil && untrusted != nil {
		err = errors.New(untrusted.notice())
	}
	if err == nil {
		if reflect.DeepEqual(next, r.current) {
			r.log.Info("the configuration is the same as before")
			return
		}
		err = r.workbench.Reload(next)
	}
	if err != nil {
		r.log.Error("the configuration was not reloaded; the one before stays in use")
		fmt.Fprintln(r.stderr, describe(err))
		return
	}
	r.current = next
	logWarnings(r.log, next)
	r.log.Info("the configuration was reloaded", "file", next.Path, "contents", summary(next))
}

func logWarnings(log *slog.Logger, cfg *config.Config) {
	for _, warning := range cfg.Warnings {
		log.Warn("configuration: " + warning.String())
	}
}

// onTerminal reports whether a person at a terminal started the program.
func onTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) || term.IsTerminal(int(os.Stderr.Fd()))
}
