package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/daemon"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// newDaemon is for this program alone, which starts it when a client is the first to share
// a workbench.
func newDaemon(g *globals) *cobra.Command {
	var folder, project, user string
	cmd := &cobra.Command{
		Use:    "daemon",
		Short:  "Serve the clients that share a workbench (started by --shared)",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if project != "" {
				g.places = []config.Place{{Path: project, Origin: config.Local}}
				if user != "" {
					g.places = append(g.places, config.Place{Path: user, Origin: config.User})
				}
			}
			key, err := daemon.ReadKey(os.Stdin)
			if err == nil {
				err = runDaemon(cmd.Context(), *g, key, folder, os.Stdout)
			}
			if err != nil {
				fmt.Fprintln(os.Stdout, tty.Describe(err)) // who started it tells people
			}
			return err
		},
	}
	cmd.Flags().StringVar(&folder, "folder", "", "where servers run that no client names a folder for")
	cmd.Flags().StringVar(&g.toolbox, "toolbox", "", "serve this toolbox only (default: all)")
	cmd.Flags().StringVar(&project, "project", "", "the configuration that was found in a working folder, and has to be trusted")
	cmd.Flags().StringVar(&user, "user", "", "the user's own configuration, below that of --project; it need not exist")
	return cmd
}

// errOther says that this program is not the one that was looked for.
var errOther = errors.New("the program was replaced by another version; start the client again to use it")

// runDaemon serves all clients that look for that key. When it listens, it says so on its
// output and closes it.
func runDaemon(ctx context.Context, g globals, key, folder string, output io.WriteCloser) error {
	build, err := daemon.ThisBuild()
	if err != nil {
		return err
	}
	s, err := g.newService(io.Discard)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.isFor(build, key); err != nil {
		return err
	}
	log, err := daemon.OpenLog(daemon.LogPath(config.StateDir(), key))
	if err != nil {
		return fmt.Errorf("its log cannot be written: %w", err)
	}
	defer func() { _ = log.Close() }()
	s.stderr, s.folder, s.idle = log, folder, config.DefaultIdle
	if g.logLevel == "" && s.config.LogLevel == "" {
		g.logLevel = "info" // nobody sees it who did not ask
	}
	if s.log, err = g.logger(s.config, log); err != nil {
		return err
	}
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if err != nil {
		return err
	}
	newIdle := make(chan time.Duration, 1)
	s.reloaded = func(cfg *config.Config) {
		select {
		case <-newIdle: // that nobody took yet
		default:
		}
		newIdle <- cfg.Shared.Idle
	}
	return s.run(ctx, control.Shared, func(ctx context.Context, workbench *app.App) error {
		listener, err := dir.Listen(daemon.SocketName(key))
		if err != nil {
			return err
		}
		if err := errors.Join(daemon.Ready(output), output.Close()); err != nil {
			s.log.Debug("who started this workbench is gone", "reason", err)
		}
		workbench.Prefetch()
		return daemon.Serve(ctx, daemon.ServeOptions{
			Listener: listener, Key: key, Version: Version, Idle: s.config.Shared.Idle, NewIdle: newIdle, Log: s.log,
			Session: func(ctx context.Context, conn io.ReadWriteCloser, hello *daemon.Hello, known front.Pipe) error {
				if hello.Terminal != nil {
					s.catchUp(ctx)
				}
				environment, forget := workbench.Environment(hello.Environ)
				defer forget()
				known.Environment = environment
				return workbench.ServeBridged(ctx, conn, known)
			},
			Reload: func() { leave(s.hangUps, syscall.SIGHUP) },
		})
	})
}

// isFor returns why this is not the workbench that clients with a key look for; nil if it is.
func (s *service) isFor(build daemon.Build, key string) error {
	if s.untrusted != nil {
		return errors.New(s.untrusted.notice())
	}
	if len(s.broken) > 0 {
		return errors.Join(s.broken...)
	}
	own, _, err := s.globals.identify(build, s.config)
	if err == nil && key != own {
		err = errOther
	}
	return err
}
