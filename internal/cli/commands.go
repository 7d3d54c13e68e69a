package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

// helpGroup is a part of the help of the program.
type helpGroup struct {
	title string
	lines []helpLine
}

// helpLine is one line for commands that belong together.
type helpLine struct {
	what     string // "": the summary of the only command
	commands []*cobra.Command
}

func singleHelp(command *cobra.Command) helpLine {
	return helpLine{commands: []*cobra.Command{command}}
}

func groupedHelp(what string, commands ...*cobra.Command) helpLine {
	return helpLine{what, commands}
}

// addCommands adds all commands, in the order of the help.
func addCommands(root *cobra.Command, g *globals) {
	groups := []helpGroup{
		{"Get started", []helpLine{
			singleHelp(newInit(g)), singleHelp(newDoctor(g)),
			groupedHelp("Add the workbench to an MCP client, or remove it", newConnect(g), newDisconnect()),
			singleHelp(newTry(g)),
		}},
		{"Configure", []helpLine{
			groupedHelp("List toolboxes and servers; say what one is for", newList(g), newDescribe(g)),
			groupedHelp("Add a server; remove servers; move them", newAdd(g), newRemove(g), newMove(g)),
			groupedHelp("Enable or disable a server; rename it", newEnable(g), newDisable(g), newRename(g)),
			groupedHelp("Sign in to a remote server, or out; show the logins", newLogin(g), newLogout(g), newAuth(g)),
			groupedHelp("Check a file; print its JSON Schema for editors", newValidate(g), newSchema()),
			groupedHelp("Trust a project; approve tools; check the policy", newTrust(g), newLock(g), newPolicy(g)),
		}},
		{"Use tools", []helpLine{
			groupedHelp("List tools; show one in detail; search them", newTools(g), newShow(g), newFind(g)),
			singleHelp(newCall(g)), singleHelp(newTokens(g)),
		}},
		{"Operate", []helpLine{
			groupedHelp("Show workbenches and servers; answer calls that wait", newPS(), newTop(), newApprove()),
			groupedHelp("Show a server's stderr; restart it; stop a workbench", newLogs(), newRestart(), newStop()),
			groupedHelp("Show the last calls; print metrics; use the audit log", newHistory(), newMetrics(), newAudit(g)),
		}},
		{"Serve", []helpLine{
			groupedHelp("Serve many clients over HTTP; manage their tokens", newServe(g), newToken(g)),
			groupedHelp("Bridge to a running workbench; run a built-in server", newBridge(g), newBuiltin()),
			groupedHelp("Record a session; replay it without the server", newRecord(g), newReplay()),
		}},
	}
	for _, group := range groups {
		for _, line := range group.lines {
			root.AddCommand(line.commands...)
		}
	}
	explain := newExplain()
	version := newVersion()
	remove := newUninstall()
	root.AddCommand(explain, version, remove)
	completions := completion.AddCommand(root)
	groups = append(groups, helpGroup{"Other", []helpLine{
		groupedHelp("Explain an error code; remove all that is stored", explain, remove),
		groupedHelp("Show the version; generate shell completion", version, completions),
	}})
	root.AddCommand(newDaemon(g)) // hidden
	root.SetUsageFunc(usage)
	helpOfOne := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root {
			programHelp(cmd.OutOrStdout(), root, groups)
			return
		}
		helpOfOne(cmd, args)
	})
}

// helpWidth is the number of columns that all help fits into.
const helpWidth = 80

// programHelp writes the help of the program, which fits a screen.
func programHelp(out io.Writer, root *cobra.Command, groups []helpGroup) {
	fmt.Fprintf(out, "%s\n\nUsage: %s [FLAGS], or %s COMMAND\n", root.Long, root.Name(), root.Name())
	width := 0
	for _, group := range groups {
		for _, line := range group.lines {
			width = max(width, len(line.names()))
		}
	}
	for _, group := range groups {
		fmt.Fprintf(out, "\n%s:\n", group.title)
		for _, line := range group.lines {
			what := line.what
			if what == "" {
				what = line.commands[0].Short
			}
			fmt.Fprintf(out, "  %-*s  %s\n", width, line.names(), what)
		}
	}
	fmt.Fprintf(out, "\nFlags:\n%s\nFlags and examples of a command: %s help COMMAND\n", root.Flags().FlagUsagesWrapped(helpWidth), root.Name())
}

// usage writes how a command is used. It uses no template: templates may call any method of any type,
// so the linker could remove none.
func usage(cmd *cobra.Command) error {
	out := cmd.OutOrStderr()
	fmt.Fprintln(out, "Usage:")
	if cmd.Runnable() {
		fmt.Fprintf(out, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(out, "  %s [command]\n", cmd.CommandPath())
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(out, "\nAliases:\n  %s\n", cmd.NameAndAliases())
	}
	if cmd.HasExample() {
		fmt.Fprintf(out, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintln(out, "\nAvailable Commands:")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(out, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(out, "\nFlags:\n%s", cmd.LocalFlags().FlagUsagesWrapped(helpWidth))
	}
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(out, "\nGlobal Flags:\n%s", cmd.InheritedFlags().FlagUsagesWrapped(helpWidth))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(out, "\nUse \"%s [command] --help\" for more information about a command.\n", cmd.CommandPath())
	}
	return nil
}

func (l helpLine) names() string {
	names := make([]string, len(l.commands))
	for i, command := range l.commands {
		names[i] = command.Name()
	}
	return strings.Join(names, ", ")
}
