//go:build unix

package forms

import (
	"os"
	"os/user"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// ownCommand begins a command line that makes a file private, with what gives it to this user.
func ownCommand(path string) string {
	name := strconv.Itoa(os.Geteuid())
	if known, err := user.LookupId(name); err == nil {
		name = known.Username
	}
	return "chown " + trust.Quote(name) + " " + trust.Quote(path) + " && "
}
