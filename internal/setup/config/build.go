package config

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// builder makes the configuration from a checked tree and checks the rules that involve more than one key. It also runs
// on a tree with errors, so that all errors are reported together. The result is then discarded; a server with errors
// is stripped instead.
type builder struct {
	opts    ParseOptions
	from    string // file name, for policy rules
	report  *report
	secrets *secrets
	names   map[string]bool // of toolboxes, servers and tools: never masked as secrets
	servers []string        // the paths of all servers, in file order
	mode    ToolMode
	people  *HTTPOAuth // who may sign in; nil: nobody
}

// inherited holds the settings that a server inherits from its toolbox and the file.
type inherited struct {
	timeouts Timeouts
	env      InheritEnv
	sandbox  *Sandbox
}

func (b *builder) config(root node) *Config {
	cfg := b.settings(&root)
	if user := b.opts.User; user != nil {
		cfg = b.projectSettings(user, cfg, &root)
	}
	b.mode, b.people = cfg.ToolMode, cfg.HTTP.OAuth
	base := inherited{cfg.Timeouts, cfg.InheritEnv, cfg.Sandbox}
	p := rootPlace.member("toolboxes")
	for _, m := range root.get("toolboxes").entries() {
		cfg.Toolboxes = append(cfg.Toolboxes, b.toolbox(m, p.entry("Toolbox", m.raw), base))
	}
	for i := range cfg.Policy.Files {
		if file := &cfg.Policy.Files[i]; b.opts.User != nil && file.Path == b.from {
			for _, box := range cfg.Toolboxes {
				file.Own = append(file.Own, box.Name)
			}
		}
	}
	if b.opts.User == nil {
		cfg.Discovery.Pinned = b.allPinned(&root, cfg.Toolboxes)
		b.warnOfGrants(&root, cfg.Toolboxes)
	}
	b.warnOfPolicy(&root, cfg.Toolboxes, cfg.Discovery.Pinned)
	cfg.Secrets = b.secrets.list(b.names)
	return cfg
}

// settings reads the top-level keys, except those that name toolboxes.
func (b *builder) settings(root *node) *Config {
	cfg := &Config{ToolMode: Proxy, LogLevel: root.get("logLevel").string(), MaxMessageSize: DefaultMaxMessageSize}
	if mode := root.get("toolMode").string(); mode != "" {
		cfg.ToolMode = ToolMode(mode)
	}
	if n := root.get("maxMessageSize"); n != nil {
		cfg.MaxMessageSize, _ = parseSize(n.text)
	}
	cfg.Discovery, cfg.HTTP, cfg.Shared = discovery(root), b.http(root.get("http")), shared(root)
	cfg.ListOpened = root.get("lists").string() == "opened"
	cfg.Policy, cfg.Credentials = b.policy(root), b.credentials(root.get("credentials"))
	cfg.History, cfg.Elicitation = history(root.get("history")), elicitation(root.get("elicitation"))
	cfg.Audit = b.audit(root.get("audit"))
	cfg.Sandbox = b.sandbox(root.get("sandbox"), rootPlace.member("sandbox"))
	cfg.Prefetch, cfg.Locked = root.get("prefetch").isTrue(), root.get("locked").isTrue()
	top := inherited{timeouts: defaultTimeouts()}.overriddenBy(root)
	cfg.Timeouts, cfg.InheritEnv = top.timeouts, top.env
	return cfg
}

func (b *builder) toolbox(m member, p place, base inherited) Toolbox {
	b.name(m, p)
	description := m.value.get("description")
	t := Toolbox{Name: m.name, Description: description.string()}
	isBlank := description != nil && description.kind == kindString && strings.TrimSpace(t.Description) == ""
	if isBlank || m.value.lacks("description") {
		b.report.warn(m.offset, p.at, p.subject+" has no description", "a model decides by the description whether to open it")
	}
	if user := b.opts.User; user != nil && user.has(m.name) {
		b.report.warn(m.offset, p.at, p.subject+" takes the place of the one in "+user.Path, "to have both, rename one of them")
	}
	servers := m.value.get("mcpServers")
	if servers != nil && servers.kind == kindObject && len(servers.members) == 0 {
		b.report.warn(m.offset, p.at, p.subject+" has no servers", "")
	}
	base = base.overriddenBy(&m.value)
	below := p.member("mcpServers")
	for _, s := range servers.entries() {
		t.Servers = append(t.Servers, b.server(s, below.entry("Server", s.raw), base))
	}
	return t
}

