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

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Environment is that of clients which were not started from where the workbench was. A server
// for which it makes no difference is shared with clients of other environments, and has that
// of the first; for one that would get other variables, or be another program, there is a copy.
type Environment struct {
	fleet   *Fleet
	environ []string

	mu      sync.Mutex
	config  *config.Config          // as the file is to be read in it; nil: as the fleet has it
	unread  *config.Error           // why some of it, or all, cannot be read there; nil: all can
	servers map[*Server]*difference // that were looked at; nil: none
}

// difference is what an environment changes about a server.
type difference struct {
	config    config.Server // with the environment's values of variables
	environ   []string
	variables []string // names of those that have other values
	command   string   // the file that its command is; "" if it is the same
	digest    string
	secrets   []string // of the configuration there
}

// NewEnvironment makes an environment; cfg is the configuration with its variables expanded
// there, nil if that is the same. Unread is why some of it, or all, cannot be read there: servers
// that it lacks are faulty then, since the values of others are not for these clients. Close it
// when its clients are gone.
func (f *Fleet) NewEnvironment(environ []string, cfg *config.Config, unread *config.Error) *Environment {
	e := &Environment{fleet: f, environ: environ}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.environments == nil {
		f.environments = make(map[*Environment]struct{})
	}
	f.environments[e] = struct{}{}
	e.setConfig(cfg, unread)
	f.mask()
	return e
}

// Close forgets the environment. Its secrets are masked as long as a server runs with them.
func (e *Environment) Close() {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	delete(e.fleet.environments, e)
}

// SetConfig changes the configuration, together with the fleet's own; see NewEnvironment.
func (e *Environment) SetConfig(cfg *config.Config, unread *config.Error) {
	e.setConfig(cfg, unread)
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	e.fleet.mask()
}

func (e *Environment) setConfig(cfg *config.Config, unread *config.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.config, e.unread, e.servers = cfg, unread, make(map[*Server]*difference)
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

// variantSecrets are the variants that have secrets of an environment, which may be gone, or have others by now.
type variantSecrets struct {
	mu  sync.Mutex
	all map[*Server]struct{}
}

func (a *variantSecrets) add(variant *Server) {
	if variant.differs == nil || len(variant.differs.secrets) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = make(map[*Server]struct{})
	}
	a.all[variant] = struct{}{}
}

// secrets returns those of the variants that are in use, or still run.
func (a *variantSecrets) secrets() (all []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for variant := range a.all {
		if variant.isDismissed() && variant.lives.Load() == 0 {
			delete(a.all, variant)
			continue
		}
		all = append(all, variant.differs.secrets...)
	}
	return all
}

// differenceFor returns what is other about a configured server; nil if nothing is. The fleet's own
// environment is nil.
func (e *Environment) differenceFor(s *Server) *difference {
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
	if e.config != nil {
		d.secrets = e.config.Secrets
	}
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

// definition returns the server as the configuration has it here. One that it does not have is
// faulty: the fleet's own definition may hold values of another environment.
func (e *Environment) definition(s *Server) config.Server {
	if e.config == nil && e.unread == nil {
		return s.config
	}
	if e.config != nil {
		for _, box := range e.config.Toolboxes {
			for _, server := range box.Servers {
				if box.Name == s.toolbox && server.Name == s.Name() {
					return server
				}
			}
		}
	}
	fault := e.unread
	if fault == nil {
		fault = &config.Error{Code: toolbox.ConfigInvalid, File: e.config.Path, Problems: []config.Problem{{
			Message: "with the environment variables of this client, the configuration has no such server; start the client again",
		}}}
	}
	return config.Server{Name: s.Name(), Fault: fault}
}

// otherValues names the variables of the configuration that are other here.
func (e *Environment) otherValues(s *Server) (names []string) {
	if e.config == nil {
		return nil
	}
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
