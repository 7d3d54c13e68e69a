package service

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
	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// reloader reloads the configuration on SIGHUP, when a file changes, and when an untrusted file becomes trusted.
type reloader struct {
	loader    loader.Loader
	workbench *app.App
	current   *loader.Loaded                 // the configuration in use
	used      *atomic.Pointer[loader.Loaded] // the same, for other goroutines
	hangUps   <-chan os.Signal               // requests to reload; see watchHangUps
	reloaded  func(*config.Config)           // see service
	log       *slog.Logger
	stderr    io.Writer

	// mended is called when an unusable configuration becomes usable. It returns true if another
	// workbench takes over. It may be nil.
	mended func(next *config.Config) bool

	checks   <-chan chan<- struct{} // requests to check the files now; closed when done
	watching sync.WaitGroup
	awaiting bool          // the trust record is watched
	records  chan struct{} // holds a token when the trust record may have changed
}

// watchHangUps makes SIGHUP reload the configuration, except for a program that was started from a
// terminal, which SIGHUP ends.
func watchHangUps() (hangUps chan os.Signal, stop func()) {
	orders := make(chan os.Signal, 1)
	if !OnTerminal() {
		signal.Notify(orders, syscall.SIGHUP)
	}
	return orders, func() { signal.Stop(orders) }
}

// run reloads until ctx ends.
func (r *reloader) run(ctx context.Context) {
	began, changes := make(chan struct{}, 1), make(chan struct{}, 1)
	r.records = make(chan struct{}, 1)
	defer r.watching.Wait()
	r.watch(ctx, signalTo(began), signalTo(changes))
	r.awaitTrust(ctx, r.current.Doubted)
	for {
		select {
		case <-r.hangUps:
			r.reload(ctx)
		case <-began:
			// The file may have changed after it was read and before it was watched.
			if next, err := r.loader.Load(r.current); err != nil || !next.IsSame(r.current) {
				r.reload(ctx)
			}
		case done := <-r.checks:
			if next, err := r.loader.Load(r.current); err != nil || !next.IsSame(r.current) {
				r.reload(ctx)
			}
			close(done)
		case <-changes:
			if next, err := r.loader.Load(r.current); err != nil || r.current.IsUsable() || !next.IsSame(r.current) {
				r.reload(ctx)
			}
		case <-r.records:
			if next, err := r.loader.Load(r.current); err != nil || next.Doubted == nil {
				r.reload(ctx)
			}
		case <-ctx.Done():
			return
		}
	}
}

// watch watches all places where a file is or may appear.
func (r *reloader) watch(ctx context.Context, began, changed func()) {
	places, err := r.loader.Candidates()
	if err != nil {
		r.log.Warn("the configuration is not watched; send SIGHUP to reload it", "reason", err)
	}
	for _, place := range places {
		isThere := slices.Contains(r.current.Places, place)
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

// canWatchFolders reports whether watching a folder for a missing file is cheap. Other systems open every file in the
// folder.
const canWatchFolders = runtime.GOOS == "linux" || runtime.GOOS == "windows"

// signalTo returns a function that puts a token into the channel unless it holds one.
func signalTo(tokens chan<- struct{}) func() {
	return func() {
		select {
		case tokens <- struct{}{}:
		default:
		}
	}
}

// awaitTrust watches the trust record of a file. For nil it does nothing.
func (r *reloader) awaitTrust(ctx context.Context, u *loader.Untrusted) {
	if u == nil || r.awaiting {
		return
	}
	r.awaiting = true
	r.watching.Go(func() {
		record, err := trust.NewStore(config.StateDir()).Await(u.Path())
		if err == nil {
			// The user may have trusted it already.
			err = config.Watch(ctx, record, signalTo(r.records), signalTo(r.records))
		}
		if err != nil {
			r.log.Warn("the trust record is not watched; send SIGHUP after trusting the configuration", "reason", err)
		}
	})
}

// reload does everything that can fail first, and changes nothing on failure. A broken file stays in use as it was. If
// nothing is in use, clients receive the reason.
func (r *reloader) reload(ctx context.Context) {
	next, err := r.loader.Load(r.current)
	if err != nil {
		r.reportFailure(err)
		return
	}
	r.awaitTrust(ctx, next.Doubted)
	for _, err := range next.Kept {
		r.reportFailure(err)
	}
	switch {
	case next.UsesSame(r.current):
		r.current = next
		r.used.Store(next)
		r.workbench.ReviewHints()
		if len(next.Kept) == 0 {
			r.workbench.FilesApplied()
		}
		switch {
		case !next.IsUsable():
			r.writeProblems()
		case len(next.Kept) == 0:
			r.log.Info("the configuration did not change")
		}
		return
	case !r.current.IsUsable() && next.IsUsable() && r.mended != nil && r.mended(next.Config):
		return
	}
	r.used.Store(next) // the workbench reads the files for other environments, too
	if err := r.workbench.Reload(next.Config, next.Notice()); err != nil {
		r.used.Store(r.current)
		r.reportFailure(err)
		return
	}
	r.current = next
	if r.reloaded != nil {
		r.reloaded(next.Config)
	}
	logWarnings(r.log, next.Config)
	r.writeProblems()
	if next.IsEmpty() {
		return
	}
	r.log.Info("the configuration was reloaded", "file", next.Config.Path, "contents", loader.Summary(next.Config))
}

// writeProblems writes the problems of the configuration in use.
func (r *reloader) writeProblems() {
	r.current.WriteProblems(r.stderr)
	if r.current.IsEmpty() {
		r.log.Error("the configuration still cannot be used")
	}
}

// reportFailure logs why the configuration, or a file of it, was not reloaded.
func (r *reloader) reportFailure(err error) {
	r.workbench.ReloadFailed(err)
	if !r.current.IsEmpty() {
		r.log.Error("the configuration was not reloaded; the previous one stays in use")
		fmt.Fprintln(r.stderr, tty.Describe(err))
		return
	}
	r.workbench.Withhold(loader.BrokenNotice(err, false))
	r.log.Error("the configuration still cannot be used")
	fmt.Fprintln(r.stderr, tty.Describe(err))
}

func logWarnings(log *slog.Logger, cfg *config.Config) {
	for _, warning := range cfg.Warnings {
		log.Warn("configuration: " + warning.String())
	}
}

// OnTerminal reports whether a person at a terminal started the program.
func OnTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) || term.IsTerminal(int(os.Stderr.Fd()))
}
