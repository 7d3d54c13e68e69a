package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
)

// clientState is the line of a client in 'connect'.
type clientState struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	File      string   `json:"file"`
	Exists    bool     `json:"exists"`
	Program   string   `json:"program,omitempty"` // of the client, in PATH
	Servers   int      `json:"servers"`
	Connected bool     `json:"connected"`
	Entries   []string `json:"entries"` // the client's names of the workbench
	Retired   string   `json:"retired,omitempty"`
	Problem   string   `json:"problem,omitempty"`
	Connect   string   `json:"connect,omitempty"` // the command that connects it
}

func listClients(out io.Writer, screen *tty.Screen, asJSON bool) error {
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
		return tty.WriteJSON(out, struct {
			Clients []clientState `json:"clients"`
		}{found})
	}
	if len(found) == 0 {
		fmt.Fprintln(screen, "No MCP client was found on this machine.")
	} else {
		showClients(screen, found)
	}
	fmt.Fprintf(screen, "\n%s\n", screen.Wrap("Known, but not found here: "+strings.Join(missing, ", "), 2))
	return nil
}

func newClientState(s clients.FileState) clientState {
	state := clientState{
		ID: s.Client.ID, Title: s.Client.Title, File: s.File, Exists: s.Exists, Program: s.Program, Servers: s.Servers,
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

func showClients(screen *tty.Screen, found []clientState) {
	rows := make([][]tty.Cell, len(found))
	var unconnected []string
	for i, state := range found {
		status := tty.Cell{Text: "not connected"}
		switch {
		case state.Problem != "":
			status = tty.Cell{Text: "unreadable", Style: tty.Bad}
		case state.Connected:
			status = tty.Cell{Text: "connected", Style: tty.Good}
		case state.Retired != "":
			status = tty.Cell{Text: "retired", Style: tty.Faint}
		default:
			unconnected = append(unconnected, state.Connect)
		}
		rows[i] = []tty.Cell{
			{Text: state.ID, Style: tty.Strong},
			status,
			{Text: fmt.Sprint(state.Servers)},
			{Text: shortenHome(state.File), Style: tty.Faint},
		}
	}
	screen.Table([]string{"CLIENT", "WORKBENCH", "OTHER SERVERS", "FILE"}, rows)
	for _, state := range found {
		if state.Problem != "" {
			fmt.Fprintln(os.Stderr, "mcp-workbench: "+tty.CleanLine(state.Problem))
		}
	}
	if len(unconnected) > 0 {
		fmt.Fprintf(screen, "\nTo connect one: %s\n", screen.Paint(tty.Name, unconnected[0]))
	}
	if len(unconnected) > 1 {
		fmt.Fprintf(screen, "To connect all: %s\n", screen.Paint(tty.Name, "mcp-workbench connect --all"))
	}
}
