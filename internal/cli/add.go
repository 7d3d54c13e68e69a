package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

// addFlags say where a server goes and what it gets.
type addFlags struct {
	editFlags
	toolbox, description, cwd string
	env, headers              []string
	sse, disabled             bool
}

func newAdd(g *globals) *cobra.Command {
	var flags addFlags
	cmd := &cobra.Command{
		Use:   "add [NAME] SOURCE | add [NAME] -- COMMAND [ARGS...]",
		Short: "Add a server to the configuration",
		Long: `Add a server to a toolbox of the configuration. The rest of the file stays as it is,
comments included, and a workbench that runs takes the change over by itself. Where
there are ./workbench-config.json and your own file, the one that has the toolbox is
changed, and for a new toolbox the former; --config names another.

SOURCE is what you have at hand: the address of a server, the name of an npm or Python
package, or JSON as it is copied from a README or from another client's file: as an
argument, from a file (@FILE) or from stdin (-).

Secrets that are given in the clear are moved to workbench.env, which only you can read.`,
		Example: `  mcp-workbench add github -- npx -y @modelcontextprotocol/server-github
  mcp-workbench add https://mcp.example.com/mcp --header 'Authorization=Bearer TOKEN'
  mcp-workbench add @modelcontextprotocol/server-memory      an npm package
  mcp-workbench add pypi:mcp-server-git --toolbox dev        a Python package
  mcp-workbench add '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'
  mcp-workbench add @snippet.json --dry-run`,
		Args: checkAddArguments,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // files, for the sake of commands
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAdd(cmd, g, flags, args)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return &usageError{err: fmt.Errorf("%w; flags of a command that is added come after --, as in: add NAME -- npx -y PACKAGE", err)}
	})
	flags.add(cmd)
	cmd.Flags().StringVarP(&flags.toolbox, "toolbox", "t", "", "toolbox to add to, made if it does not exist (default: the only one)")
	cmd.Flags().StringVar(&flags.description, "description", "", "what a new toolbox is for; a model reads it to decide whether to open it")
	cmd.Flags().StringArrayVarP(&flags.env, "env", "e", nil, "variable for the server, NAME=VALUE; may be repeated")
	cmd.Flags().StringArrayVarP(&flags.headers, "header", "H", nil, "HTTP header for a remote server, NAME=VALUE or 'NAME: VALUE'; may be repeated")
	cmd.Flags().StringVar(&flags.cwd, "cwd", "", "folder to run the server in")
	cmd.Flags().BoolVar(&flags.sse, "sse", false, "speak HTTP+SSE to the address, the transport that older servers have")
	cmd.Flags().BoolVar(&flags.disabled, "disabled", false, "add it, but leave it out for now")
	completion.Register(cmd, "toolbox", completion.Toolboxes(&g.Loader))
	return cmd
}

func checkAddArguments(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	switch {
	case dash < 0 && len(args) == 0:
		return &usageError{err: errors.New("add takes what to add: an address, a package, JSON, or a command after --")}
	case dash < 0 && (len(args) > 2 || len(args) == 2 && importer.IsRunner(args[0])):
		return &usageError{err: errors.New("add takes a name and one source; a command comes after --, as in: add NAME -- npx -y PACKAGE")}
	case dash > 1:
		return &usageError{err: errors.New("only a name can stand before --")}
	case dash >= 0 && len(args) == dash:
		return &usageError{err: errors.New("a command is missing after --")}
	}
	return nil
}

