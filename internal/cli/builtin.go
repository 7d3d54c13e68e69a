package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/builtin"
)

func newBuiltin() *cobra.Command {
	long := "Serve one of the built-in MCP servers on stdin and stdout. The workbench starts them itself,\n" +
		"for a server that is configured as {\"builtin\": \"NAME\"}; any MCP client can start them too.\n\n"
	for _, name := range builtin.Names() {
		long += fmt.Sprintf("  %-7s %s\n", name, builtin.Describe(name))
	}
	return &cobra.Command{
		Use:       "builtin NAME [ARGS]",
		Short:     "Serve a built-in MCP server: " + strings.Join(builtin.Names(), ", "),
		Long:      long,
		Example:   `  mcp-workbench builtin files --root docs`,
		ValidArgs: builtin.Names(),
		// The arguments belong to the server: "--root" is not a flag of the workbench.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{err: fmt.Errorf("builtin needs the name of a server: %s", strings.Join(builtin.Names(), ", "))}
			}
			if args[0] == "--help" || args[0] == "-h" {
				return cmd.Help()
			}
			if usage, err := builtin.Check(args[0], args[1:]); err != nil {
				return &usageError{err: err}
			} else if usage != "" {
				fmt.Fprintln(cmd.OutOrStdout(), usage)
				return nil
			}
			if err := needClient(os.Stdin, "builtin "+args[0]+" serves"); err != nil {
				return err
			}
			return builtin.Run(cmd.Context(), args[0], args[1:], builtin.Options{
				Version: Version, Stdin: wire.Pollable(os.Stdin), Stdout: wire.Pollable(os.Stdout),
			})
		},
	}
}
