package cli

import "github.com/spf13/cobra"

func newDisable(g *globals) *cobra.Command {
	return newSwitch(g, "disable", "Disable a server without removing it", "Disabled", func(e *edit, path []string) error {
		return e.Set(path, []byte("true"))
	})
}
