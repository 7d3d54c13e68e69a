package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal"
	"github.com/mcp-workbench/mcp-workbench/internal/trust"
)

func newList(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the toolboxes and servers of the configuration",
		Long: `List what is configured: toolboxes, servers, what each runs, whether it is enabled, and how
many tools it had when it last ran. Nothing is started. Secrets are hidden.`,
		Example: `  mcp-workbench list
  mcp-workbench list --json | jq '.toolboxes[].servers[].name'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runList(cmd, g, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// listing is what 'list --json' writes.
type listing struct {
	File      string        `json:"file"` // "" for the built-in default
	Toolboxes []listedBox   `json:"toolboxes"`
	rows      []listedPlace // all servers in order
}

type listedBox struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Servers     []*listedServer `json:"servers"`
}

type listedServer struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"` // stdio, http, sse or builtin
	Enabled bool     `json:"enabled"`
	Command []string `json:"command,omitempty"` // with its arguments
	URL     string   `json:"url,omitempty"`
	Builtin string   `json:"builtin,omitempty"`
	Tools   []string `json:"tools"`           // null if they were never seen
	Fault   string   `json:"fault,omitempty"` // what is wrong with its definition
}

type listedPlace struct {
	box    string
	server *listedServer
}

func runList(cmd *cobra.Command, g *globals, asJSON bool) error {
	found, err := g.listing(cmd)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(cmd, found)
	}
	screen := screenOf(cmd)
	found.print(screen)
	return nil
}

// listing reads the configuration as it is written, so that one with mistakes can be
// listed too.
func (g *globals) listing(cmd *cobra.Command) (*listing, error) {
	path, origin, err := config.Find(g.configPath, os.Getenv)
	if err != nil {
		return nil, err
	}
	if origin == config.Nowhere {
		found := listed(outlineOf(config.Default()), func(text string) string { return text })
		found.recall(g.remembered(cmd.Context()))
		return found, nil
	}
	e, err := g.beginEdit(cmd, editFlags{}, false)
	if err != nil {
		return nil, err
	}
	found := listed(e.outline, e.Masker(e.Content()).Mask)
	found.File = path
	found.recall(g.remembered(cmd.Context()))
	cfg, err := config.Load(path, os.Environ())
	if err == nil {
		found.blame(cfg)
	}
	if err != nil || len(cfg.Faults()) > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "The configuration has mistakes; see them with: mcp-workbench validate")
	}
	return found, nil
}

func listed(outline *config.Preview, mask func(string) string) *listing {
	found := &listing{Toolboxes: []listedBox{}}
	for _, box := range outline.Toolboxes {
		entry := listedBox{Name: box.Name, Description: box.Description, Servers: []*listedServer{}}
		for _, server := range (place{toolbox: box.Name}).servers(outline) {
			one := listServer(server, mask)
			entry.Servers = append(entry.Servers, one)
			found.rows = append(found.rows, listedPlace{box.Name, one})
		}
		found.Toolboxes = append(found.Toolboxes, entry)
	}
	return found
}

func listServer(server config.PreviewServer, mask func(string) string) *listedServer {
	one := &listedServer{Name: server.Name, Enabled: !server.Disabled, Builtin: server.Builtin}
	switch {
	case server.Builtin != "":
		one.Kind = "builtin"
	case server.URL != "":
		one.Kind, one.URL = "http", mask(server.URL)
		if server.Transport == "sse" {
			one.Kind = "sse"
		}
	default:
		one.Kind = "stdio"
		for _, word := range append([]string{server.Command}, server.Args...) {
			one.Command = append(one.Command, mask(word))
		}
	}
	return one
}

// recall adds the tools that were seen before.
func (l *listing) recall(known []app.KnownServer) {
	for _, row := range l.rows {
		for _, server := range known {
			if server.Toolbox != row.box || server.Server != row.server.Name {
				continue
			}
			row.server.Tools = []string{}
			for _, tool := range server.Tools {
				row.server.Tools = append(row.server.Tools, tool.Name)
			}
		}
	}
}

// blame adds what is wrong with servers.
func (l *listing) blame(cfg *config.Config) {
	for _, box := range cfg.Toolboxes {
		for i := range box.Servers {
			fault := box.Servers[i].Fault
			if fault == nil {
				continue
			}
			for _, row := range l.rows {
				if row.box == box.Name && row.server.Name == box.Servers[i].Name {
					row.server.Fault = fault.Brief()
				}
			}
		}
	}
}

func (l *listing) print(screen *terminal.Screen) {
	if l.File == "" {
		fmt.Fprintln(screen, "There is no configuration yet; this is the built-in default. To make one: mcp-workbench init")
	} else {
		fmt.Fprintln(screen, terminal.CleanLine(l.File))
	}
	if len(l.Toolboxes) == 0 {
		fmt.Fprintln(screen, "It has no toolboxes. To add a server: mcp-workbench add --help")
	}
	for _, box := range l.Toolboxes {
		title := screen.Paint(terminal.Strong, terminal.CleanLine(box.Name)) + "  " + terminal.CleanLine(box.Description)
		fmt.Fprintln(screen, "\n"+strings.TrimRight(title, " "))
		if len(box.Servers) == 0 {
			fmt.Fprintln(screen, "no servers")
			continue
		}
		rows := make([][]terminal.Cell, len(box.Servers))
		for i, server := range box.Servers {
			rows[i] = server.row()
		}
		screen.Table([]string{"SERVER", "KIND", "STATE", "TOOLS", "RUNS"}, rows)
		for _, server := range box.Servers {
			if server.Fault != "" {
				fmt.Fprintf(screen, "%s %s cannot connect: %s\n", screen.Paint(terminal.Bad, "✗"), terminal.CleanLine(server.Name), terminal.Clean(server.Fault))
			}
		}
	}
}

func (s *listedServer) row() []terminal.Cell {
	state := terminal.Cell{Text: "enabled", Style: terminal.Good}
	switch {
	case !s.Enabled:
		state = terminal.Cell{Text: "disabled", Style: terminal.Faint}
	case s.Fault != "":
		state = terminal.Cell{Text: "faulty", Style: terminal.Bad}
	}
	tools := "?"
	if s.Tools != nil {
		tools = fmt.Sprint(len(s.Tools))
	}
	return []terminal.Cell{
		{Text: s.Name, Style: terminal.Name}, {Text: s.Kind}, state, {Text: tools}, {Text: s.runs()},
	}
}

func (s *listedServer) runs() string {
	switch {
	case len(s.Command) > 0:
		words := make([]string, len(s.Command))
		for i, word := range s.Command {
			words[i] = word
			if !strings.Contains(word, secret.Mask) { // whose brackets need no quotes here
				words[i] = trust.Quote(word)
			}
		}
		return strings.Join(words, " ")
	case s.URL != "":
		return s.URL
	}
	return "built-in " + s.Builtin
}
