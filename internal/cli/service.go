package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// service is a workbench that serves clients, however they are connected: its
// configuration is followed as long as it runs.
type service struct {
	*setup                          // as it was at the start
	used     *atomic.Pointer[setup] // as it is now, once run began
	globals  globals
	log      *slog.Logger
	stderr   io.Writer
	idle     time.Duration             // timeouts.idle of servers for which the configuration does not say it; 0: never
	folder   string                    // where servers run for which nobody names a folder; "": ours
	hangUps  chan os.Signal            // orders to reload; see watchHangUps
	reloaded func(*config.Config)      // is told of each configuration that takes the place of another; may be nil
	mended   func(*config.Config) bool // see reloader; may be nil
	checks   chan chan<- struct{}      // see reloader
	close    func()                    // must be called
}

func (g globals) newService(stderr io.Writer) (*service, error) {
	s := &service{globals: g, stderr: stderr, used: new(atomic.Pointer[setup]), checks: make(chan chan<- struct{})}
	s.hangUps, s.close = watchHangUps() // first of all: until then a hang-up ends the program
	var err error
	if s.setup, err = g.load(nil); err == nil {
		s.log, err = g.logger(s.config, stderr)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// run puts the workbench together, serves with it, and takes it apart again. Kind is whom it
// serves, as commands show it.
func (s *service) run(ctx context.Context, kind string, serve func(context.Context, *app.App) error) error {
	s.used.Store(s.setup)
	s.tellWrong(s.stderr)
	logWarnings(s.log, s.config)
	workbench, err := app.New(app.Options{
		Config: s.config, Version: Version, StateDir: config.StateDir(), Log: s.log, Toolbox: s.globals.toolbox, Withheld: s.notice(),
		Folder: s.folder, Load: s.loadIn, Idle: s.idle,
	})
	if err != nil {
		return err
	}
	serving, done := context.WithCancel(ctx)
	var aside sync.WaitGroup
	aside.Go(func() { s.answerCommands(serving, app.Inspector{App: workbench, Serving: kind, Stop: done}) })
	aside.Go(func() {
		r := reloader{
			globals: s.globals, workbench: workbench, current: s.setup, used: s.used,
			hangUps: s.hangUps, checks: s.checks, reloaded: s.reloaded, mended: s.mended, log: s.log, stderr: s.stderr,
		}
		r.run(serving)
	})
	err = serve(serving, workbench)
	done()
	aside.Wait()
	if stopErr := workbench.Stop(context.WithoutCancel(ctx)); stopErr != nil {
		// The clients are gone and all that is left was killed: that is no failure of ours.
		s.log.Warn("the end was not clean", "reason", stopErr)
	}
	return err
}

// answerCommands lets commands such as ps look into this workbench. Without that it serves
// its clients all the same.
func (s *service) answerCommands(ctx context.Context, subject control.Subject) {
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if err == nil {
		err = control.Serve(ctx, dir, subject)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Info("commands cannot look into this workbench", "reason", err)
	}
}

// loadIn reads the configuration for clients in another environment. A file that is bad or gone
// since is for them, too, what was read of it before. With an error, it is that of the files that can
// be read there, if any can.
func (s *service) loadIn(environ []string) (*config.Config, error) {
	with := s.globals
	with.environ = environ
	there, err := with.load(s.used.Load())
	if err != nil {
		return nil, err
	}
	err = errors.Join(there.broken...)
	if there.untrusted != nil {
		err = errors.Join(err, there.untrusted.refusal())
	}
	return there.config, err
}

// checkTime is how long a look at the files may take.
const checkTime = 3 * time.Second

// catchUp has the workbench use its files as they are now: a person who just changed them does
// not wait until that is noticed.
func (s *service) catchUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	done := make(chan struct{})
	select {
	case s.checks <- done:
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}
