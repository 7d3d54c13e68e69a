package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// Show prints one tool, server or toolbox.
func (c *Console) Show(ctx context.Context, ref string, asJSON bool) error {
	enabled, disabled := c.places()
	if len(enabled) == 0 {
		return c.nothingConfigured()
	}
	if shown, err := c.showPlace(ctx, ref, enabled, disabled, asJSON); shown || err != nil {
		return err
	}
	wanted := candidates(ref, enabled)
	hasName := func(at place) bool { return at.Server == ref }
	isServer := slices.ContainsFunc(enabled, hasName) || slices.ContainsFunc(disabled, hasName)
	if err := c.deniedByName(ref, wanted); err != nil && !isServer {
		return err
	}
	known, err := c.toolsNamed(ctx, wanted, isServer)
	if err != nil {
		return err
	}
	tools := match(ref, known.entries())
	if len(tools) == 1 && tools[0].Ref() == ref {
		return c.showTool(tools[0], asJSON)
	}
	names := refs(tools)
	var servers []place
	for _, at := range enabled {
		if at.Server == ref {
			servers, names = append(servers, at), append(names, at.String())
		}
	}
	switch {
	case len(names) > 1:
		return ambiguous(ref, kindsOf(len(tools), len(servers)), names)
	case len(tools) == 1:
		return c.showTool(tools[0], asJSON)
	case len(servers) == 1:
		return c.showGroup(ctx, servers[0].String(), "", enabled, func(at place) bool { return at == servers[0] }, asJSON)
	}
	if off := slices.IndexFunc(disabled, hasName); off >= 0 {
		return DisabledServer(c.Config, toolbox.Place(disabled[off]))
	}
	if err := c.deniedAmong(ctx, ref, wanted); err != nil {
		return err
	}
	if again, err := c.askAgain(ctx, known); err != nil {
		return err
	} else if again {
		return c.Show(ctx, ref, asJSON)
	}
	return c.nothingToShow(ref, known, disabled)
}

// showPlace prints a toolbox, or a server named with its toolbox. It returns false for another reference.
func (c *Console) showPlace(ctx context.Context, ref string, enabled, disabled []place, asJSON bool) (bool, error) {
	for _, box := range c.Config.Toolboxes {
		if box.Name != strings.TrimSuffix(ref, "/") && box.Name != ref {
			continue
		}
		ref = box.Name
		if box.IsDisabled() {
			return true, c.disabledToolbox(ref)
		}
		return true, c.showGroup(ctx, ref, box.Description, enabled, func(at place) bool { return at.Toolbox == ref }, asJSON)
	}
	for _, at := range enabled {
		if at.String() == ref {
			return true, c.showGroup(ctx, ref, "", enabled, func(other place) bool { return other == at }, asJSON)
		}
	}
	if off := slices.IndexFunc(disabled, func(at place) bool { return at.String() == ref }); off >= 0 {
		return true, DisabledServer(c.Config, toolbox.Place(disabled[off]))
	}
	return false, nil
}

// kindsOf names what several things with one name are.
func kindsOf(tools, servers int) string {
	switch {
	case servers == 0:
		return "tools"
	case tools == 0:
		return "servers"
	}
	return "tools and servers"
}

// nothingToShow is the error for a name that nothing has, after the servers that could not be asked.
func (c *Console) nothingToShow(ref string, known catalogue, disabled []place) error {
	c.printUnreachable(known.unreachable())
	near := append(c.Config.Places().Nearest(ref, toolbox.ToolboxFirst), nearest(ref, known.entries())...)
	return notFound("tool, server or toolbox", ref, near[:min(len(near), toolbox.MaxNear)], disabled)
}

// toolsNamed returns the tool lists to look up a name in. The name of a server is most likely meant as such: other servers are not
// started to learn whether they have a tool of that name, too.
func (c *Console) toolsNamed(ctx context.Context, wanted []place, isServer bool) (catalogue, error) {
	if isServer {
		return c.find(ctx, wanted, app.KnownOptions{Stored: true})
	}
	return c.toolLists(ctx, wanted, false)
}

// shownTool is the JSON of a tool.
type shownTool struct {
	listedTool
	Definition   json.RawMessage `json:"definition"`
	HintsDoubted bool            `json:"hintsDoubted,omitempty"` // the annotations do not count for the policy
}

