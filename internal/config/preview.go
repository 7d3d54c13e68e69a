package config

import (
	"bytes"
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
)

// Preview is what a file would run, as it is written there: no variable is replaced, so
// that no value of one is shown, and a default cannot hide behind one that is set.
type Preview struct {
	Toolboxes []PreviewToolbox // in file order
	Servers   []PreviewServer  // in file order, disabled ones included
	Variables []string         // what workbench.env sets, by name
	Unclear   []string         // keys that are only known once a variable is
	HTTP      PreviewHTTP
}

// PreviewHTTP is whom a file would let in over HTTP.
type PreviewHTTP struct {
	Listen         string
	Hosts, Origins []string
}

// PreviewToolbox is one toolbox of a preview.
type PreviewToolbox struct{ Name, Description string }

// PreviewServer is one server of a preview.
type PreviewServer struct {
	Toolbox, Name string
	Builtin       string
	Command       string
	Args          []string
	URL           string // which may hold secrets
	Host          string // of the url
	Transport     string // by whichever of its two names
	Env           []string
	Dir           string
	Disabled      bool
}

// Preview looks into a file that may have mistakes, but not of syntax.
func (s *Source) Preview(environ []string) (*Preview, error) {
	vars, _, err := s.variables()
	if err != nil {
		return nil, err
	}
	preview := &Preview{Variables: slices.Sorted(maps.Keys(vars))}
	addEnviron(vars, environ)
	data := bytes.TrimPrefix(s.Data, byteOrderMark)
	r := newReport(data)
	root, ok := parseSyntax(data, r)
	if !ok {
		return nil, r.failure(toolbox.ConfigSyntax, s.Path)
	}
	g := &grower{
		lookup:  func(name string) (string, bool) { value, ok := vars[name]; return value, ok },
		envFile: s.envPath(), report: r, secrets: &secrets{},
	}
	tree := g.value(root, rootPath, false)
	preview.look(&tree)
	if settings := tree.get("http"); settings != nil {
		preview.look(settings)
		preview.HTTP = PreviewHTTP{
			Listen: settings.get("listen").written(),
			Hosts:  settings.get("allowedHosts").allWritten(), Origins: settings.get("allowedOrigins").allWritten(),
		}
	}
	for _, box := range tree.get("toolboxes").entries() {
		preview.look(&box.value)
		preview.Toolboxes = append(preview.Toolboxes, PreviewToolbox{box.raw, box.value.get("description").written()})
		for _, server := range box.value.get("mcpServers").entries() {
			preview.look(&server.value)
			preview.Servers = append(preview.Servers, previewServer(box.raw, server, filepath.Dir(s.Path)))
		}
	}
	return preview, nil
}

// Add puts the toolboxes of another file behind, without those that have a name of these.
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

// look notes keys that a variable decides on: with another environment they may be what
// names the program.
func (p *Preview) look(n *node) {
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
	}
	if s.Dir != "" && !filepath.IsAbs(s.Dir) && !strings.HasPrefix(s.Dir, "~") && !strings.Contains(s.Dir, "${") {
		s.Dir = filepath.Join(folder, s.Dir)
	}
	for _, variable := range n.get("env").entries() {
		s.Env = append(s.Env, variable.raw)
	}
	return s
}

// written returns a string as it stands in the file.
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

// host returns the host of an address that may hold variables, and neither its user nor
// what follows it.
func host(address string) string {
	if _, rest, ok := strings.Cut(address, "//"); ok {
		address = rest
	}
	if end := strings.IndexAny(address, "/?#"); end >= 0 {
		address = address[:end]
	}
	return address[strings.LastIndex(address, "@")+1:]
}
