package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

func newList(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the configured toolboxes and servers",
		Long: `List the configured toolboxes and servers: what each server runs, whether it is enabled, and
how many tools its cached list has. If ./workbench-config.json is on top of your own file,
both are listed. Nothing is started. Secrets are masked.`,
		Example: `  mcp-workbench list
  mcp-workbench list --json | jq '.toolboxes[].servers[].name'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runList(cmd, g, asJSON)
		},
	}
	addJSONFlag(cmd, &asJSON, "write JSON")
	return cmd
}

// listing is the output of 'list --json'.
type listing struct {
	File      string        `json:"file"`            // that the keys at the top are from; "" for the built-in default
	Files     []listedFile  `json:"files,omitempty"` // if there are two: both, in the order of their toolboxes
	Toolboxes []listedBox   `json:"toolboxes"`
	rows      []listedPlace // all servers in order
	files     []listedFile  // all files
}

type listedFile struct {
	Path       string `json:"path"`
	NotTrusted bool   `json:"notTrusted,omitempty"` // nothing of it is used
}

type listedBox struct {
	Name        string          `json:"name"`
	File        string          `json:"file,omitempty"`     // if there are two
	Hidden      bool            `json:"hidden,omitempty"`   // another file has a toolbox of this name
	Disabled    bool            `json:"disabled,omitempty"` // all of its servers are, and clients do not see it
	Description string          `json:"description"`
	Servers     []*listedServer `json:"servers"`
	file        string
}

type listedServer struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"` // stdio, http, sse or builtin
	Enabled bool     `json:"enabled"`
	Command []string `json:"command,omitempty"` // with its arguments
	URL     string   `json:"url,omitempty"`
	Builtin string   `json:"builtin,omitempty"`
	Known   bool     `json:"toolsKnown"` // they are in the cache
	Tools   []string `json:"tools"`
	Fault   string   `json:"fault,omitempty"` // the mistake in its definition
}

type listedPlace struct {
	file, box string
	server    *listedServer
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

// listing reads the configuration as written, so that one with mistakes can be listed, too.
func (g *globals) listing(cmd *cobra.Command) (*listing, error) {
	places, err := g.Find()
	if err != nil {
		return nil, err
	}
	found := &listing{Toolboxes: []listedBox{}}
	if len(places) == 0 {
		found.add("", loader.OutlineOf(config.Default()), func(text string) string { return text })
		found.addCached(g.Cached(cmd.Context()))
		return found, nil
	}
	edits, err := g.readEdits(cmd, editFlags{})
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		found.files = append(found.files, listedFile{Path: e.Path, NotTrusted: e.doubted != nil})
		found.add(e.Path, e.Outline, e.Masker(e.Content()).Mask)
	}
	found.File = places[len(places)-1].Path
	if len(places) > 1 {
		found.Files = found.files
		for i := range found.Toolboxes {
			found.Toolboxes[i].File = found.Toolboxes[i].file
		}
	}
	found.addCached(g.Cached(cmd.Context()))
	files, err := g.ReadAll()
	if err != nil {
		return nil, err
	}
	wrong := false
	for _, file := range files {
		if file.Err == nil {
			found.addFaults(file.Config)
		}
		wrong = wrong || file.Err != nil || len(file.Config.Faults()) > 0
	}
	if wrong {
		command := "mcp-workbench validate"
		if g.ConfigPath != "" {
			command = trust.Quote("mcp-workbench", "validate", g.ConfigPath)
		}
		fmt.Fprintln(tty.New(cmd.ErrOrStderr(), nil, os.Getenv), "The configuration has errors; to see them: "+command)
	}
	return found, nil
}

// add adds the toolboxes of a file. Those with a name already present are not used.
func (l *listing) add(file string, outline *config.Preview, mask func(string) string) {
	for _, box := range outline.Toolboxes {
		entry := listedBox{Name: box.Name, Description: box.Description, file: file, Servers: []*listedServer{}}
		entry.Hidden = slices.ContainsFunc(l.Toolboxes, func(other listedBox) bool { return other.Name == box.Name })
		for _, server := range (configwrite.Entry{Toolbox: box.Name}).Servers(outline) {
			one := listServer(server, mask)
			entry.Servers = append(entry.Servers, one)
			if !entry.Hidden {
				l.rows = append(l.rows, listedPlace{file, box.Name, one})
			}
		}
		entry.Disabled = len(entry.Servers) > 0 && !slices.ContainsFunc(entry.Servers, func(s *listedServer) bool { return s.Enabled })
		l.Toolboxes = append(l.Toolboxes, entry)
	}
}