func (c *Console) showTool(e entry, asJSON bool) error {
	definition := e.tool.Definition
	if asJSON {
		return tty.WriteJSON(c.Out, shownTool{asListed(e), definition.Bytes(), e.tool.HintsDoubted})
	}
	heading := c.Out.Paint(tty.Strong, tty.CleanLine(e.Ref()))
	if title := title(definition); title != "" {
		heading += "  " + tty.CleanLine(title)
	}
	fmt.Fprintln(c.Out, heading)
	if description := description(e.tool); strings.TrimSpace(description) != "" {
		c.prose(description, "")
	}
	fmt.Fprintln(c.Out, "\n  "+tty.CleanLine(e.tool.Signature()))
	c.showParameters(definition.Member("inputSchema"))
	if hints := hintsOf(definition.Member("annotations")); hints != "" {
		if e.tool.HintsDoubted {
			hints += "; the policy does not count that"
		}
		fmt.Fprintf(c.Out, "\n%s %s\n", c.Out.Paint(tty.Faint, "The server says:"), hints)
	}
	if judged := c.judgedBefore(e); judged != "" {
		fmt.Fprintf(c.Out, "\n%s %s\n", c.Out.Paint(tty.Faint, "The policy:"), c.Out.Wrap(tty.CleanLine(judged), 0))
	}
	if output := definition.Member("outputSchema"); output.Kind() == "object" {
		fmt.Fprintf(c.Out, "\n%s %s\n", c.Out.Paint(tty.Faint, "It answers with:"), tty.CleanLine(catalog.TypeName(output)))
		c.showMembers("FIELD", output)
	}
	fmt.Fprintf(c.Out, "\n%s %s\n", c.Out.Paint(tty.Faint, "Call it:"), tty.CleanLine(exampleCall(e)))
	return nil
}

func title(definition wire.Payload) string {
	if title := text(definition.Member("title")); title != "" {
		return title
	}
	return text(definition.Member("annotations").Member("title"))
}

func (c *Console) showParameters(schema wire.Payload) {
	if schema.Member("properties").Kind() != "object" || string(schema.Member("properties").Bytes()) == "{}" {
		return
	}
	fmt.Fprintln(c.Out)
	c.showMembers("PARAMETER", schema)
}

func (c *Console) showMembers(what string, schema wire.Payload) {
	var required []string
	for name := range schema.Member("required").Elements() {
		required = append(required, text(name))
	}
	columns := []string{what, "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"}
	var rows [][]tty.Cell
	for key, property := range schema.Member("properties").Members() {
		needed := ""
		if slices.Contains(required, string(key)) {
			needed = "yes"
		}
		row := tty.Cells(string(key), catalog.TypeName(property), needed,
			string(property.Member("default").Bytes()), text(property.Member("description")))
		row[0].Style = tty.Name
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		c.Out.WrappedTable(withoutEmpty(columns, rows))
	}
}

// withoutEmpty drops columns that are empty in all rows.
func withoutEmpty(columns []string, rows [][]tty.Cell) ([]string, [][]tty.Cell) {
	var kept []string
	fewer := make([][]tty.Cell, len(rows))
	for i, column := range columns {
		if !slices.ContainsFunc(rows, func(row []tty.Cell) bool { return row[i].Text != "" }) {
			continue
		}
		kept = append(kept, column)
		for at, row := range rows {
			fewer[at] = append(fewer[at], row[i])
		}
	}
	return kept, fewer
}

// prose prints a foreign text with an indent, and wraps lines between words.
func (c *Console) prose(text, indent string) {
	width, _ := c.Out.Size()
	if width > 0 {
		width = max(20, width-len(indent))
	}
	for line := range strings.SplitSeq(strings.TrimSpace(tty.Clean(text)), "\n") {
		parts := []string{line}
		if width > 0 && tty.Cut(line, width) != line {
			parts = tty.Wrap(line, width)
		}
		for _, part := range parts {
			fmt.Fprintln(c.Out, strings.TrimRight(indent+part, " "))
		}
	}
}

// hintsOf describes the annotations of a tool.
func hintsOf(annotations wire.Payload) string {
	var words []string
	for _, hint := range []struct{ key, yes, no string }{
		{"readOnlyHint", "read-only", "changes things"},
		{"destructiveHint", "destructive", "not destructive"},
		{"idempotentHint", "safe to repeat", "not safe to repeat"},
		{"openWorldHint", "reaches out to the world", "stays inside"},
	} {
		switch string(annotations.Member(hint.key).Bytes()) {
		case "true":
			words = append(words, hint.yes)
		case "false":
			words = append(words, hint.no)
		}
	}
	return strings.Join(words, ", ")
}