func (b *builder) server(m member, p place, base inherited) Server {
	b.name(m, p)
	b.servers = append(b.servers, p.at.String())
	n := &m.value
	base = base.overriddenBy(n)
	s := Server{
		Name:         m.name,
		Builtin:      n.get("builtin").string(),
		Command:      b.home(n.get("command"), p.member("command")),
		Args:         n.get("args").strings(),
		Env:          n.get("env").variables(),
		Dir:          b.file(n.get("cwd"), p.member("cwd")),
		URL:          n.get("url").string(),
		Headers:      n.get("headers").variables(),
		OAuth:        b.oauth(n.get("oauth"), p.member("oauth")),
		Transport:    b.transport(n, p),
		Timeouts:     base.timeouts,
		InheritEnv:   base.env,
		Sandbox:      b.serverSandbox(n, p, base.sandbox),
		Limits:       serverLimits(n.get("limits")),
		Disabled:     n.get("disabled").isTrue(),
		KeepDetached: n.get("keepDetached").isTrue(),
		Instances:    n.get("instances").string(),
		DoubtHints:   n.get("trustHints").isFalse(),
	}
	if filters := n.get("toolFilters"); filters != nil {
		names := filters.strings()
		s.Filter = toolbox.NewFilter(names)
		for _, name := range names {
			b.names[name] = true
		}
	}
	b.checkAccounts(n, &s, p)
	s.Deferred = b.deferred(n, p)
	b.warnUseless(n, p)
	b.collectSecrets(n)
	return s
}

// strip removes everything that could be run from servers with errors, and keeps the errors.
func (b *builder) strip(cfg *Config, file string) {
	faults := b.report.faults()
	if len(faults) == 0 {
		return
	}
	i := 0
	for _, box := range cfg.Toolboxes {
		for n := range box.Servers {
			if problems := faults[b.servers[i]]; problems != nil {
				s := &box.Servers[n]
				*s = Server{
					Name: s.Name, InheritEnv: s.InheritEnv, Disabled: s.Disabled,
					Fault: &Error{Code: toolbox.ConfigInvalid, File: file, Problems: problems},
				}
			}
			i++
		}
	}
}

// name records a name, and rejects one that dynamic mode could not split again.
func (b *builder) name(m member, p place) {
	b.names[m.name] = true
	if b.mode == Dynamic && strings.Contains(m.name, "__") {
		b.report.fail(m.offset, p.at, p.subject+": a name cannot hold '__' when toolMode is \"dynamic\"",
			"tools are named toolbox__server__tool; use a single underscore")
	}
}

// home returns a file name with a leading ~ replaced.
func (b *builder) home(n *node, p place) string {
	name := n.string()
	if !isInHome(name) {
		return name
	}
	if b.opts.Home == "" {
		b.report.fail(n.offset, p.at, p.describe("starts with ~, but the home folder is not known"), "set HOME, or write the folder out")
	}
	return inHome(name, b.opts.Home)
}

// inHome replaces a leading ~ with the home folder.
func inHome(name, home string) string {
	if !isInHome(name) || home == "" {
		return name
	}
	return filepath.Join(home, name[1:])
}

func isInHome(name string) bool {
	return name == "~" || strings.HasPrefix(name, "~/") || strings.HasPrefix(name, "~"+string(filepath.Separator))
}

