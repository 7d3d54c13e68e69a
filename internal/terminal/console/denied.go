package console

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// This file handles tools denied by the policy. They are not listed, but naming one explains why.

// deniedByName returns an error if the policy denies the named tool, whichever server it belongs to: no server has to
// be connected then.
func (c *Console) deniedByName(ref string, servers []place) (first error) {
	for _, at := range servers {
		shown := ref // ambiguous
		if len(servers) == 1 {
			shown = at.String() + "/" + toolName(ref, at)
		}
		denied := c.deniedTool(at, toolName(ref, at), shown)
		if denied == nil {
			return nil
		}
		first = cmp.Or(first, denied)
	}
	return first
}

// deniedAmong returns an error if a reference names a known tool that is denied.
func (c *Console) deniedAmong(ref string, known catalogue) error {
	for _, server := range known {
		at := place{server.Toolbox, server.Server}
		for _, name := range server.Denied {
			if toolName(ref, at) == name || ref == name {
				return c.deniedTool(at, name, at.String()+"/"+name)
			}
		}
	}
	return nil
}

// toolName returns the tool's name in a reference if that is about the server.
func toolName(ref string, at place) string {
	for _, prefix := range []string{at.String() + "/", at.Server + "/"} {
		if name, ok := strings.CutPrefix(ref, prefix); ok && name != "" {
			return name
		}
	}
	return ref
}

// deniedTool returns why a tool is denied, or nil. shown is its name in the message.
func (c *Console) deniedTool(at place, name, shown string) error {
	denial, isDenied := policy.New(c.Config).Denial(&policy.Query{
		Caller: config.CallerTerminal, Ref: toolbox.Ref{Toolbox: at.Toolbox, Server: at.Server, Name: name},
	})
	if !isDenied {
		return nil
	}
	return &toolbox.Error{
		Code:    toolbox.ToolDenied,
		Message: fmt.Sprintf("The tool '%s' %s", shown, denial),
		Hint:    "To allow it, change the rule.",
	}
}
