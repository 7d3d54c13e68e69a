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
	"github.com/mcp-workbench/mcp-workbench/internal/trust"
)

// reloader reads the configuration again when it is told to, when the file changed, or when
// a file that was not trusted is.
type reloader struct {
	globals   globals
	workbench *app.App
	current   *config.Config       // in use
	untrusted *untrusted           // not nil: why current is empty
	broken    error                // the same: why the file cannot be used
	hangUps   <-chan os.Signal     // orders to reload; see watchHangUps
	reloaded  func(*config.Config) // see service
	log       *slog.Logger
	stderr    io.Writer

	// mended is told, if it is not nil, that a file that could not be used can be. It reports
	// whether the workbench is not to go on with it, since another one does.
	mended func(next *config.Config) bool

	watching sync.WaitGroup
	awaiting bool          // the record of trust is watched
	records  chan struct{} // holds a token when it may have changed
}

// watchHangUps takes hang-ups as orders to reload from now on, but not for a program that
// was started from a terminal: there they end it, see Main.
func watchHangUps() (hangUps chan os.Signal, stop func()) {
	orders := make(chan os.Signal, 1)
	if !onTerminal() {
		signal.Notify(orders, syscall.SIGHUP)
	}
	return orders, func() { signal.Stop(orders) }
}

// run reloads until ctx ends.
func (r *reloader) run(ctx context.Context) {
	began, changes := make(chan struct{}, 1), make(chan struct{}, 1)
	r.records = make(chan struct{}, 1)
	defer r.watching.Wait()
	if path := r.current.Path; path != "" {
		r.watching.Go(func() {
			if err := config.Watch(ctx, path, tell(began), tell(changes)); err != nil {
				r.log.Warn(err.Error() + "; send SIGHUP to reload it")
			}
		})
	}
	if r.untrusted != nil {
		r.awaitTrust(ctx, r.untrusted)
	}
	for {
		select {
		case <-r.hangUps:
			r.reload(ctx)
		case <-began:
			// The file may have changed after it was read and before it was watched.
			if next, _, err := r.globals.loadTrusted(); !r.isSame(next, err) {
				r.reload(ctx)
			}
		case <-changes:
			if next, _, err := r.globals.loadTrusted(); r.broken == nil || !r.isSame(next, err) {
				r.reload(ctx)
			}
		case <-r.records:
			if _, untrusted, _ := r.globals.loadTrusted(); untrusted == nil { // an error is reload's to report
				r.reload(ctx)
			}
		case <-ctx.Done():
			return
		}
	}
}

// isSame reports whether the configuration was read with the same result before.
func (r *reloader) isSame(next *config.Config, err error) bool {
	if err != nil || r.broken != nil {
		return err != nil && r.broken != nil && err.Error() == r.broken.Error()
	}
	return reflect.DeepEqual(next, r.current)
}

// tell returns a function that leaves a token, if there is none yet.
func tell(tokens chan<- struct{}) func() {
	return func() {
		select {
		case tokens <- struct{}{}:
		default:
		}
	}
}

// awaitTrust watches from now on whether its user trusts the file.
func (r *reloader) awaitTrust(ctx context.Context, u *untrusted) {
	if r.awaiting {
		return
	}
	r.awaiting = true
	r.watching.Go(func() {
		record, err := trust.NewStore(stateDir()).Await(u.source.Path)
		if err == nil {
			// Its user may have been faster than we.
			err = config.Watch(ctx, record, tell(r.records), tell(r.records))
		}
		if err != nil {
			r.log.Warn("that the configuration is trusted will not be noticed; send SIGHUP then", "reason", err)
		}
	})
}

// reload does all that can fail first, and changes nothing if it does. Where nothing is in
// use, clients are told why.
func (r *reloader) reload(ctx context.Context) {
	next, untrusted, err := r.globals.loadTrusted()
	if err == nil && untrusted != nil {
		err = errors.New(untrusted.notice())
		r.awaitTrust(ctx, untrusted)
	}
	isMended := err == nil && (r.broken != nil || r.untrusted != nil)
	switch {
	case err != nil:
	case isMended && r.mended != nil && r.mended(next):
		return
	case !isMended && reflect.DeepEqual(next, r.current):
		r.log.Info("the configuration is the same as before")
		return
	default:
		err = r.workbench.Reload(next)
	}
	if err != nil {
		r.failed(untrusted, err)
		return
	}
	r.current, r.untrusted, r.broken = next, nil, nil
	if r.reloaded != nil {
		r.reloaded(next)
	}
	logWarnings(r.log, next)
	tellFaults(r.stderr, next)
	r.log.Info("the configuration was reloaded", "file", next.Path, "contents", summary(next))
}

// failed says why the configuration was not reloaded.
func (r *reloader) failed(untrusted *untrusted, err error) {
	if r.broken == nil && r.untrusted == nil {
		r.log.Error("the configuration was not reloaded; the one before stays in use")
		fmt.Fprintln(r.stderr, describe(err))
		return
	}
	notice := brokenNotice(err)
	r.untrusted, r.broken = untrusted, err
	if untrusted != nil {
		notice, r.broken = untrusted.notice(), nil
	}
	r.workbench.Withhold(notice)
	r.log.Error("the configuration still cannot be used")
	fmt.Fprintln(r.stderr, describe(err))
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
