// Package config reads the configuration file: it finds it, parses it, expands
// variables, reports every problem with its position, and describes the file's
// keys as a JSON Schema.
package config

import (
	"bytes"
	_ "embed"
	"path/filepath"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// ToolMode is how the tools of the toolboxes are shown to a client.
type ToolMode string

// The modes.
const (
	Proxy   ToolMode = "proxy"   // through open_toolbox and use_tool
	Dynamic ToolMode = "dynamic" // also natively, once a toolbox is open
	Direct  ToolMode = "direct"  // natively, all of them, without the meta-tools
)

// Values that hold where the file says nothing.
const (
	// DefaultIdle is timeouts.idle of a workbench that serves several clients, where the file
	// says nothing. With one client, whose end ends everything, servers stay.
	DefaultIdle = 30 * time.Minute
	// IdleUnset says that the file says nothing.
	IdleUnset = time.Duration(-1)

	DefaultConnectTimeout = 30 * time.Second // for a server to start and list its tools; timeouts.connect
	DefaultCallTimeout    = 5 * time.Minute  // without a sign of life before a call fails; timeouts.call
	DefaultMaxMessageSize = 64 << 20
)

// Config is a configuration with every variable expanded and every setting resolved. It
// is valid but for servers that have a Fault; see Strict.
type Config struct {
	Path           string    // absolute path of the file that the keys at the top are from; "" if there is none
	Files          []File    // all that it was read from, in the order of their toolboxes
	ToolMode       ToolMode  // Proxy unless set
	Toolboxes      []Toolbox // in file order
	LogLevel       string    // debug, info, warn or error; "" if not set
	MaxMessageSize int       // in bytes
	Discovery      Discovery
	Policy         Policy
	HTTP           HTTP
	Shared         Shared
	ListOpened     bool       // list prompts, resources and templates of opened toolboxes only
	Prefetch       bool       // ask servers that were never seen what they offer
	Locked         bool       // offer only tools that the lock approves; see Files
	LockAssumed    bool       // where Locked: the file may say so, but cannot be read; see Withheld
	Timeouts       Timeouts   // what toolboxes inherit
	InheritEnv     InheritEnv // the same
	Warnings       []Problem  // what was accepted but is probably not meant, in file order
	Secrets        []string   // values that must not be shown, longest first
	Variables      []string   // names that ${VAR} asked for, set or not, sorted
	OuterVariables []string   // of these, the ones that were asked for outside of servers
}

// File is one file that a configuration was read from, with what counts for its toolboxes
// alone.
type File struct {
	Path      string   // absolute
	Toolboxes []string // by name and in order, also those that are not used
	Locked    bool
	LockedBy  string // where Locked: the file that says so, this one or the user's
	Assumed   bool   // where Locked: the user's file may say so, but cannot be read
	Lock      []byte // where Locked: content of the file LockPath; nil without one
}

// Toolbox is a named group of servers.
type Toolbox struct {
	Name        string
	File        string   // absolute path of the file that it is from; "" if there is none
	Description string   // "" if not set
	Servers     []Server // in file order, disabled ones included
}

// Server is one downstream server. Exactly one of Builtin, Command and URL is set, and none
// if it has a Fault.
type Server struct {
	Name string

	// Fault is what is wrong inside the server; nil if nothing is. Such a server counts as
	// one that cannot connect, and nothing is left of it that could be run.
	Fault *Error

	Builtin string // one of the workbench's own servers: files, notes or clock

	Command string
	Args    []string
	Env     []Variable // in file order
	Dir     string     // absolute; "" runs the server in the workbench's own folder

	URL     string
	Headers []Variable // in file order

	Transport    string // "stdio", "http" or "sse"; "" leaves it to Command and URL
	Filter       toolbox.Filter
	Timeouts     Timeouts   // the server's own, else its toolbox's, the file's, the defaults
	InheritEnv   InheritEnv // resolved in the same order
	Disabled     bool
	KeepDetached bool
}

// Variable is a name with its value: an environment variable or an HTTP header.
type Variable struct{ Name, Value string }

// Timeouts bound what a server may take. Idle zero means that an idle server is
// never stopped; below zero (IdleUnset), the file does not say it.
type Timeouts struct{ Connect, Call, Idle time.Duration }

func defaultTimeouts() Timeouts {
	return Timeouts{Connect: DefaultConnectTimeout, Call: DefaultCallTimeout, Idle: IdleUnset}
}

// InheritEnv says which variables of the workbench's own environment a server
// gets beyond the usual short list: all, or those that match a pattern such as
// "AWS_*".
type InheritEnv struct {
	All      bool
	Patterns []string
}

// ParseOptions is what Parse needs to know of the world around the file.
type ParseOptions struct {
	Dir    string                      // the file's folder, where a relative cwd starts
	Lookup func(string) (string, bool) // variables for ${VAR}; nil means that none is set
	Home   string                      // what ~ stands for; without it, ~ is an error
	User   *Config                     // of a project's file: the user's own, whose keys at the top count
}

var byteOrderMark = []byte("\uFEFF")

// Parse reads a configuration from data; name is the file's name in errors. It
// touches neither files nor the environment. What is wrong inside one server is that
// server's Fault. An error, which is always an *Error and then holds all that is wrong, is
// for a file that cannot be read as a configuration.
func Parse(name string, data []byte, opts ParseOptions) (*Config, error) {
	if opts.Lookup == nil {
		opts.Lookup = func(string) (string, bool) { return "", false }
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	r := newReport(data)
	root, ok := parseSyntax(data, r)
	if !ok {
		return nil, r.failure(toolbox.ConfigSyntax, name)
	}
	found := &secrets{}
	lookup, variables := noted(opts.Lookup)
	outer, outerVariables := noted(lookup)
	g := &grower{lookup: lookup, outer: outer, envFile: filepath.Join(opts.Dir, EnvFileName), report: r, secrets: found}
	tree := g.value(root, rootPath, false)
	checkRoot(tree, r)
	b := &builder{opts: opts, from: name, report: r, secrets: found, names: map[string]bool{}}
	cfg := b.config(tree)
	if r.failed() {
		return nil, r.failure(toolbox.ConfigInvalid, name)
	}
	b.strip(cfg, name)
	cfg.Warnings, cfg.Variables, cfg.OuterVariables = r.warned(), variables(), outerVariables()
	return cfg, nil
}

//go:embed default.json
var defaultFile []byte

// Default returns the configuration that is used when there is no file: one
// toolbox with the built-in servers.
func Default() *Config {
	cfg, err := Parse("default.json", defaultFile, ParseOptions{})
	if err != nil {
		panic(err) // the document is part of the program, and a test parses it
	}
	return cfg
}

// Empty returns a configuration without toolboxes, for a file that may not be used.
func Empty() *Config {
	return &Config{ToolMode: Proxy, MaxMessageSize: DefaultMaxMessageSize, Timeouts: defaultTimeouts(), Discovery: Discovery{Search: true}, HTTP: defaultHTTP(), Shared: Shared{Idle: DefaultSharedIdle}}
}
