package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// Environment holds the environment variables of clients that were not started where the workbench was. A server that
// does not depend on them is shared with clients of other environments, and runs in the environment of the first. A
// server that would get other variables, or run another program, has a variant of its own.
type Environment struct {
	fleet   *Fleet
	environ []string

	mu      sync.Mutex
	config  *config.Config          // with the variables expanded here; nil: the fleet's
	unread  *config.Error           // why the configuration, or a part of it, cannot be read here; nil: it can
	servers map[*Server]*difference // compared so far; nil: no difference
}

// difference describes what an environment changes about a server.
type difference struct {
	config    config.Server // with the environment's values of variables
	environ   []string
	variables []string // names of variables with other values
	command   string   // the executable of its command; "" if it is the same
	digest    string
	secrets   []string // of the configuration in this environment
}

// NewEnvironment makes an environment. cfg is the configuration with its variables expanded in it, nil if that makes no
// difference. unread is the error if the configuration, or a part of it, cannot be read there: missing servers are
// faulty then, since the values of other environments are not for these clients. Close it when its clients are gone.
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

// Close removes the environment. Its secrets stay masked as long as a server runs with them.
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

// secrets returns the secrets that the environment adds to those of the fleet.
func (e *Environment) secrets() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.config == nil {
		return nil
	}
	return e.config.Secrets
}

// variantSecrets holds the variants with secrets of an environment, which may be closed or changed by now.
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

// secrets returns the secrets of variants that are in use or still running.
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

// differenceFor returns what the environment changes about a configured server; nil if nothing. A nil Environment is
// that of the workbench.
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

// compare computes the difference for a server. Called with mu held.
func (e *Environment) compare(s *Server) *difference {
	d := &difference{config: e.definition(s), environ: e.environ}
	if e.config != nil {
		d.secrets = e.config.Secrets
	}
	isFull := runsCommands(&s.config) || runsCommands(&d.config)
	ours, theirs := childEnvironment(s.fleet.options.Environ, asCompared(&s.config)), childEnvironment(e.environ, asCompared(&d.config))
	if d.config.URL == "" || isFull {
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
	for _, form := range d.config.Forms() {
		fmt.Fprintf(sum, "%q %q %q\n", form.Text, form.Name, form.Words)
	}
	for _, settings := range []any{d.config.OAuth, d.config.Sandbox} {
		if encoded, err := json.Marshal(settings); err == nil { // they consist of texts and numbers
			sum.Write(encoded)
		}
	}
	for _, name := range d.variables {
		fmt.Fprintf(sum, "%q=%q %t\n", name, theirs[name], has(theirs, name))
	}
	d.digest = hex.EncodeToString(sum.Sum(nil))
	return d
}

// definition returns the definition of a server in this environment. A missing server is faulty, since the fleet's
// definition may contain values of another environment.
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

// otherValues returns the names of the configuration's variables that have other values here.
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

// childEnvironment returns the environment variables of a server's process.
func childEnvironment(environ []string, server *config.Server) map[string]string {
	extra := make([]string, len(server.Env))
	for i, variable := range server.Env {
		extra[i] = variable.Name + "=" + variable.Value
	}
	env, _ := process.Environment(environ, process.Inherit{All: server.InheritEnv.All, Patterns: server.InheritEnv.Patterns}, extra)
	return variablesOf(env)
}

// variablesOf returns an environment as a map. The last value of a name wins.
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

// commandFile returns the executable of a command in an environment; "" if the command is a path or is not found.
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
