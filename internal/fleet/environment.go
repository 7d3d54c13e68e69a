package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/process"
)

// Environment is that of clients which were not started from where the workbench was. A server
// for which it makes no difference is shared with clients of other environments, and has that
// of the first; for one that would get other variables, or be another program, there is a copy.
type Environment struct {
	fleet   *Fleet
	environ []string

	mu      sync.Mutex
	config  *config.Config          // as the file is to be read in it; nil: as the fleet has it
	servers map[*Server]*difference // that were looked at; nil: none
}

// difference is what an environment changes about a server.
type difference struct {
	config    config.Server // with the environment's values of variables
	environ   []string
	variables []string // names of those that have other values
	command   string   // the file that its command is; "" if it is the same
	digest    string
}

// NewEnvironment makes an environment; cfg is the configuration with its variables expanded
// there, nil if that is the same. Close it when its clients are gone.
func (f *Fleet) NewEnvironment(environ []string, cfg *config.Config) *Environment {
	e := &Environment{fleet: f, environ: environ}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.environments == nil {
		f.environments = make(map[*Environment]struct{})
	}
	f.environments[e] = struct{}{}
	e.set(cfg)
	f.mask()
	return e
}

// Close forgets the environment.
func (e *Environment) Close() {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	delete(e.fleet.environments, e)
}

// SetConfig changes the configuration, together with the fleet's own.
func (e *Environment) SetConfig(cfg *config.Config) {
	e.set(cfg)
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	e.fleet.mask()
}

func (e *Environment) set(cfg *config.Config) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.config, e.servers = cfg, make(map[*Server]*difference)
}

// secrets are those that the environment adds to the fleet's.
func (e *Environment) secrets() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.config == nil {
		return nil
	}
	return e.config.Secrets
}

// differs returns what is other about a configured server; nil if nothing is. The fleet's own
// environment is nil.
func (e *Environment) differs(s *Server) *difference {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	d, known := e.servers[s]
	if !known {
		d = e.compare(s)
		e.servers[s] = d
	}
	return d
}

// compare is called with mu held.
func (e *Environment) compare(s *Server) *difference {
	d := &difference{config: e.definition(s), environ: e.environ}
	ours, theirs := childEnvironment(s.fleet.options.Environ, &s.config), childEnvironment(e.environ, &d.config)
	if d.config.URL == "" {
		for name := range union(ours, theirs) {
			if value, ok := ours[name]; (value != theirs[name] || ok != has(theirs, name)) && !process.IsIncidental(name) {
				d.variables = append(d.variables, name)
			}
		}
		slices.Sort(d.variables)
		if file := commandFile(&d.config, theirs); file != commandFile(&s.config, ours) {
			d.command = file
		}
	}
	isSame := reflect.DeepEqual(d.config, s.config)
	if isSame && len(d.variables) == 0 && d.command == "" {
		return nil
	}
	if !isSame && len(d.variables) == 0 {
		d.variables = e.otherValues(s)
	}
	sum := sha256.New()
	key := definitionKey(s.toolbox, d.config)
	fmt.Fprintf(sum, "%x %q %q %q %v %v %s", key, d.config.Headers, d.command, d.config.Filter.String(), d.config.Timeouts, d.config.InheritEnv, faultOf(&d.config))
	for _, name := range d.variables {
		fmt.Fprintf(sum, "%q=%q %t\n", name, theirs[name], has(theirs, name))
	}
	d.digest = hex.EncodeToString(sum.Sum(nil))
	return d
}

// definition returns the server as the configuration has it here.
func (e *Environment) definition(s *Server) config.Server {
	if e.config != nil {
		for _, box := range e.config.Toolboxes {
			for _, server := range box.Servers {
				if box.Name == s.toolbox && server.Name == s.Name() {
					return server
				}
			}
		}
	}
	return s.config
}

// otherValues names the variables of the configuration that are other here.
func (e *Environment) otherValues(s *Server) (names []string) {
	ours, theirs := variablesOf(s.fleet.options.Environ), variablesOf(e.environ)
	for _, name := range e.config.Variables {
		if ours[name] != theirs[name] || has(ours, name) != has(theirs, name) {
			names = append(names, name)
		}
	}
	return names
}

func faultOf(server *config.Server) string {
	if server.Fault == nil {
		return ""
	}
	return server.Fault.Error()
}

// childEnvironment is what a server's process would have in its environment.
func childEnvironment(environ []string, server *config.Server) map[string]string {
	extra := make([]string, len(server.Env))
	for i, variable := range server.Env {
		extra[i] = variable.Name + "=" + variable.Value
	}
	env, _ := process.Environment(environ, process.Inherit{All: server.InheritEnv.All, Patterns: server.InheritEnv.Patterns}, extra)
	return variablesOf(env)
}

// variablesOf returns an environment as a map; the last of two values for one name holds.
func variablesOf(environ []string) map[string]string {
	variables := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			variables[name] = value
		}
	}
	return variables
}

func has(variables map[string]string, name string) bool {
	_, ok := variables[name]
	return ok
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// commandFile returns the file that a command is with that environment; "" for a command that
// is a path already, or is not found.
func commandFile(server *config.Server, env map[string]string) string {
	if server.Command == "" || filepath.Base(server.Command) != server.Command {
		return ""
	}
	path := env["PATH"]
	for name, value := range env {
		if runtime.GOOS == "windows" && strings.EqualFold(name, "PATH") {
			path = value
		}
	}
	found := process.LookPath(server.Command, path)
	if found == "" {
		return ""
	}
	if file, err := filepath.EvalSymlinks(found); err == nil {
		return file
	}
	return found
}
