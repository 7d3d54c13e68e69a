package config

import (
	"bytes"
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Preview lists what a file would run, as written: no variable is replaced, so no value is shown, and a default cannot
// hide behind a variable that is set.
type Preview struct {
	Plain     *PlainToolbox    // not nil: the file is that of an MCP client
	Toolboxes []PreviewToolbox // in file order
	Servers   []PreviewServer  // in file order, disabled ones included
	Variables []Variable       // set by workbench.env, by name
	Unclear   []string         // keys that depend on variables
	HTTP      PreviewHTTP
	Policy    []Variable // keys and rules with their values as JSON, in file order
}

// PreviewHTTP lists who a file would admit over HTTP.
type PreviewHTTP struct {
	Listen         string
	Hosts, Origins []string
	People         []Variable // the other settings of who is let in, with dotted names; lists as JSON
}

// PreviewToolbox is one toolbox of a preview.
type PreviewToolbox struct{ Name, Description string }

// PreviewServer is one server of a preview.
type PreviewServer struct {
	Toolbox, Name string
	Builtin       string
	Command       string
	Args          []string
	URL           string // may contain secrets
	Host          string // of the url
	Transport     string // from either of its two keys
	Env, Headers  []Variable
	OAuth         []Variable // strings of its settings, with dotted names; a client secret can be among them
	SignsIn       bool       // a person can sign in to it
	InheritEnv    InheritEnv // its own, or the inherited value
	Dir           string
	Disabled      bool
	Sandbox       *ShownSandbox // its own, or the inherited one; nil if none is written
	Limits        *ShownLimits  // nil if there are none
	Instances     string

	// Forms are the secrets that it names, each once.
	Forms []Form
	// Sent are the names of variables whose values leave the machine: those in the url, the headers and the settings of OAuth.
	Sent []string
	// Launch is nil if it depends on an unset variable.
	Launch *PreviewLaunch
}

// PreviewLaunch is how a server would be started with the current variables. It serves to find the program that would
// run, and may contain secrets.
type PreviewLaunch struct {
	Command, Dir string
	Env          []string // NAME=value
}

// Preview reads a file that may contain mistakes, but no syntax errors.
func (s *Source) Preview(environ []string) (*Preview, error) {
	vars, _, err := s.variables()
	if err != nil {
		return nil, err
	}
	preview := &Preview{}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		preview.Variables = append(preview.Variables, Variable{name, vars[name]})
	}
	addEnviron(vars, environ)
	data := bytes.TrimPrefix(s.Data, byteOrderMark)
	r := newReport(data)
	root, ok := parseSyntax(data, r)
	if !ok {
		return nil, r.failure(toolbox.ConfigSyntax, s.Path)
	}
	if s.mayBePlain() {
		if whole, box := plainRoot(root, s.Path, r); box != nil {
			root, preview.Plain = whole, box
		}
	}
	g := &treeBuilder{
		plain:   preview.Plain != nil,
		lookup:  func(name string) (string, bool) { value, ok := vars[name]; return value, ok },
		envFile: s.envPath(), report: r, secrets: &secrets{}, dir: filepath.Dir(s.Path), home: homeDir(vars),
	}
	tree := g.value(root, rootPath, false)
	preview.recordUnclear(&tree)
	if settings := tree.get("http"); settings != nil {
		preview.recordAllUnclear(settings)
		preview.HTTP = PreviewHTTP{
			Listen: settings.get("listen").written(),
			Hosts:  settings.get("allowedHosts").allWritten(), Origins: settings.get("allowedOrigins").allWritten(),
			People: settings.peopleWritten(),
		}
	}
	preview.previewPolicy(tree.get("policy"))
	top, topSandbox := inherited{}.overriddenBy(&tree), tree.get("sandbox")
	preview.recordAllUnclear(topSandbox)
	for _, box := range tree.get("toolboxes").entries() {
		preview.recordUnclear(&box.value)
		preview.Toolboxes = append(preview.Toolboxes, PreviewToolbox{box.raw, box.value.get("description").written()})
		for _, server := range box.value.get("mcpServers").entries() {
			preview.recordUnclear(&server.value)
			shown := previewServer(box.raw, server, filepath.Dir(s.Path))
			shown.InheritEnv = top.overriddenBy(&box.value).overriddenBy(&server.value).env
			preview.recordAllUnclear(server.value.get("sandbox"))
			preview.recordAllUnclear(server.value.get("limits"))
			shown.Sandbox = preview.sandboxOf(&server.value, topSandbox)
			shown.Forms = server.value.forms()
			shown.Launch = launch(&server.value, filepath.Dir(s.Path), homeDir(vars))
			preview.Servers = append(preview.Servers, shown)
		}
	}
	return preview, nil
}

// Forms returns the secrets that the servers of a file name, each once; nil if it cannot be parsed.
func (s *Source) Forms() []Form {
	root, ok := s.unexpanded()
	if !ok {
		return nil
	}
	return root.forms()
}

// Add appends the toolboxes of another file, except those with a name already present.
func (p *Preview) Add(other *Preview) {
	has := make(map[string]bool)
	for _, box := range p.Toolboxes {
		has[box.Name] = true
	}
	for _, box := range other.Toolboxes {
		if !has[box.Name] {
			p.Toolboxes = append(p.Toolboxes, box)
		}
	}
	for _, server := range other.Servers {
		if !has[server.Toolbox] {
			p.Servers = append(p.Servers, server)
		}
	}
}

