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

// Places returns the servers of workbenches for names of command lines.
func Places(found []*Client) *toolbox.Named {
	named := &toolbox.Named{Where: "in a running workbench", Code: toolbox.ServerNotFound, List: "mcp-workbench ps"}
	for _, client := range found {
		for _, server := range client.Status.Servers {
			if at := (toolbox.Place{Toolbox: server.Toolbox, Server: server.Name}); !slices.Contains(named.Servers, at) {
				named.Servers = append(named.Servers, at)
			}
		}
	}
	return named
}

// FindServer returns the server named TOOLBOX/SERVER or SERVER, and its workbench.
func FindServer(found []*Client, name string) (*Client, Server, error) {
	var having []*Client
	var meant Server
	place, err := Places(found).Find(name, toolbox.ServerOnly)
	if err != nil {
		return nil, meant, err
	}
	for _, client := range found {
		if at := slices.IndexFunc(client.Status.Servers, func(s Server) bool { return s.Toolbox == place.Toolbox && s.Name == place.Server }); at >= 0 {
			having, meant = append(having, client), client.Status.Servers[at]
		}
	}
	if len(having) > 1 {
		return nil, meant, SeveralRunning(having, fmt.Sprintf("Several running workbenches have a server '%s'", tty.CleanLine(name)), "Say which one is meant")
	}
	return having[0], meant, nil
}
