package control

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// Describe identifies the workbench in a few words.
func (w Workbench) Describe() string {
	file := w.Config
	if file == "" {
		file = "the built-in default"
	}
	text := w.Serving + ", " + file
	if w.Project != "" {
		text = w.Serving + ", " + w.Project + " on top of " + file
	}
	if w.Folder != "" {
		text += ", in " + w.Folder
	}
	return text
}

// SeveralRunning is the error of a command that needs one workbench and found several.
func SeveralRunning(found []*Client, message, hint string) error {
	var choices []string
	for _, client := range found {
		choices = append(choices, fmt.Sprintf("  --pid %d   %s", client.Status.PID, client.Status.Describe()))
	}
	return &toolbox.Error{Code: toolbox.SeveralRunning, Message: message, Hint: hint + ":\n" + strings.Join(choices, "\n")}
}

// FindServer returns the server named TOOLBOX/SERVER or SERVER, and its workbench.
func FindServer(found []*Client, name string) (*Client, Server, error) {
	var having []*Client
	var refs, all []string
	var meant Server
	for _, client := range found {
		has := false
		for _, server := range client.Status.Servers {
			all = append(all, server.Ref())
			if server.Ref() == name || server.Name == name {
				has, meant = true, server
				refs = append(refs, server.Ref())
			}
		}
		if has {
			having = append(having, client)
		}
	}
	refs, all = unique(refs), unique(all)
	switch {
	case len(refs) == 0:
		return nil, meant, &toolbox.Error{
			Code: toolbox.ServerNotFound, Message: fmt.Sprintf("No running workbench has a server '%s'", tty.CleanLine(name)),
			Hint: "Servers: " + strings.Join(all, ", "),
		}
	case len(refs) > 1:
		return nil, meant, &toolbox.Error{
			Code: toolbox.AmbiguousName, Message: fmt.Sprintf("Several servers are named '%s'", name),
			Hint: "Say which one: " + strings.Join(refs, ", "),
		}
	case len(having) > 1:
		return nil, meant, SeveralRunning(having, fmt.Sprintf("Several running workbenches have a server '%s'", name), "Say which one is meant")
	}
	return having[0], meant, nil
}

// unique returns the names without repetitions, in the same order.
func unique(names []string) []string {
	var kept []string
	for _, name := range names {
		if !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	return kept
}