func listServer(server config.PreviewServer, mask func(string) string) *listedServer {
	one := &listedServer{Name: server.Name, Enabled: !server.Disabled, Builtin: server.Builtin, Tools: []string{}}
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

// addCached adds the cached tool lists.
func (l *listing) addCached(known []app.KnownServer) {
	for _, row := range l.rows {
		for _, server := range known {
			if server.Toolbox != row.box || server.Server != row.server.Name {
				continue
			}
			row.server.Known = true
			for _, tool := range server.Tools {
				row.server.Tools = append(row.server.Tools, tool.Name)
			}
		}
	}
}

// addFaults adds the faults of servers.
func (l *listing) addFaults(cfg *config.Config) {
	for _, box := range cfg.Toolboxes {
		for i := range box.Servers {
			fault := box.Servers[i].Fault
			if fault == nil {
				continue
			}
			for _, row := range l.rows {
				if row.file == box.File && row.box == box.Name && row.server.Name == box.Servers[i].Name {
					row.server.Fault = fault.Brief()
				}
			}
		}
	}
}

func (l *listing) print(screen *tty.Screen) {
	if len(l.files) == 0 {
		fmt.Fprintln(screen, "There is no configuration yet; this is the built-in default. To create one: mcp-workbench init")
		l.printFile(screen, "")
	}
	for i, file := range l.files {
		if i > 0 {
			fmt.Fprintln(screen)
		}
		fmt.Fprintln(screen, tty.CleanLine(file.Path))
		if file.NotTrusted {
			fmt.Fprintln(screen, "It is not trusted, and nothing of it is used. Review it, and then run: "+trust.Quote("mcp-workbench", "trust", file.Path))
		}
		l.printFile(screen, file.Path)
	}
}

func (l *listing) printFile(screen *tty.Screen, file string) {
	boxes := slices.DeleteFunc(slices.Clone(l.Toolboxes), func(box listedBox) bool { return box.file != file })
	if len(boxes) == 0 {
		fmt.Fprintln(screen, "It has no toolboxes. To add a server: mcp-workbench add --help")
	}
	for _, box := range boxes {
		title := screen.Paint(tty.Strong, tty.CleanLine(box.Name)) + "  " + tty.CleanLine(box.Description)
		fmt.Fprintln(screen, "\n"+screen.Wrap(strings.TrimRight(title, " "), 2))
		switch {
		case box.Hidden && l.isTrusted(file):
			fmt.Fprintln(screen, "not used here: the file above has a toolbox of the same name")
		case box.Hidden:
			fmt.Fprintln(screen, "not used here: its file is not trusted")
		case box.Disabled:
			fmt.Fprintln(screen, screen.Wrap("disabled: clients do not see it, since all of its servers are disabled", 2))
		}
		if len(box.Servers) == 0 {
			fmt.Fprintln(screen, "no servers")
			continue
		}
		rows := make([][]tty.Cell, len(box.Servers))
		for i, server := range box.Servers {
			rows[i] = server.row()
		}
		screen.Table([]string{"SERVER", "KIND", "STATE", "TOOLS", "RUNS"}, rows)
		for _, server := range box.Servers {
			if server.Fault != "" {
				fmt.Fprintf(screen, "%s %s cannot connect: %s\n", screen.Paint(tty.Bad, "✗"), tty.CleanLine(server.Name), tty.Clean(server.Fault))
			}
		}
	}
}

func (l *listing) isTrusted(path string) bool {
	return !slices.ContainsFunc(l.files, func(file listedFile) bool { return file.Path == path && file.NotTrusted })
}

func (s *listedServer) row() []tty.Cell {
	state := tty.Cell{Text: "enabled", Style: tty.Good}
	switch {
	case !s.Enabled:
		state = tty.Cell{Text: "disabled", Style: tty.Faint}
	case s.Fault != "":
		state = tty.Cell{Text: "faulty", Style: tty.Bad}
	}
	tools := "?"
	if s.Known {
		tools = fmt.Sprint(len(s.Tools))
	}
	return []tty.Cell{
		{Text: s.Name, Style: tty.Name}, {Text: s.Kind}, state, {Text: tools}, {Text: s.runs()},
	}
}

func (s *listedServer) runs() string {
	switch {
	case len(s.Command) > 0:
		words := make([]string, len(s.Command))
		for i, word := range s.Command {
			words[i] = word
			if !strings.Contains(word, secret.Mask) { // its brackets need no quotes here
				words[i] = trust.Quote(word)
			}
		}
		return strings.Join(words, " ")
	case s.URL != "":
		return s.URL
	}
	return "built-in " + s.Builtin
}
