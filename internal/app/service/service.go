// Package service runs a workbench for clients: on stdin and stdout, over HTTP, or shared by several clients through a
// daemon. It reloads the configuration while the workbench runs, and answers commands such as ps.
package service

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
	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/journal"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// Options configure a service.
type Options struct {
	Loader   loader.Loader
	Version  string
	LogLevel string // "": as configured
	Toolbox  string // the only toolbox to serve; "": all
	Shared   bool   // use the shared workbench, whatever the configuration says
	Stderr   io.Writer
}

// Service is a workbench that serves clients over any transport and reloads its configuration while it runs.
type Service struct {
	*loader.Loaded               // at the start
	Idle           time.Duration // timeouts.idle of servers that do not configure it; 0: never
	options        Options
	used           *atomic.Pointer[loader.Loaded] // the current one, once Run began
	log            *slog.Logger
	journal        *journal.Journal // its last lines
	stderr         io.Writer
	folder         string                    // working folder of servers without one; "": the current folder
	hangUps        chan os.Signal            // requests to reload; see watchHangUps
	reloaded       func(*config.Config)      // called after each reload; may be nil
	mended         func(*config.Config) bool // see reloader; may be nil
	checks         chan chan<- struct{}      // see reloader
	stopSignals    func()
	subject        control.Subject // what Run serves with
}

// New loads the configuration. Close must be called.
func New(options Options) (*Service, error) {
	s := &Service{options: options, stderr: options.Stderr, used: new(atomic.Pointer[loader.Loaded]), journal: new(journal.Journal), checks: make(chan chan<- struct{})}
	s.hangUps, s.stopSignals = watchHangUps() // first: until then SIGHUP ends the program
	var err error
	if s.Loaded, err = options.Loader.Load(nil); err == nil {
		err = s.openLog(options.LogLevel, s.stderr)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// openLog makes the log. Its last lines are kept for 'logs', those of level info even if they are not written: nobody may
// keep what a client's server writes to stderr.
func (s *Service) openLog(level string, out io.Writer) error {
	log, err := NewLogger(level, s.Config, out)
	if err != nil {
		return err
	}
	s.log = slog.New(tee{log.Handler(), slog.NewTextHandler(lines{s.journal, secret.NewMasker(s.Config.Secrets)}, &slog.HandlerOptions{ReplaceAttr: withoutTime})})
	return nil
}

// Log returns the log of the service.
func (s *Service) Log() *slog.Logger { return s.log }

// Close stops listening for SIGHUP.
func (s *Service) Close() { s.stopSignals() }

// OverHTTP is the transport of a workbench that serves over HTTP.
const OverHTTP = "http"

// Run makes a workbench, serves with it, and stops it. kind is the transport that 'ps' shows.
func (s *Service) Run(ctx context.Context, kind string, serve func(context.Context, *app.App) error) error {
	s.used.Store(s.Loaded)
	s.WriteProblems(s.stderr)
	logWarnings(s.log, s.Config)
	workbench, err := app.New(app.Options{
		Config: s.Config, Version: s.options.Version, StateDir: config.StateDir(), Log: s.log, Toolbox: s.options.Toolbox, Withheld: s.Notice(),
		Reachable: true, Folder: s.folder, Load: s.loadIn, Idle: s.Idle,
	})
	if err != nil {
		return err
	}
	serving, done := context.WithCancel(ctx)
	answering, ended := serving, func() {}
	if kind == OverHTTP { // calls are finished first, for longer than people want to wait for an answer, or for a reload
		answering, ended = context.WithCancel(context.WithoutCancel(ctx))
	}
	var aside sync.WaitGroup
	s.subject = app.Inspector{App: workbench, Serving: kind, Stop: done, Log: s.journal}
	aside.Go(func() { s.answerCommands(answering, s.subject) })
	aside.Go(func() {
		r := reloader{
			loader: s.options.Loader, workbench: workbench, current: s.Loaded, used: s.used,
			hangUps: s.hangUps, checks: s.checks, reloaded: s.reloaded, mended: s.mended, log: s.log, stderr: s.stderr,
		}
		r.run(answering)
	})
	err = serve(serving, workbench)
	done()
	ended()
	aside.Wait()
	if stopErr := workbench.Stop(context.WithoutCancel(ctx)); stopErr != nil {
		// The clients are gone and every remaining process was killed, so this is not a failure.
		s.log.Warn("the workbench did not stop cleanly", "reason", stopErr)
	}
	return err
}

// Subject returns the workbench that Run serves with, for what shows it. Only what Run calls may use it.
func (s *Service) Subject() control.Subject { return s.subject }

// answerCommands lets commands such as ps inspect this workbench. Clients are served even if that fails.
func (s *Service) answerCommands(ctx context.Context, subject control.Subject) {
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if err == nil {
		err = control.Serve(ctx, dir, subject)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Info("commands such as ps cannot inspect this workbench", "reason", err)
	}
}

// loadIn loads the configuration for clients with another environment. A file that is broken or gone by now counts as
// read before. The error covers the files that cannot be used there.
func (s *Service) loadIn(environ []string) (*config.Config, error) {
	with := s.options.Loader
	with.Environ = environ
	there, err := with.Load(s.used.Load())
	if err != nil {
		return nil, err
	}
	err = errors.Join(there.Broken...)
	if there.Untrusted != nil {
		err = errors.Join(err, there.Untrusted.Refusal())
	}
	return there.Config, err
}

// checkTime is the time limit of a check of the files.
const checkTime = 3 * time.Second

// catchUp applies the current files, so that a person who just changed them need not wait for the watcher.
func (s *Service) catchUp(ctx context.Context) {
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
