package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// reloader reads the configuration again when it is told to, when the file changed, or when
// a file that was not trusted is.
type reloader struct {
	globals   globals
	workbench *app.App
	current   *setup                 // in use
	used      *atomic.Pointer[setup] // the same, for others
	hangUps   <-chan os.Signal       // orders to reload; see watchHangUps
	reloaded  func(*config.Config)   // see service
	log       *slog.Logger
	stderr    io.Writer

	// mended is told, if it is not nil, that a file that could not be used can be. It reports
	// whether the workbench is not to go on with it, since another one does.
	mended func(next *config.Config) bool

	checks   <-chan chan<- struct{} // orders to look whether the file changed, which are answered then
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
	r.watch(ctx, tell(began), tell(changes))
	r.awaitTrust(ctx, r.current.doubted)
	for {
		select {
		case <-r.hangUps:
			r.reload(ctx)
		case <-began:
			// The file may have changed after it was read and before it was watched.
			if next, err := r.globals.load(r.current); err != nil || !next.isSame(r.current) {
				r.reload(ctx)
			}
		case done := <-r.checks:
			if next, err := r.globals.load(r.current); err != nil || !next.isSame(r.current) {
				r.reload(ctx)
			}
			close(done)
		case <-changes:
			if next, err := r.globals.load(r.current); err != nil || r.current.isUsable() || !next.isSame(r.current) {
				r.reload(ctx)
			}
		case <-r.records:
			if next, err := r.globals.load(r.current); err != nil || next.doubted == nil {
				r.reload(ctx)
			}
		case <-ctx.Done():
			return
		}
	}
}

// watch watches all places where there is a file, or may be one later.
func (r *reloader) watch(ctx context.Context, began, changed func()) {
	places, err := r.globals.candidates()
	if err != nil {
		r.log.Warn("the configuration is not watched; send SIGHUP to reload it", "reason", err)
	}
	for _, place := range places {
		isThere := slices.Contains(r.current.places, place)
		if !isThere && !canWatchFolders {
			continue
		}
		r.watching.Go(func() {
			if err := config.Watch(ctx, place.Path, began, changed); err != nil && isThere {
				r.log.Warn(err.Error() + "; send SIGHUP to reload it")
			}
		})
	}
}

// canWatchFolders tells where it costs nothing to watch a folder for a file that it does not have.
// Elsewhere that opens every file in it.
const canWatchFolders = runtime.GOOS == "linux" || runtime.GOOS == "windows"

// tell returns a function that leaves a token, if there is none yet.
func tell(tokens chan<- struct{}) func() {
	return func() {
		select {
		case tokens <- struct{}{}:
		default:
		}
	}
}

// awaitTrust watches from now on whether its user trusts the file; nil needs no trust.
func (r *reloader) awaitTrust(ctx context.Context, u *untrusted) {
	if u == nil || r.awaiting {
		return
	}
	r.awaiting = true
	r.watching.Go(func() {
		record, err := trust.NewStore(config.StateDir()).Await(u.source.Path)
		if err == nil {
			// Its user may have been faster than we.
			err = config.Watch(ctx, record, tell(r.records), tell(r.records))
		}
		if err != nil {
			r.log.Warn("that the configuration is trusted will not be noticed; send SIGHUP then", "reason", err)
		}
	})
}

// reload does all that can fail first, and changes nothing if it does. What is wrong with one
// file changes nothing of what is in use of it. Where nothing is in use, clients are told why.
func (r *reloader) reload(ctx context.Context) {
	next, err := r.globals.load(r.current)
	if err != nil {
		r.failed(err)
		return
	}
	r.awaitTrust(ctx, next.doubted)
	for _, err := range next.kept {
		r.failed(err)
	}
	switch {
	case next.usesSame(r.current):
		r.current = next
		r.used.Store(next)
		switch {
		case !next.isUsable():
			r.tellWrong()
		case len(next.kept) == 0:
			r.log.Info("the configuration is the same as before")
		}
		return
	case !r.current.isUsable() && next.isUsable() && r.mended != nil && r.mended(next.config):
		return
	}
	r.used.Store(next) // the workbench reads the files for other environments, too
	if err := r.workbench.Reload(next.config, next.notice()); err != nil {
		r.used.Store(r.current)
		r.failed(err)
		return
	}
	r.current = next
	if r.reloaded != nil {
		r.reloaded(next.config)
	}
	logWarnings(r.log, next.config)
	r.tellWrong()
	if next.isEmpty() {
		return
	}
	r.log.Info("the configuration was reloaded", "file", next.config.Path, "contents", summary(next.config))
}

// tellWrong says what is wrong with what is in use now.
func (r *reloader) tellWrong() {
	r.current.tellWrong(r.stderr)
	if r.current.isEmpty() {
		r.log.Error("the configuration still cannot be used")
	}
}

// failed says why the configuration, or a file of it, was not reloaded.
func (r *reloader) failed(err error) {
	if !r.current.isEmpty() {
		r.log.Error("the configuration was not reloaded; the one before stays in use")
		fmt.Fprintln(r.stderr, tty.Describe(err))
		return
	}
	r.workbench.Withhold(brokenNotice(err, false))
	r.log.Error("the configuration still cannot be used")
	fmt.Fprintln(r.stderr, tty.Describe(err))
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
