package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

// addFlags are the flags of add.
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
		Long: `Add a server to a toolbox of the configuration. The rest of the file is kept, including
comments, and a running workbench reloads automatically. If both ./workbench-config.json
and your own file exist, the one that has the toolbox is changed, and the former for a new
toolbox; --config names another file.

SOURCE is the URL of a server, the name of an npm or Python package, or JSON as copied from
a README or another client's file: as an argument, from a file (@FILE) or from stdin (-).

Secrets in plain text are moved to workbench.env, which only you can read. A remote server
is asked, for 3 seconds at most, whether it needs a login.`,
		Example: `  mcp-workbench add github -- npx -y @modelcontextprotocol/server-github
  mcp-workbench add https://example.com/mcp --header 'X-Api-Key: KEY'
  mcp-workbench add @modelcontextprotocol/server-memory      an npm package
  mcp-workbench add pypi:mcp-server-git --toolbox dev        a Python package
  mcp-workbench add '{"time": {"command": "uvx", "args": ["mcp-server-time"]}}'
  mcp-workbench add @snippet.json --dry-run`,
		Args: checkAddArguments,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // files, since commands may be paths
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAdd(cmd, g, flags, args)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return &usageError{err: fmt.Errorf("%w; flags of a command that is added come after --, as in: add NAME -- npx -y PACKAGE", err)}
	})
	flags.add(cmd)
	cmd.Flags().StringVarP(&flags.toolbox, "toolbox", "t", "", "toolbox to add to; created if it does not exist (default: the only one)")
	cmd.Flags().StringVar(&flags.description, "description", "", "what the toolbox is for, new or not; models read it to decide whether to open it")
	cmd.Flags().StringArrayVarP(&flags.env, "env", "e", nil, "environment variable of the server, NAME=VALUE; may be repeated")
	cmd.Flags().StringArrayVarP(&flags.headers, "header", "H", nil, "HTTP header of a remote server, NAME=VALUE or 'NAME: VALUE'; may be repeated")
	cmd.Flags().StringVar(&flags.cwd, "cwd", "", "working folder of the server")
	cmd.Flags().BoolVar(&flags.sse, "sse", false, "use HTTP+SSE, the transport of older servers")
	cmd.Flags().BoolVar(&flags.disabled, "disabled", false, "add the server disabled")
	completion.Register(cmd, "toolbox", completion.Toolboxes(&g.Loader))
	return cmd
}

func checkAddArguments(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	switch {
	case dash < 0 && len(args) == 0:
		return &usageError{err: errors.New("add needs a source: a URL, a package, JSON, or a command after --")}
	case dash < 0 && (len(args) > 2 || len(args) == 2 && importer.IsRunner(args[0])):
		return &usageError{err: errors.New("add takes a name and one source; a command comes after --, as in: add NAME -- npx -y PACKAGE")}
	case dash > 1:
		return &usageError{err: errors.New("only a name can come before --")}
	case dash >= 0 && len(args) == dash:
		return &usageError{err: errors.New("a command is missing after --")}
	}
	return nil
}

// addition is the state of one 'add'.
type addition struct {
	*edit
	*importer.Addition
	flags   addFlags
	ctx     context.Context // of the command, for its questions
	stderr  io.Writer
	toolbox string
	written [][]byte               // the servers
	moved   []configwrite.Variable // for workbench.env
}

func runAdd(cmd *cobra.Command, g *globals, flags addFlags, args []string) error {
	e, err := g.readAddTarget(cmd, flags.editFlags, flags.toolbox)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("description") && strings.TrimSpace(flags.description) == "" {
		return &usageError{err: errors.New("--description needs a text: what the toolbox is for")}
	}
	a := &addition{edit: e, flags: flags, ctx: cmd.Context(), stderr: cmd.ErrOrStderr()}
	if err := a.read(args, cmd.ArgsLenAtDash(), cmd.InOrStdin()); err != nil {
		return err
	}
	if err := a.applyFlags(); err != nil {
		return err
	}
	if err := importer.RefuseLoops(cmd.Context(), e.Path, a.Servers); err != nil {
		return err
	}
	if err := a.chooseToolbox(); err != nil {
		return err
	}
	names := &configwrite.Names{Taken: e.Variable}
	for _, server := range a.Servers {
		if err := refuseUnreadable("the name of the server", server.Name); err != nil {
			return err
		}
		if err := a.addServer(server, names); err != nil {
			return err
		}
	}
	if err := a.askForUnset(); err != nil {
		return err
	}
	done, err := e.apply(cmd.Context(), "")
	if err != nil {
		return err
	}
	var logins, unanswered []remote
	if done {
		logins, unanswered = a.needLogin()
		a.report(logins)
		a.notes = append(a.notes, showUnanswered(a.screen, a.Path, unanswered)...)
	}
	if flags.json {
		return writeJSON(cmd, a.document(logins))
	}
	return nil
}

