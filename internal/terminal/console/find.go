package console

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// FindOptions are the options of Find.
type FindOptions struct {
	Query   string
	Toolbox string // "": all
	Limit   int
	JSON    bool
}

// Find prints the tools that match a query, ranked as by find_tools. Servers that are not in the cache are connected
// first.
func (c *Console) Find(ctx context.Context, options FindOptions) (err error) {
	wanted, err := c.toolboxOnly(options.Toolbox)
	if err != nil {
		return err
	}
	known, err := c.toolLists(ctx, wanted, false)
	if err != nil {
		return err
	}
	session, err := c.OpenShared(ctx, nil, Handlers{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close(ctx)) }()
	query := map[string]any{"query": options.Query, "limit": options.Limit}
	if options.Toolbox != "" {
		query["toolbox"] = options.Toolbox
	}
	answer, err := session.Ask(ctx, "find_tools", query)
	if err != nil {
		return err
	}
	found, err := wire.ParseValue([]byte(answer))
	if err != nil {
		return fmt.Errorf("find_tools answered with something unexpected: %w", err)
	}
	if options.JSON {
		return tty.WriteJSON(c.Out, asFound(found, known.unreachable()))
	}
	c.showFound(found)
	c.printUnreachable(known.unreachable())
	return nil
}

// foundTools is the JSON of Find. The tools are as those of List.
type foundTools struct {
	Tools       []foundTool         `json:"tools"`
	More        bool                `json:"more"`     // there are others that fit
	Doubtful    bool                `json:"doubtful"` // they may not match
	Unreachable []unreachableServer `json:"unreachable,omitempty"`
}

type foundTool struct {
	listedTool
	Changed bool   `json:"changed,omitempty"` // not as in the lock
	Login   string `json:"login,omitempty"`   // the command to log in with first
}

func asFound(found wire.Payload, failed []app.KnownServer) foundTools {
	all := foundTools{
		Tools: []foundTool{}, More: !found.Member("more").IsAbsent(), Doubtful: !found.Member("hint").IsAbsent(), Unreachable: asUnreachable(failed),
	}
	for tool := range found.Member("tools").Elements() {
		one := foundTool{
			listedTool: listedTool{
				Toolbox: text(tool.Member("toolbox")), Server: text(tool.Member("server")), Name: text(tool.Member("name")),
				Description: text(tool.Member("description")), Signature: text(tool.Member("signature")),
			},
			Changed: !tool.Member("changed").IsAbsent(), Login: text(tool.Member("login_needed")),
		}
		one.Ref = place{one.Toolbox, one.Server}.String() + "/" + one.Name
		all.Tools = append(all.Tools, one)
	}
	all.Doubtful = all.Doubtful && len(all.Tools) > 0
	return all
}

// toolboxOnly is selection for a flag that accepts only a toolbox.
func (c *Console) toolboxOnly(name string) ([]place, error) {
	if name == "" {
		return c.selection("")
	}
	var names []string
	for _, box := range c.Config.Toolboxes {
		if box.Name == name {
			return c.selection(name)
		}
		names = append(names, box.Name)
	}
	err := &toolbox.Error{Code: toolbox.ToolboxNotFound, Message: fmt.Sprintf("Toolbox '%s' not found in configuration", name)}
	if near := toolbox.Nearest(name, names, 1); len(near) > 0 {
		err.Hint = "Did you mean '" + near[0] + "'?"
	} else {
		err.Hint = "To see what is configured: mcp-workbench list"
	}
	return nil, err
}

func (c *Console) showFound(found wire.Payload) {
	var rows [][]tty.Cell
	for tool := range found.Member("tools").Elements() {
		ref := place{text(tool.Member("toolbox")), text(tool.Member("server"))}.String() + "/" + text(tool.Member("name"))
		rows = append(rows, []tty.Cell{{Text: ref, Style: tty.Name}, {Text: text(tool.Member("description"))}})
	}
	doubtful := !found.Member("hint").IsAbsent()
	if len(rows) == 0 {
		fmt.Fprintln(c.Err, "No tool fits. Use other words, or list all tools: mcp-workbench tools")
		return
	}
	c.Out.Table([]string{"TOOL", "DESCRIPTION"}, rows)
	switch {
	case doubtful:
		fmt.Fprintln(c.Err, "These may not match: use other words, or list all tools: mcp-workbench tools")
	case !found.Member("more").IsAbsent():
		fmt.Fprintln(c.Err, "There are more that fit: --limit shows them.")
	}
}