// recordUnclear records keys that depend on a variable: in another environment they may name the program.
func (p *Preview) recordUnclear(n *node) {
	for _, m := range n.members {
		if m.raw != m.name || m.unresolved {
			p.Unclear = append(p.Unclear, m.raw)
		}
	}
}

func previewServer(box string, m member, folder string) PreviewServer {
	n := &m.value
	s := PreviewServer{
		Toolbox: box, Name: m.raw,
		Builtin: n.get("builtin").written(), Command: n.get("command").written(), Args: n.get("args").allWritten(),
		URL: n.get("url").written(), Host: host(n.get("url").written()), Dir: n.get("cwd").written(),
		Transport: cmp.Or(n.get("transport").written(), n.get("type").written()),
		Disabled:  n.get("disabled").isTrue(),
		Limits:    n.get("limits").limitsWritten(), Instances: n.get("instances").written(),
	}
	if s.Dir != "" && !filepath.IsAbs(s.Dir) && !strings.HasPrefix(s.Dir, "~") && !strings.Contains(s.Dir, "${") {
		s.Dir = filepath.Join(folder, s.Dir)
	}
	s.Env, s.Headers = n.get("env").variablesWritten(), n.get("headers").variablesWritten()
	s.OAuth = n.get("oauth").stringsWritten("")
	s.SignsIn = s.URL != "" && signsIn(n.get("oauth"), s.Headers)
	s.Sent = references(s.URL)
	for _, header := range slices.Concat(s.Headers, s.OAuth) {
		s.Sent = append(s.Sent, references(header.Name+header.Value)...)
	}
	slices.Sort(s.Sent)
	s.Sent = slices.Compact(s.Sent)
	return s
}

// signsIn reports whether a person signs in to a remote server with such settings.
func signsIn(settings *node, headers []Variable) bool {
	switch {
	case settings == nil:
		return !slices.ContainsFunc(headers, func(v Variable) bool { return strings.EqualFold(v.Name, "Authorization") })
	case settings.kind == kindObject:
		return settings.get("grant") == nil
	}
	return settings.isTrue()
}

// launch returns how a server with a command would be started; a relative cwd starts in folder.
func launch(n *node, folder, home string) *PreviewLaunch {
	command, dir := n.get("command"), n.get("cwd")
	if command == nil || command.unresolved || command.pieces != nil || dir != nil && dir.unresolved {
		return nil
	}
	l := &PreviewLaunch{Command: inHome(command.string(), home), Dir: inHome(dir.string(), home)}
	if !filepath.IsAbs(l.Dir) {
		l.Dir = filepath.Join(folder, l.Dir)
	}
	for _, variable := range n.get("env").entries() {
		if !variable.unresolved && !variable.value.unresolved && variable.value.pieces == nil {
			l.Env = append(l.Env, variable.name+"="+variable.value.string())
		}
	}
	return l
}

// references returns the names of the variables in a text.
func references(text string) []string {
	var names []string
	expand(text, func(name string) (string, bool) {
		names = append(names, name)
		return "", true
	})
	return names
}

func (n *node) variablesWritten() (variables []Variable) {
	for _, variable := range n.entries() {
		variables = append(variables, Variable{variable.raw, variable.value.written()})
	}
	return variables
}

// peopleWritten returns the settings of people, client certificates and proxies.
func (n *node) peopleWritten() (settings []Variable) {
	settings = n.get("oauth").settingsWritten("oauth")
	for _, name := range []string{"clientCa", "clients"} {
		settings = append(settings, n.get("tls").get(name).settingsWritten("tls."+name)...)
	}
	return append(settings, n.get("trustedProxies").settingsWritten("trustedProxies")...)
}

// settingsWritten returns all strings and lists in a value, with dotted names.
func (n *node) settingsWritten(name string) (settings []Variable) {
	switch {
	case n == nil:
	case n.kind == kindString:
		settings = append(settings, Variable{name, n.raw})
	case n.kind == kindObject:
		for _, m := range n.members {
			settings = append(settings, m.value.settingsWritten(name+"."+m.raw)...)
		}
	default:
		settings = append(settings, Variable{name, string(n.appendWritten(nil))})
	}
	return settings
}

// stringsWritten returns all strings in an object, with dotted names.
func (n *node) stringsWritten(prefix string) (texts []Variable) {
	for _, m := range n.entries() {
		name := prefix + m.raw
		if m.value.kind == kindString {
			texts = append(texts, Variable{name, m.value.raw})
		}
		texts = append(texts, m.value.stringsWritten(name+".")...)
	}
	return texts
}

// written returns a string as written in the file.
func (n *node) written() string {
	if n == nil || n.kind != kindString {
		return ""
	}
	return n.raw
}

func (n *node) allWritten() []string {
	if n == nil {
		return nil
	}
	var texts []string
	for i := range n.elements {
		texts = append(texts, n.elements[i].written())
	}
	return texts
}

// host returns the host of an address that may contain variables, without its user or anything that follows the host.
func host(address string) string {
	if _, rest, ok := strings.Cut(address, "//"); ok {
		address = rest
	}
	if end := strings.IndexAny(address, "/?#"); end >= 0 {
		address = address[:end]
	}
	return address[strings.LastIndex(address, "@")+1:]
}