// addedServers is the JSON of 'add'.
type addedServers struct {
	changeReport
	Variables []string     `json:"variables"` // stored in workbench.env
	Logins    []addedLogin `json:"logins"`    // that the servers need
}

type addedLogin struct {
	Server  string `json:"server"`
	Command string `json:"command"` // that signs in
}

func (a *addition) document(logins []remote) addedServers {
	added := addedServers{changeReport{changedFiles([]*edit{a.edit})}, []string{}, []addedLogin{}}
	for _, variable := range a.moved {
		added.Variables = append(added.Variables, variable.Name)
	}
	for _, one := range logins {
		added.Logins = append(added.Logins, addedLogin{one.Ref(), loginCommand(one, a.Path)})
	}
	return added
}

// read reads the command line into servers.
func (a *addition) read(args []string, dash int, stdin io.Reader) (err error) {
	names := args[:max(0, dash)]
	if dash >= 0 {
		a.Addition = &importer.Addition{Servers: []clients.Server{importer.Command(args[dash:])}, Derived: true}
	} else {
		reader := importer.SourceReader{Stdin: stdin, Remark: func(format string, args ...any) { fmt.Fprintf(a.stderr, format+"\n", args...) }}
		if a.asks() {
			reader.Choose = func(question string, options []string) (int, error) { return a.screen.Choose(a.ctx, question, options) }
		}
		names = args[:len(args)-1]
		if a.Addition, err = reader.Read(args[len(args)-1]); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return nil
	}
	if len(a.Servers) > 1 {
		return &usageError{err: fmt.Errorf("the JSON has %d servers, which have their own names", len(a.Servers))}
	}
	a.Servers[0].Name, a.Derived = names[0], false
	box, name, _ := strings.Cut(names[0], "/")
	return refuseSlash("server", names[0], fmt.Sprintf("To add it to a toolbox: add %s --toolbox %s", trust.Quote(strings.ReplaceAll(name, "/", "-")), trust.Quote(box)))
}

// applyFlags applies the settings of the command line to the servers.
func (a *addition) applyFlags() error {
	env, err := importer.ParseSettings(a.flags.env, "--env", "=")
	if err != nil {
		return &usageError{err: err}
	}
	headers, err := importer.ParseSettings(a.flags.headers, "--header", "=:")
	if err != nil {
		return &usageError{err: err}
	}
	err = a.Override(importer.Overrides{Env: env, Headers: headers, Dir: a.flags.cwd, SSE: a.flags.sse, Disabled: a.flags.disabled})
	if err != nil {
		return &usageError{err: err}
	}
	return nil
}

// firstToolbox is the name of the first toolbox if none was given.
const firstToolbox = "tools"

// chooseToolbox chooses the toolbox of the servers, creates it if it does not exist, and gives the servers free names
// in it.
func (a *addition) chooseToolbox() error {
	var boxes []string
	for _, box := range a.Outline.Toolboxes {
		boxes = append(boxes, box.Name)
	}
	a.toolbox = a.flags.toolbox
	if box := strings.TrimSuffix(a.toolbox, "/"); !slices.Contains(boxes, a.toolbox) && box != "" {
		a.toolbox = box // as a toolbox is marked where a server has the same name
	}
	switch {
	case a.toolbox != "":
	case len(boxes) == 1:
		a.toolbox = boxes[0]
	case len(boxes) == 0:
		a.toolbox = firstToolbox
	case a.asks():
		choice, err := a.screen.Choose(a.ctx, "Which toolbox?", boxes)
		if err != nil {
			return err
		}
		a.toolbox = boxes[choice]
	default:
		return &toolbox.Error{
			Code:    toolbox.ToolboxUnclear,
			Message: "There are several toolboxes, and it is not clear which one to add to",
			Hint:    "Add --toolbox with one of them or a new name: " + tty.CleanLine(strings.Join(boxes, ", ")),
		}
	}
	var taken []string
	for _, server := range (configwrite.Entry{Toolbox: a.toolbox}).Servers(a.Outline) {
		taken = append(taken, server.Name)
	}
	err := a.ChooseNames(a.toolbox, taken)
	if err == nil && !slices.Contains(boxes, a.toolbox) {
		err = refuseSlash("toolbox", a.toolbox, "Name it without a slash, such as '"+strings.ReplaceAll(a.toolbox, "/", "-")+"'")
	}
	switch {
	case err != nil:
		return err
	case !slices.Contains(boxes, a.toolbox):
		if err := refuseUnreadable("the name of the new toolbox", a.toolbox); err != nil {
			return err
		}
		return a.makeToolbox(a.toolbox)
	case a.flags.description != "":
		return a.describe(a.toolbox, a.flags.description)
	}
	return nil
}

