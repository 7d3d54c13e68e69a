package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
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
			groupedHelp("List servers; say what one is for; keep secrets", newList(g), newDescribe(g), newSecret()),
			groupedHelp("Add a server; remove servers; move them", newAdd(g), newRemove(g), newMove(g)),
			groupedHelp("Enable or disable a server; rename it", newEnable(g), newDisable(g), newRename(g)),
			groupedHelp("Sign in to a remote server, or out; show the logins", newLogin(g), newLogout(g), newAuth(g)),
			groupedHelp("Check a file; print its JSON Schema for editors", newValidate(g), newSchema()),
			groupedHelp("Trust a project; approve tools; check the policy", newTrust(g), newLock(g), newPolicy(g)),
		}},
		{"Use tools", []helpLine{
			groupedHelp("List tools; show one in detail; search them", newTools(g), newShow(g), newFind(g)),
			groupedHelp("Call a tool; estimate what tools cost in context", newCall(g), newTokens(g)),
		}},
		{"Operate", []helpLine{
			groupedHelp("Show what runs, also as a page; answer what waits", newPS(), newTop(), newUI(), newApprove()),
			groupedHelp("Show a server's stderr; restart it; stop a workbench", newLogs(g), newRestart(g), newStop()),
			groupedHelp("Cancel a call that runs; accept changed definitions", newCancel(), newChanges()),
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
	refuseUnknown(root, completions)
	root.SetUsageFunc(usage)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if cmd == root {
			programHelp(cmd.OutOrStdout(), root, groups)
			return
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s", reflow(cmp.Or(cmd.Long, cmd.Short), helpWidthOf()), cmd.UsageString())
	})
}

// refuseUnknown makes an unknown name an error of 'help' and of a command that has only subcommands: the library shows help, and ends with 0.
func refuseUnknown(root, parent *cobra.Command) {
	parent.Args, parent.RunE = noArguments, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		panic(err) // it was added above: a bug
	}
	help.Example = "  mcp-workbench help policy explain"
	help.Run = nil
	help.RunE = func(_ *cobra.Command, args []string) error {
		about, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return noArguments(about, append(rest, args...))
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	}
}

// helpWidthOf returns the number of columns for the help: fewer on a narrow terminal.
func helpWidthOf() int {
	if width, _ := tty.New(os.Stdout, nil, os.Getenv).Size(); width > 0 {
		return min(width, helpWidth)
	}
	return helpWidth
}

var columns = regexp.MustCompile(`^ *\S.*?\S {2,}`)

// wrapColumns breaks the explanation in an indented line, which stands behind spaces. A command, which can be copied, stays whole.
func wrapColumns(line string, width int) []string {
	first := columns.FindString(line)
	if first == "" || len(line) <= width || len(first) > width/2 && !strings.HasPrefix(line, "  mcp-workbench ") {
		return []string{line}
	}
	margin := len(first)
	if margin > width/2 {
		margin = len("      ")
		return append([]string{strings.TrimRight(first, " ")}, hang(line[len(first):], margin, width)...)
	}
	lines := hang(line[margin:], margin, width)
	lines[0] = first + strings.TrimLeft(lines[0], " ")
	return lines
}

// hang breaks a text into lines that begin at a column.
func hang(text string, column, width int) []string {
	lines := tty.Wrap(text, width-column)
	for i := range lines {
		lines[i] = strings.Repeat(" ", column) + lines[i]
	}
	return lines
}

// reflow breaks the paragraphs of a text into lines that fit. Indented lines are commands and lists.
func reflow(text string, width int) string {
	var lines []string
	paragraph := ""
	flush := func() {
		if paragraph != "" {
			lines = append(lines, tty.Wrap(paragraph, width)...)
		}
		paragraph = ""
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || strings.HasPrefix(line, " ") {
			flush()
			lines = append(lines, wrapColumns(line, width)...)
			continue
		}
		paragraph += " " + line
	}
	flush()
	return strings.Join(lines, "\n")
}

// helpWidth is the number of columns that all help fits into.
const helpWidth = 80

// programHelp writes the help of the program, which fits a screen.
func programHelp(out io.Writer, root *cobra.Command, groups []helpGroup) {
	room := helpWidthOf()
	fmt.Fprintf(out, "%s\n\nUsage: %s [FLAGS], or %s COMMAND\n", reflow(root.Long, room), root.Name(), root.Name())
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
			margin := width + len("    ")
			text := strings.Join(tty.Wrap(what, room-margin), "\n"+strings.Repeat(" ", margin))
			fmt.Fprintf(out, "  %-*s  %s\n", width, line.names(), text)
		}
	}
	fmt.Fprintf(out, "\nFlags:\n%s\nFlags and examples of a command: %s help COMMAND\n", root.Flags().FlagUsagesWrapped(room), root.Name())
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
		fmt.Fprintf(out, "  %s COMMAND\n", cmd.CommandPath())
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(out, "\nAliases:\n  %s\n", cmd.NameAndAliases())
	}
	if cmd.HasExample() {
		fmt.Fprintf(out, "\nExamples:\n%s\n", reflow(cmd.Example, helpWidthOf()))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintln(out, "\nCommands:")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintln(out, reflow(fmt.Sprintf("  %-*s  %s", sub.NamePadding(), sub.Name(), sub.Short), helpWidthOf()))
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(out, "\nFlags:\n%s", cmd.LocalFlags().FlagUsagesWrapped(helpWidthOf()))
	}
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(out, "\nGlobal Flags:\n%s", cmd.InheritedFlags().FlagUsagesWrapped(helpWidthOf()))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintln(out, "\n"+tty.New(os.Stdout, nil, os.Getenv).Wrap("More about a command: "+cmd.CommandPath()+" COMMAND --help", 2))
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
