// Package completion completes command lines in a shell: names of toolboxes, servers, tools and clients, and the arguments
// of a call. It starts no server.
package completion

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/changes"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

// Toolboxes completes the name of a toolbox.
func Toolboxes(l *loader.Loader) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		for _, box := range l.Outline().Toolboxes {
			found = offer(found, typed, box.Name, box.Description)
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// Servers completes TOOLBOX/SERVER, and TOOLBOX for all of its servers.
func Servers(l *loader.Loader) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		outline := l.Outline()
		var found []cobra.Completion
		for _, box := range outline.Toolboxes {
			found = offer(found, typed, box.Name, box.Description)
		}
		return without(offerServers(found, typed, outline), args), cobra.ShellCompDirectiveNoFileComp
	}
}

func offerServers(found []cobra.Completion, typed string, outline *config.Preview) []cobra.Completion {
	return offerPlaces(found, typed, outline.Places(), func(int) bool { return true })
}

// offerPlaces offers TOOLBOX/SERVER, and what is enough as a name once somebody has begun to type it.
func offerPlaces(found []cobra.Completion, typed string, named *toolbox.Named, isWanted func(i int) bool) []cobra.Completion {
	short := named.Short()
	for i, server := range named.Servers {
		if !isWanted(i) {
			continue
		}
		found = offer(found, typed, server.String(), "")
		if typed != "" && short[i] != server.String() {
			found = offer(found, typed, short[i], "of "+server.Toolbox)
		}
	}
	return found
}