// addServer adds one server to the configuration, and its secrets to workbench.env.
func (a *addition) addServer(server clients.Server, names *configwrite.Names) error {
	definition, err := server.Definition()
	if err != nil {
		return err
	}
	before := len(names.Added())
	entry, found, err := configwrite.Conceal(server.Name, definition, names)
	if err != nil {
		return err
	}
	a.moved = append(a.moved, names.Added()[before:]...)
	for _, finding := range found {
		if finding.Name == "" {
			fmt.Fprintf(a.stderr, "A possible secret in %s does not fit into workbench.env, and stays in the configuration.\n", tty.CleanLine(finding.Where))
			continue
		}
		a.storeVariable(finding.Name)
	}
	a.written = append(a.written, entry)
	a.entries = append(a.entries, a.toolbox+"/"+server.Name)
	return a.Set((configwrite.Entry{Toolbox: a.toolbox, Server: server.Name}).Path(), entry)
}

// storeVariable stores a value that only the environment of this terminal has: a client started from
// a desktop does not have it.
func (a *addition) storeVariable(name string) {
	value, ok := a.Variable(name)
	if ok && !a.isMoved(name) && !a.IsStored(name) {
		a.moved = append(a.moved, configwrite.Variable{Name: name, Value: value})
	}
}

// report prints the result and the next steps.
func (a *addition) report(logins []remote) {
	var names []string
	for _, server := range a.Servers {
		names = append(names, "'"+tty.CleanLine(server.Name)+"'")
	}
	a.reportDone("Added %s to toolbox '%s' in %s.", strings.Join(names, ", "), tty.CleanLine(a.toolbox), shortenHome(a.Path))
	if slices.Contains(a.described, a.toolbox) && a.Has(configwrite.Entry{Toolbox: a.toolbox}) {
		fmt.Fprintf(a.screen, "The description of toolbox '%s' is now: %s\n", tty.CleanLine(a.toolbox), tty.CleanLine(a.flags.description))
	}
	if len(a.moved) > 0 {
		var variables []string
		for _, variable := range a.moved {
			variables = append(variables, variable.Name)
		}
		fmt.Fprintf(a.screen, "Stored in workbench.env beside it, which only you can read: %s. Keep that file out of version control.\n", tty.CleanLine(strings.Join(variables, ", ")))
	}
	for _, one := range logins {
		fmt.Fprintf(a.screen, "%s '%s' asks for a login. Next: %s\n", a.screen.Paint(tty.Caution, "!"), tty.CleanLine(one.server.Name), loginCommand(one, a.Path))
	}
	fmt.Fprintf(a.screen, "To check that it works: %s\n", commandOn(a.Path, "doctor", a.toolbox))
}

// needLogin returns the added servers that need a login, and those that did not answer. Servers of a file that is not
// trusted are not contacted.
func (a *addition) needLogin() (needed, unanswered []remote) {
	if !slices.ContainsFunc(a.Servers, func(s clients.Server) bool { return s.URL != "" }) {
		return nil, nil
	}
	if a.isLocal {
		if untrusted, err := loader.CheckTrustAt(a.Path); err != nil || untrusted != nil {
			return nil, nil
		}
	}
	return needLogin(a.ctx, a.Path, func(toolbox, server string) bool {
		return toolbox == a.toolbox && slices.ContainsFunc(a.Servers, func(s clients.Server) bool { return s.Name == server })
	})
}

// makeToolbox adds a new toolbox.
func (a *addition) makeToolbox(name string) error {
	var served []string
	for _, server := range a.Servers {
		if !server.Disabled || !slices.ContainsFunc(a.Servers, func(s clients.Server) bool { return !s.Disabled }) {
			served = append(served, server.Name)
		}
	}
	description := a.flags.description
	if description == "" {
		description = importer.Describe(served)
		if a.asks() {
			answer, err := a.screen.Ask(a.ctx, fmt.Sprintf("What is the new toolbox '%s' for? Models read this.", tty.CleanLine(name)), description)
			if err != nil {
				return err
			}
			description = answer
		}
	}
	if err := a.describe(name, description); err != nil {
		return err
	}
	return a.Set([]string{"toolboxes", name, "mcpServers"}, []byte("{}"))
}

// asks reports whether questions can be asked.
func (a *addition) asks() bool { return a.screen.IsInteractive() && !a.flags.yes }

// isMoved reports whether a variable goes into workbench.env.
func (a *addition) isMoved(name string) bool {
	return slices.ContainsFunc(a.moved, func(v configwrite.Variable) bool { return v.Name == name })
}

// askForUnset asks for the values of variables that have none, and writes all moved or typed values to workbench.env.
// The check of the configuration reports variables without an answer.
func (a *addition) askForUnset() error {
	for _, entry := range a.written {
		for _, name := range importer.ReferredVariables(entry) {
			if _, isSet := a.Variable(name); isSet || a.isMoved(name) || !a.asks() {
				continue
			}
			value, err := a.screen.Secret(a.ctx, name+" has no value. Type it (it is not shown), or press Enter to leave it:")
			if err != nil {
				return err
			}
			if value != "" {
				a.moved = append(a.moved, configwrite.Variable{Name: name, Value: value})
			}
		}
	}
	if len(a.moved) > 0 {
		a.Next.Env = configwrite.AppendVariables(a.Next.Env, a.moved)
	}
	return nil
}
