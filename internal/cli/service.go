package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/control"
	"github.com/mcp-workbench/mcp-workbench/internal/runtimedir"
)

// service is a workbench that serves clients, however they are connected: its
// configuration is followed as long as it runs.
type service struct {
	globals   globals
	config    *config.Config
	untrusted *untrusted // not nil: why nothing of the configuration is used
	broken    error      // not nil: the same, since the file cannot be read as a configuration
	log       *slog.Logger
	stderr    io.Writer
	folder    string                    // where servers run for which nobody names a folder; "": ours
	hangUps   chan os.Signal            // orders to reload; see watchHangUps
	reloaded  func(*config.Config)      // is told of each configuration that takes the place of another; may be nil
	mended    func(*config.Config) bool // see reloader; may be nil
	close     func()                    // must be called
}

func (g globals) newService(stderr io.Writer) (*service, error) {
	s := &service{globals: g, stderr: stderr}
	s.hangUps, s.close = watchHangUps() // first of all: until then a hang-up ends the program
	err := s.load()
	if err == nil {
		s.log, err = g.logger(s.config, stderr)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// load reads the configuration. One that cannot be used is no error: clients can be told.
func (s *service) load() (err error) {
	s.broken = nil
	if s.config, s.untrusted, err = s.globals.loadTrusted(); err == nil {
		return nil
	}
	if _, ok := errors.AsType[*config.Error](err); !ok {
		return err
	}
	s.config, s.broken = config.Empty(), err
	s.config.Path, _, err = config.Find(s.globals.configPath, os.Getenv)
	return err
}

// isUsable reports whether anything of the configuration may and can be used.
func (s *service) isUsable() bool { return s.broken == nil && s.untrusted == nil }

// wrong returns all that is wrong with the configuration, for those who serve nothing then.
func (s *service) wrong() error {
	if s.broken != nil {
		return s.broken
	}
	_, err := config.Strict(s.config, nil)
	return err
}

// tellWrong writes all that is wrong with the configuration, and what becomes of it. It does
// not go through the log, which has a level, and would escape commands and positions.
func (s *service) tellWrong() (withheld string) {
	switch {
	case s.untrusted != nil:
		withheld = s.untrusted.notice()
		fmt.Fprintln(s.stderr, "mcp-workbench: "+withheld)
	case s.broken != nil:
		withheld = brokenNotice(s.broken)
		fmt.Fprintf(s.stderr, "%s\nmcp-workbench: clients are told so until the file is mended\n", describe(s.broken))
	default:
		tellFaults(s.stderr, s.config)
	}
	return withheld
}

// tellFaults writes what is wrong inside servers.
func tellFaults(stderr io.Writer, cfg *config.Config) {
	faults := cfg.Faults()
	for _, fault := range faults {
		fmt.Fprintln(stderr, describe(fault))
	}
	if len(faults) > 0 {
		fmt.Fprintln(stderr, "mcp-workbench: servers with problems in their definition cannot connect; everything else works")
	}
}

// brokenNotice is for clients, which may cut it after 512 characters: what is wrong comes
// early.
func brokenNotice(err error) string {
	text := err.Error()
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		text = wrong.Brief()
	}
	return "The configuration of the workbench cannot be used, so that no toolbox is available. " +
		"The user has to mend it; it is then used at once, without a restart:\n\n" + text
}

// run puts the workbench together, serves with it, and takes it apart again. Kind is whom it
// serves, as commands show it.
func (s *service) run(ctx context.Context, kind string, serve func(context.Context, *app.App) error) error {
	withheld := s.tellWrong()
	logWarnings(s.log, s.config)
	workbench, err := app.New(app.Options{
		Config: s.config, Version: Version, StateDir: stateDir(), Log: s.log, Toolbox: s.globals.toolbox, Withheld: withheld,
		Folder: s.folder,
	})
	if err != nil {
		return err
	}
	serving, done := context.WithCancel(ctx)
	var aside sync.WaitGroup
	aside.Go(func() { s.answerCommands(serving, app.Inspector{App: workbench, Serving: kind, Stop: done}) })
	aside.Go(func() {
		r := reloader{
			globals: s.globals, workbench: workbench, current: s.config, untrusted: s.untrusted, broken: s.broken,
			hangUps: s.hangUps, reloaded: s.reloaded, mended: s.mended, log: s.log, stderr: s.stderr,
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
	dir, err := runtimedir.Open(os.Getenv, stateDir())
	if err == nil {
		err = control.Serve(ctx, dir, subject)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Info("commands cannot look into this workbench", "reason", err)
	}
}