// Folders lets the shell complete folders.
func Folders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// Tools completes TOOLBOX/SERVER/TOOL, one part after the other, from the cached tool lists.
func Tools(l *loader.Loader) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		outline := l.Outline()
		for _, server := range outline.Servers {
			if path := server.Toolbox + "/" + server.Name + "/"; strings.HasPrefix(typed, path) {
				return toolsOf(cmd.Context(), l, toolbox.Ref{Toolbox: server.Toolbox, Server: server.Name}, typed)
			}
			if strings.HasPrefix(typed, server.Toolbox+"/") && !server.Disabled {
				found = offer(found, typed, server.Toolbox+"/"+server.Name+"/", "")
			}
		}
		if len(found) == 0 {
			for _, box := range outline.Toolboxes {
				found = offer(found, typed, box.Name+"/", box.Description)
			}
			if typed != "" {
				found = offerShortTools(cmd.Context(), found, l, typed)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// offerShortTools offers SERVER/TOOL and TOOL, where that is unique among the cached tools.
func offerShortTools(ctx context.Context, found []cobra.Completion, l *loader.Loader, typed string) []cobra.Completion {
	known := l.Cached(ctx)
	for _, server := range known {
		for _, tool := range server.Tools {
			description, _ := tool.Definition.Member("description").Text()
			for _, short := range []string{server.Server + "/" + tool.Name, tool.Name} {
				if _, isOne := console.Named(short, known); isOne {
					found = offer(found, typed, short, description)
				}
			}
		}
	}
	return found
}

func toolsOf(ctx context.Context, l *loader.Loader, of toolbox.Ref, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	for _, server := range l.Cached(ctx) {
		if server.Toolbox != of.Toolbox || server.Server != of.Server {
			continue
		}
		for _, tool := range server.Tools {
			description, _ := tool.Definition.Member("description").Text()
			found = offer(found, typed, of.Toolbox+"/"+of.Server+"/"+tool.Name, description)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// One completes the first argument only.
func One(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, typed)
	}
}

// Register sets the completion of a flag.
func Register(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // no such flag, or registered twice: a bug
	}
}

// offer adds a name that starts with the typed text. It omits names that could control the terminal.
func offer(found []cobra.Completion, typed, name, description string) []cobra.Completion {
	if !strings.HasPrefix(name, typed) || tty.CleanLine(name) != name {
		return found
	}
	if description = tty.Cut(tty.CleanLine(description), 60); description == "" {
		return append(found, name)
	}
	return append(found, cobra.CompletionWithDesc(name, description))
}

// without removes the names typed before.
func without(found []cobra.Completion, args []string) []cobra.Completion {
	used := make(map[string]bool)
	for _, arg := range args {
		used[arg] = true
	}
	var rest []cobra.Completion
	for _, completion := range found {
		if name, _, _ := strings.Cut(completion, "\t"); !used[name] {
			rest = append(rest, completion)
		}
	}
	return rest
}

// Recording lets the shell complete the file of a recording, and completes the server after it.
func Recording(l *loader.Loader) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		if len(args) == 1 {
			outline := l.Outline()
			found = offerPlaces(found, typed, outline.Places(), func(i int) bool { return !outline.Servers[i].Disabled })
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// Clients completes the name of an MCP client.
func Clients(_ *cobra.Command, args []string, typed string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, client := range clients.All() {
		if !slices.Contains(args, client.ID) {
			found = offer(found, typed, client.ID, client.Title)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// Running completes the servers of running workbenches.
func Running(cmd *cobra.Command, args []string, typed string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	if dir, err := runtimedir.Open(os.Getenv, config.StateDir()); err == nil && len(args) == 0 {
		running, _ := control.Find(cmd.Context(), dir) // a workbench that does not answer offers nothing
		found = offerPlaces(found, typed, control.Places(running), func(int) bool { return true })
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// Workbenches completes the process id of a running workbench.
func Workbenches(cmd *cobra.Command, _ []string, typed string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	if dir, err := runtimedir.Open(os.Getenv, config.StateDir()); err == nil {
		running, _ := control.Find(cmd.Context(), dir) // a workbench that does not answer offers nothing
		for _, client := range running {
			found = offer(found, typed, strconv.Itoa(client.Status.PID), client.Status.Describe())
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// Approvals completes the ID of a call that waits for approval, and the answer after it.
func Approvals(cmd *cobra.Command, args []string, typed string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	switch {
	case len(args) == 1:
		for _, answer := range []approval.Answer{approval.Once, approval.Same, approval.Session, approval.No} {
			found = offer(found, typed, answer.String(), "")
		}
	case len(args) == 0 && err == nil:
		running, _ := control.Find(cmd.Context(), dir) // a workbench that does not answer offers nothing
		for _, client := range running {
			questions, _ := client.Questions(cmd.Context())
			for _, question := range questions {
				if question.AnswersVia(config.AskTerminal) {
					found = offer(found, typed, question.ID, question.Tool)
				}
			}
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// Changes completes what changed definitions are called.
func Changes(cmd *cobra.Command, _ []string, typed string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	if dir, err := runtimedir.Open(os.Getenv, config.StateDir()); err == nil {
		running, _ := control.Find(cmd.Context(), dir) // a workbench that does not answer offers nothing
		all, _, _ := changes.List(cmd.Context(), running)
		for i := range all {
			found = offer(found, typed, all[i].Ref(), "")
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// RunningCalls completes the ID of a call that runs.
func RunningCalls(cmd *cobra.Command, args []string, typed string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if len(args) == 0 && err == nil {
		workbenches, _ := control.Find(cmd.Context(), dir) // a workbench that does not answer offers nothing
		for _, client := range workbenches {
			running, _ := client.Running(cmd.Context())
			for _, one := range running.Calls {
				found = offer(found, typed, one.ID, strings.TrimSuffix(one.Toolbox+"/"+one.Server+"/"+one.Tool, "/"))
			}
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// Logins completes TOOLBOX/SERVER of servers that a person can sign in to.
func Logins(l *loader.Loader) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		outline := l.Outline()
		return offerPlaces(nil, typed, outline.Places(), func(i int) bool { return outline.Servers[i].SignsIn }), cobra.ShellCompDirectiveNoFileComp
	}
}

// Accounts completes the name of an account: those of the configuration, and those of logins that are kept. Sealed ones are
// left out, since nobody is asked for a key here.
func Accounts(l *loader.Loader) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
		var names []string
		for _, server := range l.Outline().Servers {
			for _, setting := range server.OAuth {
				if setting.Name == "account" {
					names = append(names, setting.Value)
				}
			}
		}
		kept, _ := credentials.Open(credentials.Folder(config.StateDir()), credentials.Options{}).All() // errors are for other commands
		for _, one := range kept {
			names = append(names, one.Account)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if config.CheckAccount(name) == "" {
				found = offer(found, typed, name, "")
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// Remote completes TOOLBOX/SERVER of remote servers.
func Remote(l *loader.Loader) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		outline := l.Outline()
		return offerPlaces(nil, typed, outline.Places(), func(i int) bool { return outline.Servers[i].URL != "" }), cobra.ShellCompDirectiveNoFileComp
	}
}
