package console

import (
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// maxFaults is the number of faulty servers named in a warning.
const maxFaults = 5

// warnOfFaults warns about servers with an invalid definition, except the one that is needed: its fault becomes an
// error later.
func (c *Console) warnOfFaults(needed place) {
	found := 0
	for _, box := range c.Config.Toolboxes {
		for i := range box.Servers {
			server := &box.Servers[i]
			if server.Fault == nil || server.Disabled || box.Name == needed.Toolbox && server.Name == needed.Server {
				continue
			}
			if found++; found <= maxFaults {
				fmt.Fprintln(c.Err, tty.CleanLine(fmt.Sprintf("warning: server '%s' (toolbox '%s') cannot connect: %s", server.Name, box.Name, server.Fault.OneLine())))
			}
		}
	}
	if found > maxFaults {
		fmt.Fprintf(c.Err, "warning: and %d more servers; to see what is wrong, run: mcp-workbench validate\n", found-maxFaults)
	}
}
