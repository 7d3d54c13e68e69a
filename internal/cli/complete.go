package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// completeToolboxes completes an argument or flag that names a toolbox.
func completeToolboxes(g *globals) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		for _, box := range g.Outline().Toolboxes {
			found = offer(found, typed, box.Name, box.Description)
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeServers completes TOOLBOX/SERVER, and TOOLBOX, which stands for all of its
// servers.
func completeServers(g *globals) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		outline := g.Outline()
		var found []cobra.Completion
		for _, box := range outline.Toolboxes {
			found = offer(found, typed, box.Name, box.Description)
		}
		return without(offerServers(found, typed, outline), args), cobra.ShellCompDirectiveNoFileComp
	}
}

func offerServers(found []cobra.Completion, typed string, outline *config.Preview) []cobra.Completion {
	for _, server := range outline.Servers {
		found = offer(found, typed, server.Toolbox+"/"+server.Name, "")
	}
	return found
}

// completeFolders leaves it to the shell, which offers folders only.
func completeFolders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeTools completes TOOLBOX/SERVER/TOOL, one part after the other. Tools are those
// that were seen before: nothing is started.
func completeTools(g *globals) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		outline := g.Outline()
		for _, server := range outline.Servers {
			if path := server.Toolbox + "/" + server.Name + "/"; strings.HasPrefix(typed, path) {
				return completeToolsOf(cmd.Context(), g, toolbox.Ref{Toolbox: server.Toolbox, Server: server.Name}, typed)
			}
			if strings.HasPrefix(typed, server.Toolbox+"/") && !server.Disabled {
				found = offer(found, typed, server.Toolbox+"/"+server.Name+"/", "")
			}
		}
		if len(found) == 0 {
			for _, box := range outline.Toolboxes {
				found = offer(found, typed, box.Name+"/", box.Description)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func completeToolsOf(ctx context.Context, g *globals, of toolbox.Ref, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	for _, server := range g.Cached(ctx) {
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

// completeOne completes a first argument and no second one.
func completeOne(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, typed)
	}
}

// mustComplete gives a flag its completion.
func mustComplete(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // there is no such flag, or it has one: a mistake in the program
	}
}

// offer adds what begins with what was typed. A name that a shell could not take, or that
// would act on the terminal, is left out.
func offer(found []cobra.Completion, typed, name, description string) []cobra.Completion {
	if !strings.HasPrefix(name, typed) || tty.CleanLine(name) != name {
		return found
	}
	if description = tty.Cut(tty.CleanLine(description), 60); description == "" {
		return append(found, name)
	}
	return append(found, cobra.CompletionWithDesc(name, description))
}

// without leaves out what was typed before.
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