func runAdd(cmd *cobra.Command, g *globals, flags addFlags, args []string) error {
	e, err := g.beginAdd(cmd, flags.editFlags, flags.toolbox)
	if err != nil {
		return err
	}
	a := &addition{edit: e, flags: flags, ctx: cmd.Context(), stderr: cmd.ErrOrStderr(), stdin: cmd.InOrStdin()}
	if err := a.read(args, cmd.ArgsLenAtDash()); err != nil {
		return err
	}
	if err := a.applyFlags(); err != nil {
		return err
	}
	if err := importer.RefuseLoops(cmd.Context(), e.Path, a.servers); err != nil {
		return err
	}
	if err := a.chooseToolbox(); err != nil {
		return err
	}
	names := &configwrite.Names{Taken: e.Variable}
	for _, server := range a.servers {
		if err := a.place(server, names); err != nil {
			return err
		}
	}
	if err := a.askForUnset(); err != nil {
		return err
	}
	done, err := e.apply(cmd.Context(), "")
	if err != nil || !done {
		return err
	}
	a.report()
	return nil
}

// place puts one server into the configuration, and its secrets beside it.
func (a *addition) place(server clients.Server, names *configwrite.Names) error {
	definition, err := server.Definition()
	if err != nil {
		return err
	}
	before := len(names.Given())
	entry, found, err := configwrite.Conceal(server.Name, definition, names)
	if err != nil {
		return err
	}
	a.moved = append(a.moved, names.Given()[before:]...)
	for _, finding := range found {
		if finding.Name == "" {
			fmt.Fprintf(a.stderr, "What looks like a secret in %s does not fit into workbench.env, and stays in the configuration.\n", tty.CleanLine(finding.Where))
			continue
		}
		a.keep(finding.Name)
	}
	a.entries = append(a.entries, entry)
	return a.Set((configwrite.Entry{Toolbox: a.toolbox, Server: server.Name}).Path(), entry)
}

// keep stores a value that only this terminal's environment has as well: a client that is
// started from a desktop does not have it.
func (a *addition) keep(name string) {
	value, ok := a.Variable(name)
	isMoved := slices.ContainsFunc(a.moved, func(v configwrite.Variable) bool { return v.Name == name })
	if ok && !isMoved && !a.IsStored(name) {
		a.moved = append(a.moved, configwrite.Variable{Name: name, Value: value})
	}
}

// report says what happened, and what to do next.
func (a *addition) report() {
	var names []string
	for _, server := range a.servers {
		names = append(names, "'"+tty.CleanLine(server.Name)+"'")
	}
	a.reportDone("Added %s to toolbox '%s' in %s.", strings.Join(names, ", "), tty.CleanLine(a.toolbox), short(a.Path))
	if len(a.moved) > 0 {
		var variables []string
		for _, variable := range a.moved {
			variables = append(variables, variable.Name)
		}
		fmt.Fprintf(a.screen, "Kept in workbench.env beside it, which only you can read: %s. Keep that file out of version control.\n", tty.CleanLine(strings.Join(variables, ", ")))
	}
	fmt.Fprintf(a.screen, "To see whether it works: mcp-workbench doctor %s\n", trust.Quote(a.toolbox))
}

// makeToolbox adds a toolbox that does not exist.
func (a *addition) makeToolbox(name string) error {
	var served []string
	for _, server := range a.servers {
		served = append(served, server.Name)
	}
	description := a.flags.description
	if description == "" {
		description = "Tools of " + strings.Join(served, ", ")
		if a.asks() {
			answer, err := a.screen.Ask(a.ctx, fmt.Sprintf("What is the new toolbox '%s' for? Models read this.", tty.CleanLine(name)), description)
			if err != nil {
				return err
			}
			description = answer
		}
	}
	value, err := jsonc.Encode(description)
	if err != nil {
		return err
	}
	if err := a.Set([]string{"toolboxes", name, "description"}, value); err != nil {
		return err
	}
	return a.Set([]string{"toolboxes", name, "mcpServers"}, []byte("{}"))
}

// asks reports that questions are welcome.
func (a *addition) asks() bool { return a.screen.IsInteractive() && !a.flags.yes }

// errUnclear is a source that may be several things, or none.
func errUnclear(message, hint string) error {
	return &toolbox.Error{Code: toolbox.AddSourceUnclear, Message: message, Hint: hint}
}
