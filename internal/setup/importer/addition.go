package importer

import (
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
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// maxSnippet is the size of a JSON snippet with servers, in bytes.
const maxSnippet = 1 << 20

// Addition is the set of servers that a person adds.
type Addition struct {
	Servers []clients.Server
	Derived bool // the name of the only server was derived
}

// SourceReader reads the servers that a person adds.
type SourceReader struct {
	Stdin  io.Reader
	Remark func(format string, args ...any) // for skipped entries, and notes
	// Choose asks which of several meanings a name has; nil: nobody can be asked.
	Choose func(question string, options []string) (int, error)
}

// Read reads a source: an address, the name of a package, JSON, "-" for JSON on stdin, or @FILE.
func (r *SourceReader) Read(source string) (*Addition, error) {
	trimmed := strings.TrimSpace(source)
	switch {
	case source == "-":
		data, err := io.ReadAll(io.LimitReader(r.Stdin, maxSnippet+1))
		return r.readSnippet(data, err)
	case strings.HasPrefix(source, "@") && isSnippetFile(source[1:], source):
		file, err := os.Open(source[1:])
		if err != nil {
			return r.readSnippet(nil, err)
		}
		defer file.Close()
		data, err := io.ReadAll(io.LimitReader(file, maxSnippet+1))
		return r.readSnippet(data, err)
	case strings.HasPrefix(trimmed, "{"), strings.HasPrefix(trimmed, `"`):
		return r.readSnippet([]byte(source), nil)
	case IsAddress(source):
		server, err := Address(source)
		return &Addition{Servers: []clients.Server{server}, Derived: true}, err
	}
	server, err := r.readPackage(source)
	return &Addition{Servers: []clients.Server{server}, Derived: true}, err
}

// isSnippetFile distinguishes @file from @scope/package: an ambiguous argument is the file if it exists.
func isSnippetFile(path, source string) bool {
	if _, from, ok := Package(source); !ok || from != NPM {
		return true
	}
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func (r *SourceReader) readSnippet(data []byte, err error) (*Addition, error) {
	if err == nil && len(data) > maxSnippet {
		err = fmt.Errorf("it is longer than %d bytes", maxSnippet)
	}
	if err != nil {
		return nil, &toolbox.Error{
			Code:    toolbox.SnippetUnknown,
			Message: fmt.Sprintf("The JSON cannot be read: %v", err),
			Hint:    "Name a file as @FILE, or give the JSON as one argument in quotes.",
			Cause:   err,
		}
	}
	source, err := clients.ReadSnippet(clients.ThisMachine(), data)
	if err != nil {
		return nil, err
	}
	for _, skipped := range source.Skipped {
		r.Remark("Left out: '%s': %s.", tty.CleanLine(skipped.Name), tty.CleanLine(skipped.Reason))
	}
	for _, name := range source.Self {
		r.Remark("Left out: '%s' is the workbench itself.", tty.CleanLine(name))
	}
	a := &Addition{}
	for _, server := range source.Servers {
		if server.Name == "" {
			server.Name, a.Derived = Name(server), true
		}
		if own := server.Name; simpleName(own) != own {
			server.Name = simpleName(own)
			r.Remark("'%s' is called '%s', since a slash stands between toolbox, server and tool.", tty.CleanLine(own), tty.CleanLine(server.Name))
		}
		for _, note := range server.Notes {
			r.Remark("'%s': %s.", tty.CleanLine(server.Name), tty.CleanLine(note))
		}
		a.Servers = append(a.Servers, server)
	}
	if len(a.Servers) == 0 {
		return nil, errUnclear("The JSON has no server that can be added", "See above why not.")
	}
	return a, nil
}

// readPackage reads a package name. A person decides if it may be on npm or PyPI.
func (r *SourceReader) readPackage(source string) (clients.Server, error) {
	name, from, ok := Package(source)
	if !ok {
		return clients.Server{}, errUnclear("It is not clear what to add: this is not a URL, a package or JSON",
			"A command comes after --, as in: mcp-workbench add NAME -- npx -y PACKAGE")
	}
	if from != Unclear {
		return FromPackage(name, from), nil
	}
	_, err := exec.LookPath(name)
	isProgram := err == nil
	if r.Choose == nil {
		hint := fmt.Sprintf("For an npm package write npm:%[1]s, for a Python package pypi:%[1]s", name)
		if isProgram {
			hint += ", and for the program of this machine: add -- " + name
		}
		return clients.Server{}, errUnclear(fmt.Sprintf("'%s' may be an npm package or a Python package", name), hint+".")
	}
	options := []string{"the npm package (npx -y " + name + ")", "the Python package (uvx " + name + ")"}
	if isProgram {
		options = append(options, "the program of this machine ("+name+")")
	}
	choice, err := r.Choose(fmt.Sprintf("What is '%s'?", name), options)
	if err != nil {
		return clients.Server{}, err
	}
	return []clients.Server{FromPackage(name, NPM), FromPackage(name, PyPI), Command([]string{name})}[choice], nil
}

// errUnclear is the error for a source that may be several things, or none.
func errUnclear(message, hint string) error {
	return &toolbox.Error{Code: toolbox.AddSourceUnclear, Message: message, Hint: hint}
}

// Overrides are settings from the command line.
type Overrides struct {
	Env, Headers []clients.Setting
	Dir          string
	SSE          bool
	Disabled     bool
}

// Override applies settings to all servers.
func (a *Addition) Override(o Overrides) error {
	for i := range a.Servers {
		server := &a.Servers[i]
		isRemote := server.URL != ""
		switch {
		case isRemote && (len(o.Env) > 0 || o.Dir != ""):
			return fmt.Errorf("'%s' is a remote server, which takes --header but neither --env nor --cwd", server.Name)
		case !isRemote && (len(o.Headers) > 0 || o.SSE):
			return fmt.Errorf("'%s' is started by a command, which takes --env but neither --header nor --sse", server.Name)
		}
		server.Env = mergeSettings(server.Env, o.Env)
		server.Headers = mergeSettings(server.Headers, o.Headers)
		if o.Dir != "" {
			server.Dir = o.Dir
		}
		if o.SSE {
			server.Transport = "sse"
		}
		server.Disabled = server.Disabled || o.Disabled
	}
	return nil
}

// ParseSettings parses NAME=VALUE. Errors do not show values, which may be secret.
func ParseSettings(texts []string, flag, separators string) ([]clients.Setting, error) {
	var found []clients.Setting
	for i, text := range texts {
		at := strings.IndexAny(text, separators)
		if at <= 0 {
			return nil, fmt.Errorf("%s takes NAME=VALUE; number %d has no name or no '='", flag, i+1)
		}
		found = append(found, clients.Setting{Name: strings.TrimSpace(text[:at]), Value: strings.TrimLeft(text[at+1:], " ")})
	}
	return found, nil
}

// mergeSettings overrides settings of the same name.
func mergeSettings(base, over []clients.Setting) []clients.Setting {
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

// ChooseNames gives the servers names that are free in a toolbox, given the names taken there.
func (a *Addition) ChooseNames(box string, taken []string) error {
	for i := range a.Servers {
		if a.Derived {
			a.Servers[i].Name = Unique(a.Servers[i].Name, taken)
		}
		name := a.Servers[i].Name
		if slices.Contains(taken, name) {
			return &toolbox.Error{
				Code:    toolbox.ServerExists,
				Message: fmt.Sprintf("Toolbox '%s' has a server '%s' already", tty.CleanLine(box), tty.CleanLine(name)),
				Hint: fmt.Sprintf("Give the new one another name, such as '%s', or remove the old one first: mcp-workbench remove %s",
					Unique(name, taken), trust.Quote(configwrite.Entry{Toolbox: box, Server: name}.String())),
			}
		}
		taken = append(taken, name)
	}
	return nil
}

var referredVariable = regexp.MustCompile(`(^|[^$])\$\{([A-Z_][A-Z0-9_]*)\}`)

// ReferredVariables returns the variables without a default that an entry of a configuration refers to.
func ReferredVariables(entry []byte) []string {
	var names []string
	for _, match := range referredVariable.FindAllSubmatch(entry, -1) {
		names = append(names, string(match[2]))
	}
	return names
}
