package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// maxSnippet is how long JSON with servers may be.
const maxSnippet = 1 << 20

// addition is what 'add' works on.
type addition struct {
	*edit
	flags  addFlags
	ctx    context.Context // of the command, for its questions
	stdin  io.Reader
	stderr io.Writer

	servers []clients.Server
	derived bool // the name of the only one was made up
	toolbox string
	entries [][]byte               // of the servers, as they are written
	moved   []configwrite.Variable // for workbench.env
}

// read finds out what is to be added.
func (a *addition) read(args []string, dash int) error {
	if dash >= 0 {
		a.servers, a.derived = []clients.Server{importer.Command(args[dash:])}, true
		return a.rename(args[:dash])
	}
	source := args[len(args)-1]
	if err := a.readSource(source); err != nil {
		return err
	}
	return a.rename(args[:len(args)-1])
}

// rename gives a server the name that was asked for.
func (a *addition) rename(names []string) error {
	if len(names) == 1 {
		a.derived = false
		if len(a.servers) > 1 {
			return &usageError{err: fmt.Errorf("the JSON holds %d servers, which have names of their own", len(a.servers))}
		}
		a.servers[0].Name = names[0]
	}
	return nil
}

func (a *addition) readSource(source string) error {
	trimmed := strings.TrimSpace(source)
	switch {
	case source == "-":
		data, err := io.ReadAll(io.LimitReader(a.stdin, maxSnippet+1))
		return a.readSnippet(data, err)
	case strings.HasPrefix(source, "@") && isSnippetFile(source[1:], source):
		file, err := os.Open(source[1:])
		if err != nil {
			return a.readSnippet(nil, err)
		}
		defer file.Close()
		data, err := io.ReadAll(io.LimitReader(file, maxSnippet+1))
		return a.readSnippet(data, err)
	case strings.HasPrefix(trimmed, "{"), strings.HasPrefix(trimmed, `"`):
		return a.readSnippet([]byte(source), nil)
	case importer.IsAddress(source):
		server, err := importer.Address(source)
		a.servers, a.derived = []clients.Server{server}, true
		return err
	}
	a.derived = true
	return a.readPackage(source)
}

