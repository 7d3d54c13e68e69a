package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/console"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal"
)

// newConsole is what the commands have in common that use tools.
func (g *globals) newConsole(cmd *cobra.Command) (*console.Console, error) {
	with := *g
	cfg, log, err := with.loadForTerminal(cmd.Context(), cmd.OutOrStdout(), os.Stderr)
	if err != nil {
		return nil, err
	}
	return console.New(console.Options{
		Config: cfg, Version: Version, StateDir: stateDir(), Log: log,
		Out: terminal.New(cmd.OutOrStdout(), nil, os.Getenv),
		Err: terminal.New(cmd.ErrOrStderr(), cmd.InOrStdin(), os.Getenv),
	}), nil
}

// screenOf is where a command shows what it does, and asks.
func screenOf(cmd *cobra.Command) *terminal.Screen {
	return terminal.New(cmd.OutOrStdout(), cmd.InOrStdin(), os.Getenv)
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
