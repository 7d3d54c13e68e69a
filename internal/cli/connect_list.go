package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	machine := clients.ThisMachine()
	found := []clientState{}
	var missing []string
	for _, client := range clients.All() {
		states := statesOf(machine, client)
		found = append(found, states...)
		if len(states) == 0 && client.Retired == "" {
			missing = append(missing, client.ID)
		}
	}
	if asJSON {
		encoder := json.NewEncoder(screen)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(found)
	}
	if len(found) == 0 {
		fmt.Fprintln(screen, "No MCP client was found on this machine.")
	} else {
		showClients(screen, found)
	}
	fmt.Fprintf(screen, "\nKnown, but not found here: %s\n", strings.Join(missing, ", "))
	return nil
}

// statesOf returns a state for each file that the client may use, if the client is there.
func statesOf(machine clients.Machine, client *clients.Client) []clientState {
	var states []clientState
	for _, file := range client.Files(machine) {
		state := clientState{ID: client.ID, Title: client.Title, File: file, Exists: machine.Exists(file), Retired: client.Retired, Entries: []string{}}
		if !state.Exists && (client.Retired != "" || !isInstalled(machine, file)) {
			continue
		}
		sources, err := client.ReadFile(machine, file)
		if err != nil {
			state.Problem, _, _ = strings.Cut(err.Error(), "\n")
		}
		for _, source := range sources {
			state.Servers += len(source.Servers) + len(source.Skipped)
			state.Entries = append(state.Entries, source.Self...)
		}
		state.Connected = len(state.Entries) > 0
		if !state.Connected && client.Retired == "" {
			state.Connect = "mcp-workbench connect " + client.ID
		}
		states = append(states, state)
	}
	return states
}

// isInstalled reports that a client is there: it has its file, or a folder of its own for it.
func isInstalled(machine clients.Machine, file string) bool {
	folder := filepath.Dir(file)
	return machine.Exists(file) || folder != machine.Home() && machine.Exists(folder)
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