// isSnippetFile tells @file from @scope/package: what looks like both is the file if it
// exists.
func isSnippetFile(path, source string) bool {
	if _, from, ok := importer.Package(source); !ok || from != importer.NPM {
		return true
	}
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func (a *addition) readSnippet(data []byte, err error) error {
	if err == nil && len(data) > maxSnippet {
		err = fmt.Errorf("it is longer than %d bytes", maxSnippet)
	}
	if err != nil {
		return &toolbox.Error{
			Code:    toolbox.SnippetUnknown,
			Message: fmt.Sprintf("The JSON cannot be read: %v", err),
			Hint:    "Name a file as @FILE, or give the JSON as one argument in quotes.",
			Cause:   err,
		}
	}
	source, err := clients.ReadSnippet(clients.ThisMachine(), data)
	if err != nil {
		return err
	}
	for _, skipped := range source.Skipped {
		fmt.Fprintf(a.stderr, "Left out: '%s': %s.\n", tty.CleanLine(skipped.Name), tty.CleanLine(skipped.Reason))
	}
	for _, name := range source.Self {
		fmt.Fprintf(a.stderr, "Left out: '%s' is the workbench itself.\n", tty.CleanLine(name))
	}
	for _, server := range source.Servers {
		if server.Name == "" {
			server.Name, a.derived = importer.Name(server), true
		}
		for _, note := range server.Notes {
			fmt.Fprintf(a.stderr, "'%s': %s.\n", tty.CleanLine(server.Name), tty.CleanLine(note))
		}
		a.servers = append(a.servers, server)
	}
	if len(a.servers) == 0 {
		return errUnclear("There is no server in the JSON that can be added", "See above why not.")
	}
	return nil
}

// readPackage takes a name for that of a package; where it may be one of npm or one of
// Python, a person decides.
func (a *addition) readPackage(source string) error {
	name, from, ok := importer.Package(source)
	if !ok {
		return errUnclear("It is not clear what to add: this is no address, no package and no JSON",
			"A command comes after --, as in: mcp-workbench add NAME -- npx -y PACKAGE")
	}
	if from != importer.Unclear {
		a.servers = []clients.Server{importer.FromPackage(name, from)}
		return nil
	}
	_, err := exec.LookPath(name)
	isProgram := err == nil
	if !a.asks() {
		hint := fmt.Sprintf("For an npm package write npm:%[1]s, for a Python package pypi:%[1]s", name)
		if isProgram {
			hint += ", and for the program of this machine: add -- " + name
		}
		return errUnclear(fmt.Sprintf("'%s' may be an npm package or a Python package", name), hint+".")
	}
	options := []string{"the npm package (npx -y " + name + ")", "the Python package (uvx " + name + ")"}
	if isProgram {
		options = append(options, "the program of this machine ("+name+")")
	}
	choice, err := a.screen.Choose(a.ctx, fmt.Sprintf("What is '%s'?", name), options)
	if err != nil {
		return err
	}
	server := []clients.Server{importer.FromPackage(name, importer.NPM), importer.FromPackage(name, importer.PyPI), importer.Command([]string{name})}[choice]
	a.servers = []clients.Server{server}
	return nil
}

// applyFlags gives the servers what the command line says.
func (a *addition) applyFlags() error {
	env, err := settings(a.flags.env, "--env", "=")
	if err != nil {
		return err
	}
	headers, err := settings(a.flags.headers, "--header", "=:")
	if err != nil {
		return err
	}
	for i := range a.servers {
		server := &a.servers[i]
		isRemote := server.URL != ""
		switch {
		case isRemote && (len(env) > 0 || a.flags.cwd != ""):
			return &usageError{err: fmt.Errorf("'%s' is a remote server, which takes --header but neither --env nor --cwd", server.Name)}
		case !isRemote && (len(headers) > 0 || a.flags.sse):
			return &usageError{err: fmt.Errorf("'%s' is started by a command, which takes --env but neither --header nor --sse", server.Name)}
		}
		server.Env = merge(server.Env, env)
		server.Headers = merge(server.Headers, headers)
		if a.flags.cwd != "" {
			server.Dir = a.flags.cwd
		}
		if a.flags.sse {
			server.Transport = "sse"
		}
		server.Disabled = server.Disabled || a.flags.disabled
	}
	return nil
}

// settings reads NAME=VALUE. What is wrong with one is said without its value.
func settings(texts []string, flag, separators string) ([]clients.Setting, error) {
	var found []clients.Setting
	for i, text := range texts {
		at := strings.IndexAny(text, separators)
		if at <= 0 {
			return nil, &usageError{err: fmt.Errorf("%s takes NAME=VALUE; number %d has no name or no '='", flag, i+1)}
		}
		found = append(found, clients.Setting{Name: strings.TrimSpace(text[:at]), Value: strings.TrimLeft(text[at+1:], " ")})
	}
	return found, nil
}

// merge puts settings over others of the same name.
func merge(base, over []clients.Setting) []clients.Setting {
	merged := slices.Clone(base)
	for _, setting := range over {
		at := slices.IndexFunc(merged, func(s clients.Setting) bool { return s.Name == setting.Name })
		if at >= 0 {
			merged[at] = setting
			continue
		}
		merged = append(merged, setting)
	}
	return merged
}

// newToolbox is the name of the first toolbox, where none was asked for.
const newToolbox = "tools"

// chooseToolbox decides where the servers go, makes the toolbox if need be, and gives the
// servers names that are free in it.
func (a *addition) chooseToolbox() error {
	var boxes []string
	for _, box := range a.Outline.Toolboxes {
		boxes = append(boxes, box.Name)
	}
	a.toolbox = a.flags.toolbox
	switch {
	case a.toolbox != "":
	case len(boxes) == 1:
		a.toolbox = boxes[0]
	case len(boxes) == 0:
		a.toolbox = newToolbox
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
	if err := a.chooseNames(); err != nil {
		return err
	}
	if slices.Contains(boxes, a.toolbox) {
		return nil
	}
	return a.makeToolbox(a.toolbox)
}

func (a *addition) chooseNames() error {
	var taken []string
	for _, server := range (configwrite.Entry{Toolbox: a.toolbox}).Servers(a.Outline) {
		taken = append(taken, server.Name)
	}
	for i := range a.servers {
		if a.derived {
			a.servers[i].Name = importer.Unique(a.servers[i].Name, taken)
		}
		name := a.servers[i].Name
		if slices.Contains(taken, name) {
			return &toolbox.Error{
				Code:    toolbox.ServerExists,
				Message: fmt.Sprintf("Toolbox '%s' has a server '%s' already", tty.CleanLine(a.toolbox), tty.CleanLine(name)),
				Hint: fmt.Sprintf("Give the new one another name, such as '%s', or take the old one out first: mcp-workbench remove %s",
					importer.Unique(name, taken), trust.Quote(configwrite.Entry{Toolbox: a.toolbox, Server: name}.String())),
			}
		}
		taken = append(taken, name)
	}
	return nil
}

var referredVariable = regexp.MustCompile(`(^|[^$])\$\{([A-Z_][A-Z0-9_]*)\}`)

// askForUnset asks for the values of variables that have none, and puts everything that
// was moved or typed into workbench.env. What is not answered is left to the check of the
// configuration.
func (a *addition) askForUnset() error {
	for _, entry := range a.entries {
		for _, match := range referredVariable.FindAllSubmatch(entry, -1) {
			name := string(match[2])
			_, isSet := a.Variable(name)
			isMoved := slices.ContainsFunc(a.moved, func(v configwrite.Variable) bool { return v.Name == name })
			if isSet || isMoved || !a.asks() {
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
