// Package config reads the configuration file: it finds and parses the file, expands variables, reports every problem
// with its position, and generates the JSON Schema of the keys.
package config

import (
	"bytes"
	_ "embed"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// ToolMode is how a client sees the tools of the toolboxes.
type ToolMode string

// The modes.
const (
	Proxy   ToolMode = "proxy"   // through open_toolbox and use_tool
	Dynamic ToolMode = "dynamic" // also natively, once a toolbox is open
	Direct  ToolMode = "direct"  // natively, all of them, without the meta-tools
)

// Defaults of keys that the file does not set.
const (
	// DefaultIdle is the default of timeouts.idle in a workbench with several clients. With a single client, servers
	// run until it leaves.
	DefaultIdle = 30 * time.Minute
	// IdleUnset marks timeouts.idle as not set in the file.
	IdleUnset = time.Duration(-1)

	DefaultConnectTimeout = 30 * time.Second // for a server to start and list its tools; timeouts.connect
	DefaultCallTimeout    = 5 * time.Minute  // for a call without any sign of life; timeouts.call
	DefaultMaxMessageSize = 64 << 20
)

// Config is a configuration with every variable expanded and every setting resolved. It is valid except for servers
// that have a Fault; see Strict.
type Config struct {
	Path           string        // absolute path of the file with the top-level keys; "" without a file
	Named          bool          // commands find the file at Path only if they are told of it; see Source.Named
	Plain          *PlainToolbox // not nil: the file is that of an MCP client
	Files          []File        // all files that were read, in the order of their toolboxes
	ToolMode       ToolMode      // Proxy unless set
	Toolboxes      []Toolbox     // in file order
	LogLevel       string        // debug, info, warn or error; "" if not set
	MaxMessageSize int           // in bytes
	Discovery      Discovery
	Policy         Policy
	HTTP           HTTP
	Credentials    Credentials
	Audit          Audit
	Shared         Shared
	History        History
	Elicitation    Elicitation
	ListOpened     bool       // list only prompts, resources and templates of opened toolboxes
	Prefetch       bool       // start servers without a cached catalogue once, to list what they offer
	Locked         bool       // offer only tools that the lock approves; see Files
	LockAssumed    bool       // with Locked: assumed because the file cannot be read; see Withheld
	Timeouts       Timeouts   // inherited by toolboxes
	InheritEnv     InheritEnv // likewise
	Sandbox        *Sandbox   // of servers with a command; nil: none
	Warnings       []Problem  // accepted but probably unintended, in file order
	Secrets        []string   // values that must not be shown, longest first
	Variables      []string   // names that ${VAR} asked for, set or not, sorted
	OuterVariables []string   // the subset that is used outside of servers
	LoginAdvice    string     // what to do if a server wants a login, where no command can log in; "" otherwise
}

// File is one file that a configuration was read from, with the settings that apply to its toolboxes only.
type File struct {
	Path      string   // absolute
	Toolboxes []string // names in file order, including unused ones
	Locked    bool
	LockedBy  string // with Locked: the file that sets it, this one or the user's
	Assumed   bool   // with Locked: assumed because the user's file cannot be read
	Lock      []byte // with Locked: content of the file LockPath; nil without one
}

// Toolbox is a named group of servers.
type Toolbox struct {
	Name        string
	File        string   // absolute path of its file; "" without one
	Description string   // "" if not set
	Servers     []Server // in file order, disabled ones included
}

// IsDisabled reports whether the toolbox has servers, and all of them are disabled. It is not offered then.
func (t *Toolbox) IsDisabled() bool {
	return len(t.Servers) > 0 && !slices.ContainsFunc(t.Servers, func(s Server) bool { return !s.Disabled })
}

// Server is one downstream server. Exactly one of Builtin, Command and URL is set, or none if it has a Fault.
type Server struct {
	Name string

	// Fault holds the mistakes inside the server, or nil. A faulty server counts as unable to connect, and nothing that
	// could be run is left in it.
	Fault *Error

	Builtin string // one of the workbench's own servers: files, notes or clock

	Command string
	Args    []string
	Env     []Variable // in file order
	Dir     string     // absolute; "" runs the server in the workbench's own folder

	URL     string
	Headers []Variable // in file order
	OAuth   *OAuth     // nil if the file does not say how to sign in

	Transport    string // "stdio", "http" or "sse"; "" derives it from Command and URL
	Filter       toolbox.Filter
	Timeouts     Timeouts   // the server's own, else its toolbox's, the file's or the defaults
	InheritEnv   InheritEnv // resolved in the same order
	Sandbox      *Sandbox   // nil: it runs as the user
	Limits       ServerLimits
	Disabled     bool
	KeepDetached bool

	// Deferred are the texts that name secrets, which are got when the server starts; see Fill.
	Deferred []Deferred

	// Instances is for whom it runs: a constant Instances…; "": the default, which is per person if there are people.
	Instances  string
	DoubtHints bool // the annotations of its tools do not count
}

// Variable is a name with its value: an environment variable or an HTTP header.
type Variable struct{ Name, Value string }

// Timeouts are the time limits of a server. A zero Idle never stops an idle server; a negative one (IdleUnset) means
// that the file does not set it.
type Timeouts struct{ Connect, Call, Idle time.Duration }

func defaultTimeouts() Timeouts {
	return Timeouts{Connect: DefaultConnectTimeout, Call: DefaultCallTimeout, Idle: IdleUnset}
}

// InheritEnv selects the environment variables that a server inherits from the workbench in addition to the usual short
// list: all, or those that match a pattern such as "AWS_*".
type InheritEnv struct {
	All      bool
	Patterns []string
}

// ParseOptions is the context in which Parse reads a file.
type ParseOptions struct {
	Dir    string                      // the file's folder, where a relative cwd starts
	Lookup func(string) (string, bool) // looks up variables for ${VAR}; nil: none is set
	Home   string                      // replaces ~; without it, ~ is an error
	Plain  bool                        // the file may be that of an MCP client
	User   *Config                     // for a project's file: the user's own configuration, whose top-level keys apply
}

var byteOrderMark = []byte("\uFEFF")

// Parse reads a configuration from data; name is the file name in errors. Parse accesses neither files nor the
// environment. A mistake inside one server becomes that server's Fault. Parse returns an error, always an *Error with
// all mistakes, if the file cannot be used as a configuration.
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
	var plain *PlainToolbox
	if opts.Plain {
		if whole, box := plainRoot(root, name, r); box != nil {
			root, plain = whole, box
		}
	}
	found := &secrets{}
	lookup, variables := recordingLookup(opts.Lookup)
	outer, outerVariables := recordingLookup(lookup)
	g := &treeBuilder{lookup: lookup, outer: outer, envFile: filepath.Join(opts.Dir, EnvFileName), report: r, secrets: found, plain: plain != nil, dir: opts.Dir, home: opts.Home}
	tree := g.value(root, rootPath, false)
	checkRoot(tree, r)
	b := &builder{opts: opts, from: name, report: r, secrets: found, names: map[string]bool{}}
	cfg := b.config(tree)
	if r.failed() {
		return nil, r.failure(toolbox.ConfigInvalid, name)
	}
	b.strip(cfg, name)
	cfg.Plain = plain
	cfg.Warnings, cfg.Variables, cfg.OuterVariables = r.warned(), variables(), outerVariables()
	return cfg, nil
}

//go:embed default.json
var defaultFile []byte

// Default returns the configuration used without a file: one toolbox with the built-in servers.
func Default() *Config {
	cfg, err := Parse("default.json", defaultFile, ParseOptions{})
	if err != nil {
		panic(err) // the document is part of the program, and a test parses it
	}
	return cfg
}

// Empty returns a configuration without toolboxes, for a file that must not be used.
func Empty() *Config {
	return &Config{ToolMode: Proxy, MaxMessageSize: DefaultMaxMessageSize, Timeouts: defaultTimeouts(), Discovery: Discovery{Search: true, ReadTool: true}, HTTP: defaultHTTP(), Shared: Shared{Idle: DefaultSharedIdle}}
}
