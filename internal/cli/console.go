package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/app/service"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/daemon"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/relay"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

// aloneFlag is the --alone flag of the commands that use tools.
type aloneFlag struct{ alone bool }

func (s *aloneFlag) define(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.alone, "alone", false, "start the servers for this command, even if clients share a workbench")
}

// newConsole makes the console of a command that uses tools.
func (g *globals) newConsole(cmd *cobra.Command, how aloneFlag) (*console.Console, error) {
	found, log, err := g.loadForTerminal(cmd.Context(), cmd.OutOrStdout(), os.Stderr)
	if err != nil {
		return nil, err
	}
	var dial console.Dial
	if !how.alone && found.IsUsable() && found.Config.Path != "" {
		if dial, err = g.dialShared(found.Config); err != nil {
			return nil, err
		}
	}
	return console.New(console.Options{
		Config: found.Config, Version: Version, StateDir: config.StateDir(), Log: log, Dial: dial,
		Out: tty.New(cmd.OutOrStdout(), nil, os.Getenv),
		Err: tty.New(cmd.ErrOrStderr(), cmd.InOrStdin(), os.Getenv),
	}), nil
}

// loadForTerminal loads the configuration for a command that shows its result, and asks about an
// untrusted file. Files that are not used are named on stderr.
func (g *globals) loadForTerminal(ctx context.Context, out, stderr io.Writer) (*loader.Loaded, *slog.Logger, error) {
	s, err := g.LoadAsking(ctx, out)
	if err != nil {
		return nil, nil, err
	}
	if s.Untrusted != nil {
		fmt.Fprintln(stderr, tty.Describe(s.Untrusted.Refusal()))
	}
	for _, err := range s.Broken {
		fmt.Fprintln(stderr, tty.Describe(err))
	}
	log, err := service.NewLogger(cmp.Or(g.logLevel, "error"), s.Config, stderr)
	return s, log, err
}

// dialShared connects a command to the shared workbench. It is started if the configuration enables sharing; otherwise
// only a running one is used.
func (g *globals) dialShared(cfg *config.Config) (console.Dial, error) {
	build, err := daemon.ThisBuild()
	if err != nil {
		return nil, err
	}
	folder, _ := os.Getwd() // without one, the first client's is used
	options := g.service(os.Stderr)
	target, _, err := options.SharedTarget(build, cfg, folder)
	if err != nil {
		if !cfg.Shared.On {
			return nil, nil
		}
		return func(context.Context, []toolbox.Ref) (console.Conn, error) { return nil, err }, nil
	}
	var takenOver sync.Once // sessions may be opened at the same time
	return func(ctx context.Context, servers []toolbox.Ref) (console.Conn, error) {
		wanted := &daemon.Terminal{}
		for _, ref := range servers {
			wanted.Servers = append(wanted.Servers, daemon.Place{Toolbox: ref.Toolbox, Server: ref.Server})
		}
		hello := daemon.Hello{Key: target.Key, Version: Version, Folder: folder, Environ: os.Environ(), Terminal: wanted}
		join := func() (relay.Conn, error) { return daemon.Join(ctx, target.Socket(), hello) }
		if cfg.Shared.On {
			join = func() (relay.Conn, error) { return daemon.Connect(ctx, target, hello) }
		}
		conn, err := join()
		isAbsent := err != nil && !cfg.Shared.On && daemon.IsGone(err)
		if err == nil || isAbsent { // there may be one of another build nevertheless
			takenOver.Do(func() { options.TakeOver(ctx, target, cfg) })
		}
		if isAbsent {
			return nil, console.ErrNotShared
		}
		return conn, err
	}, nil
}

// atMostOne refuses more than one argument.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return &usageError{err: fmt.Errorf("%s takes %s, not %d", cmd.Name(), what, len(args))}
		}
		return nil
	}
}

// exactly refuses anything but one argument.
func exactly(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return &usageError{err: fmt.Errorf("%s takes %s", cmd.Name(), what)}
		}
		return nil
	}
}
