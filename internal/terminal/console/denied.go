package console

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
)

// This file is about tools that the policy denies. They are not listed, but who names one is told why.

// deniedByName returns an error if the policy denies the tool that a reference names, whichever of the servers it is
// of: none has to be asked then.
func (c *Console) deniedByName(ref string, servers []place) (first error) {
	for _, at := range servers {
		shown := ref // it cannot be told which of them is meant
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

// deniedAmong returns an error if a reference names a tool that is known and denied.
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

// toolName is the name of the tool of a server that a reference names if it is about that server.
func toolName(ref string, at place) string {
	for _, prefix := range []string{at.String() + "/", at.Server + "/"} {
		if name, ok := strings.CutPrefix(ref, prefix); ok && name != "" {
			return name
		}
	}
	return ref
}

// deniedTool returns why a tool may not be used; nil if it may. Shown is what it is called.
func (c *Console) deniedTool(at place, name, shown string) error {
	denial, isDenied := policy.New(c.Config).Judge(toolbox.Ref{Toolbox: at.Toolbox, Server: at.Server, Name: name})
	if !isDenied {
		return nil
	}
	return &toolbox.Error{
		Code:    toolbox.ToolDenied,
		Message: fmt.Sprintf("The tool '%s' %s", shown, denial.Reason()),
		Hint:    "To allow it, change the rule.",
	}
}