// transport returns the server's transport, after checking that its two spellings agree with each other and with the
// kind of server.
func (b *builder) transport(n *node, p place) string {
	var chosen string
	for _, key := range []string{"transport", "type"} {
		value := n.get(key)
		if value == nil || value.unresolved || !slices.Contains(transports, value.text) {
			continue
		}
		text := value.text
		if text == "streamable-http" {
			text = "http"
		}
		below := p.member(key)
		switch {
		case chosen != "" && chosen != text:
			b.report.fail(value.offset, below.at, p.subject+": 'transport' and 'type' differ", "they mean the same; remove one of them")
		case text == "stdio" && n.get("url") != nil:
			b.report.fail(value.offset, below.at, below.describe("cannot be \"stdio\" for a server with a 'url'"), `use "http" or "sse"`)
		case text != "stdio" && n.get("command") != nil:
			b.report.fail(value.offset, below.at, below.describe("must be \"stdio\" for a server with a 'command'"), "for a remote server, give a 'url' instead")
		case text != "stdio" && n.get("builtin") != nil:
			b.report.fail(value.offset, below.at, below.describe("does not apply to a server with a 'builtin'"), "remove it")
		}
		chosen = text
	}
	return chosen
}

// warnUseless warns about keys that have no effect for this kind of server.
func (b *builder) warnUseless(n *node, p place) {
	useless, with := []string{"headers", "oauth"}, "no 'url'"
	if n.get("url") != nil {
		useless, with = []string{"args", "env", "cwd", "sandbox", "limits"}, "a 'url'"
	}
	for _, m := range n.members {
		if slices.Contains(useless, m.name) {
			below := p.member(m.raw)
			b.report.warn(m.offset, below.at, below.describe("has no effect on a server with "+with), "")
		}
	}
}

// collectSecrets records values that are secret because of their place in the file. Values of variables were recorded
// when they were expanded.
func (b *builder) collectSecrets(server *node) {
	for _, m := range server.get("env").entries() {
		for _, text := range m.value.literals() {
			b.secrets.add(text)
		}
	}
	for _, m := range server.get("headers").entries() {
		for _, text := range m.value.literals() {
			b.secrets.addHeader(text)
		}
	}
	b.collectOAuthSecrets(server.get("oauth"))
	if address := server.get("url"); address != nil {
		for _, text := range address.literals() {
			b.secrets.addURL(text)
		}
	}
}

// overriddenBy returns the inherited settings with the overrides of n.
func (i inherited) overriddenBy(n *node) inherited {
	timeouts := n.get("timeouts")
	timeouts.duration("connect", &i.timeouts.Connect)
	timeouts.duration("call", &i.timeouts.Call)
	timeouts.duration("idle", &i.timeouts.Idle)
	if env := n.get("inheritEnv"); env != nil {
		i.env = InheritEnv{All: env.isTrue(), Patterns: env.strings()}
	}
	return i
}

// The following methods read a value that may be absent, or whose kind was already reported as wrong.

func (n *node) string() string {
	if n == nil || n.kind != kindString {
		return ""
	}
	return n.text
}

// resolved returns a string, without the unexpanded rest in a disabled server.
func (n *node) resolved() string {
	if n.unresolved {
		return ""
	}
	return n.string()
}

func (n *node) strings() []string {
	if n == nil || n.kind != kindArray {
		return nil
	}
	texts := make([]string, len(n.elements))
	for i := range n.elements {
		texts[i] = n.elements[i].text
	}
	return texts
}

func (n *node) entries() []member {
	if n == nil {
		return nil
	}
	return n.members
}

func (n *node) variables() []Variable {
	var variables []Variable
	for _, m := range n.entries() {
		variables = append(variables, Variable{m.name, m.value.text})
	}
	return variables
}

func (n *node) integer() int {
	if n == nil || n.kind != kindInteger {
		return 0
	}
	number, _ := strconv.Atoi(n.text) // a wrong one was reported
	return number
}

func (n *node) isTrue() bool {
	return n != nil && n.kind == kindBoolean && n.text == "true"
}

func (n *node) isFalse() bool {
	return n != nil && n.kind == kindBoolean && n.text == "false"
}

func (n *node) duration(key string, into *time.Duration) {
	if n == nil {
		return
	}
	if d, err := time.ParseDuration(n.get(key).string()); err == nil {
		*into = d
	}
}
