package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/daemon"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// errOther is the error if this program is another build than the client needs.
var errOther = errors.New("the program was replaced by another version; start the client again to use it")

// RunDaemon serves all clients of the key. Once it listens, it reports that on its output and closes it. folder is the
// working folder of servers without one.
func RunDaemon(ctx context.Context, options Options, key, folder string, output io.WriteCloser) error {
	build, err := daemon.ThisBuild()
	if err != nil {
		return err
	}
	options.Stderr = io.Discard
	s, err := New(options)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.checkKey(build, key); err != nil {
		return err
	}
	log, err := daemon.OpenLog(daemon.LogPath(config.StateDir(), key))
	if err != nil {
		return fmt.Errorf("its log cannot be written: %w", err)
	}
	defer func() { _ = log.Close() }()
	s.stderr, s.folder, s.Idle = log, folder, config.DefaultIdle
	level := options.LogLevel
	if level == "" && s.Config.LogLevel == "" {
		level = "info" // the log is a file that disturbs nobody
	}
	if err = s.openLog(level, log); err != nil {
		return err
	}
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if err != nil {
		return err
	}
	lineage, err := s.options.lineage(s.Config)
	if err != nil {
		return err
	}
	newIdle := s.watchIdle()
	return s.Run(ctx, control.Shared, func(ctx context.Context, workbench *app.App) error {
		listener, err := dir.Listen(daemon.SocketName(key))
		if err != nil {
			return err
		}
		if err := errors.Join(daemon.ReportReady(output), output.Close()); err != nil {
			s.log.Debug("the process that started this workbench is gone", "reason", err)
		}
		workbench.Prefetch()
		return daemon.Serve(ctx, daemon.ServeOptions{
			Listener: listener, Key: key, Lineage: lineage, Version: options.Version, Idle: s.Config.Shared.Idle, NewIdle: newIdle, Log: s.log,
			Session: func(ctx context.Context, conn io.ReadWriteCloser, hello *daemon.Hello, known front.StdioOptions) error {
				if hello.Terminal != nil {
					s.catchUp(ctx)
				}
				environment, forget := workbench.Environment(hello.Environ)
				defer forget()
				known.Environment = environment
				return workbench.ServeBridged(ctx, conn, known)
			},
			Reload: func() { offerSignal(s.hangUps, syscall.SIGHUP) },
		})
	})
}

// watchIdle returns a channel that gets sharedIdle after each reload.
func (s *Service) watchIdle() <-chan time.Duration {
	changes := make(chan time.Duration, 1)
	s.reloaded = func(cfg *config.Config) {
		select {
		case <-changes: // not received yet
		default:
		}
		changes <- cfg.Shared.Idle
	}
	return changes
}

// checkKey returns an error if this is not the workbench of the key.
func (s *Service) checkKey(build daemon.Build, key string) error {
	if s.Untrusted != nil {
		return errors.New(s.Untrusted.Notice())
	}
	if len(s.Broken) > 0 {
		return errors.Join(s.Broken...)
	}
	own, _, err := s.options.identify(build, s.Config)
	if err == nil && key != own {
		err = errOther
	}
	return err
}