// exampleCall returns a command line with the required arguments.
func exampleCall(e entry) string {
	line := "mcp-workbench call " + quoted(e.Ref())
	schema := e.tool.Definition.Member("inputSchema")
	for name := range schema.Member("required").Elements() {
		sign := "=…"
		if isNested(schema.Member("properties").Member(text(name))) {
			sign = ":=…"
		}
		line += " " + quoted(text(name)) + sign
	}
	return line
}

// isNested reports whether a value is best written as JSON.
func isNested(schema wire.Payload) bool {
	switch text(schema.Member("type")) {
	case "object":
		return true
	case "array":
		return isNested(schema.Member("items"))
	}
	return false
}

// quoted quotes a word for a shell.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@"

// shownServer is the JSON of a server.
type shownServer struct {
	Toolbox      string               `json:"toolbox"`
	Server       string               `json:"server"`
	Version      string               `json:"version,omitempty"`
	Instructions string               `json:"instructions,omitempty"`
	Sandbox      *config.ShownSandbox `json:"sandbox,omitempty"`
	Limits       *config.ShownLimits  `json:"limits,omitempty"`
	Error        string               `json:"error,omitempty"`
	Tools        []listedTool         `json:"tools"`
}

// showGroup prints a toolbox or a server.
func (c *Console) showGroup(ctx context.Context, name, description string, places []place, wanted func(place) bool, asJSON bool) error {
	known, err := c.toolLists(ctx, slices.DeleteFunc(slices.Clone(places), func(at place) bool { return !wanted(at) }), false)
	if err != nil {
		return err
	}
	failed := known.unreachable()
	var unreachable error
	if len(failed) > 0 && len(failed) == len(known) {
		unreachable = c.unreachableError(failed)
	}
	if asJSON {
		return errors.Join(tty.WriteJSON(c.Out, c.asGroup(name, description, known)), unreachable)
	}
	fmt.Fprintln(c.Out, c.Out.Paint(tty.Strong, tty.CleanLine(name)))
	if description != "" {
		c.prose(description, "")
	}
	for _, server := range known {
		if server.Err == nil {
			c.showServer(server)
		}
	}
	c.printUnreachable(failed)
	return unreachable
}

func (c *Console) asGroup(name, description string, known catalogue) any {
	group := struct {
		Ref         string        `json:"ref"`
		Description string        `json:"description,omitempty"`
		Servers     []shownServer `json:"servers"`
	}{Ref: name, Description: description, Servers: []shownServer{}}
	for _, server := range known {
		shown := shownServer{
			Toolbox: server.Toolbox, Server: server.Server, Version: server.Version,
			Instructions: server.Instructions, Tools: []listedTool{},
		}
		if definition := c.definitionOf(server); definition != nil {
			shown.Sandbox, shown.Limits = definition.ShownSandbox(), definition.ShownLimits()
		}
		if server.Err != nil {
			shown.Error = server.Err.Error()
		}
		for _, e := range (catalogue{server}).entries() {
			shown.Tools = append(shown.Tools, asListed(e))
		}
		group.Servers = append(group.Servers, shown)
	}
	return group
}

func (c *Console) showServer(server app.KnownServer) {
	heading := "Server " + c.Out.Paint(tty.Name, tty.CleanLine(server.Server))
	if server.Version != "" {
		heading += " " + tty.CleanLine(server.Version)
	}
	fmt.Fprintln(c.Out, "\n"+heading)
	c.showBounds(server)
	if strings.TrimSpace(server.Instructions) != "" {
		c.prose(server.Instructions, "  ")
	}
	c.table((catalogue{server}).entries())
}

// showBounds prints what a server may do and use, where that is less than everything.
func (c *Console) showBounds(server app.KnownServer) {
	definition := c.definitionOf(server)
	if definition == nil {
		return
	}
	line := func(name, text string) {
		fmt.Fprintf(c.Out, "  %s %s\n", c.Out.Paint(tty.Faint, name+":"), tty.CleanLine(text))
	}
	if sandbox := definition.ShownSandbox(); sandbox != nil {
		line("sandbox", sandbox.Line(trust.QuoteList))
	}
	if limits := definition.ShownLimits(); limits != nil {
		line("limits", limits.Line(trust.QuoteList))
	}
}

// definitionOf returns the configuration of a server; nil if there is none.
func (c *Console) definitionOf(server app.KnownServer) *config.Server {
	for _, box := range c.Config.Toolboxes {
		for i := range box.Servers {
			if box.Name == server.Toolbox && box.Servers[i].Name == server.Server {
				return &box.Servers[i]
			}
		}
	}
	return nil
}
