package console

import (
	"context"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// ListOptions are the options of List.
type ListOptions struct {
	Of      string // TOOLBOX, TOOLBOX/SERVER or SERVER; "": all
	Refresh bool   // connect all servers, including cached ones
	JSON    bool
}

// listedTool is a tool in the JSON of List.
type listedTool struct {
	Ref         string `json:"ref"`
	Toolbox     string `json:"toolbox"`
	Server      string `json:"server"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Signature   string `json:"signature"`
}

type unreachableServer struct {
	Toolbox string `json:"toolbox"`
	Server  string `json:"server"`
	Reason  string `json:"reason"`
}

// List prints the available tools.
func (c *Console) List(ctx context.Context, options ListOptions) error {
	wanted, err := c.selection(options.Of)
	if err != nil {
		return err
	}
	known, err := c.toolLists(ctx, wanted, options.Refresh)
	if err != nil {
		return err
	}
	failed := known.unreachable()
	if options.JSON {
		listed := struct {
			Tools       []listedTool        `json:"tools"`
			Unreachable []unreachableServer `json:"unreachable,omitempty"`
		}{Tools: []listedTool{}, Unreachable: asUnreachable(failed)}
		for _, e := range known.entries() {
			listed.Tools = append(listed.Tools, asListed(e))
		}
		err = tty.WriteJSON(c.Out, listed)
	} else {
		if entries := known.entries(); len(entries) > 0 || len(failed) == 0 {
			c.table(entries)
		}
		c.printUnreachable(failed)
	}
	if err == nil && len(failed) > 0 && len(failed) == len(known) {
		return c.unreachableError(failed)
	}
	return err
}

func asListed(e entry) listedTool {
	return listedTool{
		Ref: e.Ref(), Toolbox: e.Toolbox, Server: e.Server, Name: e.tool.Name,
		Description: description(e.tool), Signature: e.tool.Signature(),
	}
}

func asUnreachable(failed []app.KnownServer) (all []unreachableServer) {
	for _, server := range failed {
		all = append(all, unreachableServer{server.Toolbox, server.Server, server.Err.Error()})
	}
	return all
}

// table prints tools, each with one line of description.
func (c *Console) table(entries []entry) {
	if len(entries) == 0 {
		fmt.Fprintln(c.Err, "There are no tools.")
		return
	}
	rows := make([][]tty.Cell, len(entries))
	for i, e := range entries {
		rows[i] = []tty.Cell{{Text: e.Ref(), Style: tty.Name}, {Text: metatool.OneLine(description(e.tool))}}
	}
	c.Out.Table([]string{"TOOL", "DESCRIPTION"}, rows)
}

func description(tool catalog.Tool) string { return text(tool.Definition.Member("description")) }

// text returns the value of a string; "" for any other value.
func text(value wire.Payload) string {
	text, _ := value.Text()
	return text
}
