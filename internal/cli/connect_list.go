package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal"
)

// clientState is what 'connect' lists of a client.
type clientState struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	File      string   `json:"file"`
	Exists    bool     `json:"exists"`
	Servers   int      `json:"servers"`
	Connected bool     `json:"connected"`
	Entries   []string `json:"entries"` // what the client calls the workbench
	Retired   string   `json:"retired,omitempty"`
	Problem   string   `json:"problem,omitempty"`
	Connect   string   `json:"connect,omitempty"` // the command that connects it
}

func listClients(screen *terminal.Screen, asJSON bool) error {
	found := []clientState{}
	there := make(map[*clients.Client]bool)
	for _, standing := range clients.Survey(clients.ThisMachine()) {
		there[standing.Client] = true
		found = append(found, newClientState(standing))
	}
	var missing []string
	for _, client := range clients.All() {
		if !there[client] && client.Retired == "" {
			missing = append(missing, client.ID)
		}
	}
	if asJSON {
		return terminal.WriteJSON(screen, found)
	}
	if len(found) == 0 {
		fmt.Fprintln(screen, "No MCP client was found on this machine.")
	} else {
		showClients(screen, found)
	}
	fmt.Fprintf(screen, "\n%s\n", screen.Wrap("Known, but not found here: "+strings.Join(missing, ", "), 2))
	return nil
}

func newClientState(s clients.Standing) clientState {
	state := clientState{
		ID: s.Client.ID, Title: s.Client.Title, File: s.File, Exists: s.Exists, Servers: s.Servers,
		Connected: len(s.Self) > 0, Entries: append([]string{}, s.Self...), Retired: s.Client.Retired,
	}
	if s.Problem != nil {
		state.Problem, _, _ = strings.Cut(s.Problem.Error(), "\n")
	}
	if !state.Connected && state.Retired == "" {
		state.Connect = "mcp-workbench connect " + s.Client.ID
	}
	return state
}

func showClients(screen *terminal.Screen, found []clientState) {
	rows := make([][]terminal.Cell, len(found))
	example := ""
	for i, state := range found {
		status := terminal.Cell{Text: "not connected"}
		switch {
		case state.Problem != "":
			status = terminal.Cell{Text: "unreadable", Style: terminal.Bad}
		case state.Connected:
			status = terminal.Cell{Text: "connected", Style: terminal.Good}
		case state.Retired != "":
			status = terminal.Cell{Text: "retired", Style: terminal.Faint}
		case example == "":
			example = state.Connect
		}
		rows[i] = []terminal.Cell{
			{Text: state.ID, Style: terminal.Strong},
			status,
			{Text: fmt.Sprint(state.Servers)},
			{Text: short(state.File), Style: terminal.Faint},
		}
	}
	screen.Table([]string{"CLIENT", "WORKBENCH", "OTHER SERVERS", "FILE"}, rows)
	for _, state := range found {
		if state.Problem != "" {
			fmt.Fprintln(os.Stderr, "mcp-workbench: "+terminal.CleanLine(state.Problem))
		}
	}
	if example != "" {
		fmt.Fprintf(screen, "\nTo connect one: %s\n", screen.Paint(terminal.Name, example))
	}
}
