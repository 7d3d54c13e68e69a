package doctor

import (
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// Titles are the lines of the servers. Where lines cannot be updated they are written at the end, in
// the order of the configuration.
type Titles struct {
	screen *tty.Screen
	live   *tty.Live // nil where lines cannot be updated
	names  int
	quiet  bool
}

// NewTitles starts the lines; quiet shows nothing.
func NewTitles(screen *tty.Screen, patients []Patient, quiet bool) *Titles {
	t := &Titles{screen: screen, quiet: quiet}
	for i := range patients {
		t.names = max(t.names, len(tty.CleanLine(patients[i].Name())))
	}
	if quiet {
		return t
	}
	fmt.Fprintln(screen)
	if screen.IsTerminal() {
		t.live = screen.Live(len(patients))
	}
	return t
}

// Show updates the line of a server.
func (t *Titles) Show(i int, server Server, done bool) {
	if t.live == nil {
		return
	}
	title := Title(t.screen, server, done, t.names)
	if done {
		t.live.Line(i).Done(title)
	} else {
		t.live.Line(i).Show(title)
	}
}

// Finish writes the lines that could not be updated.
func (t *Titles) Finish(servers []Server) {
	if t.live != nil || t.quiet {
		return
	}
	for _, server := range servers {
		fmt.Fprintln(t.screen, Title(t.screen, server, true, t.names))
	}
}
