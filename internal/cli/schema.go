package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration file",
		Long:  "Print the JSON Schema of the configuration file, for editors that complete and check it.",
		Example: `  mcp-workbench schema > workbench.schema.json
  # in a configuration: "$schema": "./workbench.schema.json"`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(config.Schema())
			return err
		},
	}
}
