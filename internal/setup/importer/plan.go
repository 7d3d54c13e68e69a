// Package importer turns the servers of MCP clients, command lines, addresses and package names into entries of a
// configuration: each server once, grouped into toolboxes, without secrets in the clear.
package importer

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
)

// Given is the input of a plan.
type Given struct {
	Sources []clients.Source
	Config  []byte                           // the current configuration; nil without one
	Toolbox string                           // that is compared with first; "": any
	Env     map[string]string                // the variables of its workbench.env
	Lookup  func(name string) (string, bool) // the environment, which overrides that file
}

// Plan is the result of an import.
type Plan struct {
	Servers   []*Server              // new ones, in the order found
	Already   []Known                // already in the configuration
	Skipped   []Skipped              // cannot be imported
	Notes     []string               // for people
	Variables []configwrite.Variable // for workbench.env
	Kept      []configwrite.Variable // for the system's keyring; see MoveToKeyring

	existing existing
}

// Server is a server to import.
type Server struct {
	Name  string
	From  []string // the clients that have it
	Unset []string // unset variables; the server is disabled until they are set

	definition clients.Server
	entry      []byte          // in the format of the configuration
	atHome     bool            // runs in the home folder; see runsAnywhere
	source     *clients.Source // the first that has it
}

// Known is a client's server that the configuration already has.
type Known struct {
	Source          *clients.Source
	Name            string // in the client's file
	Toolbox, Server string
	Disabled        bool // in the configuration: the client still needs its own
	// Limited are the tools that the client has of it, if the configuration offers more.
	Limited string

	atHome bool     // it runs in the home folder
	tools  []string // that it offers; nil: all
	differ string   // how it differs from the client's; "" if it does not
}

// Skipped is a server that cannot be imported, and why.
type Skipped struct {
	From, Name, Reason string

	source *clients.Source
}

// reasonSelf is why a workbench is skipped.
const reasonSelf = "it is the workbench itself"

// NewPlan makes a plan. It changes no files.
func NewPlan(g Given) (*Plan, error) {
	had, err := readExisting(g.Config, g.Toolbox)
	if err != nil {
		return nil, err
	}
	p := &Plan{existing: had}
	names := &configwrite.Names{Taken: func(name string) (string, bool) {
		if value, ok := g.Lookup(name); ok {
			return value, true
		}
		value, ok := g.Env[name]
		return value, ok
	}}
	same := make(map[string]*Server)
	for i := range g.Sources {
		source := &g.Sources[i]
		for _, skipped := range source.Skipped {
			p.Skipped = append(p.Skipped, Skipped{title(source), skipped.Name, skipped.Reason, source})
		}
		for _, name := range source.Self {
			p.Skipped = append(p.Skipped, Skipped{title(source), name, reasonSelf, source})
		}
		for _, server := range source.Servers {
			if err := p.addServer(g, names, source, server, same); err != nil {
				return nil, err
			}
		}
	}
	p.noteMissing(g.Sources)
	p.Variables = append(names.Added(), p.Variables...)
	p.findUnset(g)
	if slices.ContainsFunc(p.Servers, func(s *Server) bool { return s.atHome }) {
		p.addNote(`Servers that are yours in every project run in your home folder ("cwd": "~"), so that clients in different folders can share them (--shared). To run one in the folder of its client, remove its cwd.`)
	}
	return p, nil
}

// noteMissing names projects whose folders are gone.
func (p *Plan) noteMissing(sources []clients.Source) {
	for i := range sources {
		source := &sources[i]
		if _, err := os.Stat(source.Project); source.Project != "" && os.IsNotExist(err) && len(source.Servers) > 0 {
			p.addNote("%s: that folder does not exist. Remove what you do not need any more.", Title(source))
		}
	}
}

// addServer adds one server of a source to the plan. Servers with the same definition are merged, whatever their names.
func (p *Plan) addServer(g Given, names *configwrite.Names, source *clients.Source, server clients.Server, same map[string]*Server) error {
	raw, err := encode(server)
	if err != nil {
		return err
	}
	own := server.Name
	server.Name = simpleName(own)
	key := definitionOf(raw)
	if known, ok := same[key]; ok {
		known.From = append(known.From, title(source))
		known.definition.Disabled = known.definition.Disabled && server.Disabled
		known.atHome = known.atHome && runsAnywhere(source, server)
		if err := p.mergeTools(known, source, server); err != nil {
			return err
		}
		if known.definition.Name != server.Name {
			p.addNote("'%s' of %s is the same server as '%s'.", own, Title(source), known.Name)
		}
		return nil
	}
	entry, findings, err := configwrite.Conceal(server.Name, raw, names)
	if err != nil {
		return err
	}
	if known, ok := p.existing.servers[definitionOf(entry)]; ok {
		known.Source, known.Name, known.differ = source, own, known.difference(source, server)
		if known.Limited = known.limits(server); known.Limited != "" {
			p.addNote("'%s' of %s is limited to %s there; '%s/%s' in the configuration offers more of its tools.", own, title(source), known.Limited, known.Toolbox, known.Server)
		}
		p.Already = append(p.Already, known)
		return nil
	}
	if reason := invalidReason(server.Name, entry, server.URL); reason != "" {
		p.Skipped = append(p.Skipped, Skipped{title(source), own, reason, source})
		return nil
	}
	p.storeValues(g, names, findings, server.Name)
	for _, note := range server.Notes {
		p.addNote("'%s' of %s: %s.", server.Name, Title(source), note)
	}
	if address := bridgedAddress(server); address != "" {
		p.addNote("'%s' of %s runs mcp-remote, which is not needed: the workbench signs in to remote servers by itself. To replace it: mcp-workbench remove %s, and then: mcp-workbench add %s %s", server.Name, Title(source), server.Name, server.Name, address)
	}
	added := &Server{Name: server.Name, From: []string{title(source)}, definition: server, entry: entry, atHome: runsAnywhere(source, server), source: source}
	switch {
	case p.isTaken(server.Name):
		added.Name = p.freeName(source, server.Name)
		p.addNote("'%s' of %s is another server than the '%s' before it, and is called '%s'.", own, Title(source), server.Name, added.Name)
	case own != server.Name:
		p.addNote("'%s' of %s is called '%s', since a slash stands between toolbox, server and tool.", own, Title(source), server.Name)
	}
	same[key] = added
	p.Servers = append(p.Servers, added)
	return nil
}

// inFolder matches paths relative to the server's working folder.
var inFolder = regexp.MustCompile(`(^|[=:,])\.{1,2}($|[/\\:])`)

// runsAnywhere reports whether a server is independent of its working folder: the client starts it for every project,
// and its entry refers to no folder.
func runsAnywhere(source *clients.Source, server clients.Server) bool {
	isPath := func(word string) bool { return inFolder.MatchString(word) }
	return source.Client != nil && source.Project == "" && server.Command != "" && server.Dir == "" &&
		!isPath(server.Command) && !slices.ContainsFunc(server.Args, isPath)
}

// storeValues stores values that only the environment of this terminal has: a client started from a
// desktop does not have them. It adds notes about secrets that stay.
func (p *Plan) storeValues(g Given, names *configwrite.Names, findings []configwrite.Finding, server string) {
	for _, finding := range findings {
		if finding.Name == "" {
			p.addNote("A secret of '%s' (%s) does not fit into workbench.env, and stays in the configuration.", server, finding.Where)
			continue
		}
		isNew := slices.ContainsFunc(names.Added(), func(v configwrite.Variable) bool { return v.Name == finding.Name })
		isKept := slices.ContainsFunc(p.Variables, func(v configwrite.Variable) bool { return v.Name == finding.Name })
		_, inFile := g.Env[finding.Name]
		if value, ok := g.Lookup(finding.Name); ok && !isNew && !isKept && !inFile {
			p.Variables = append(p.Variables, configwrite.Variable{Name: finding.Name, Value: value})
		}
	}
}

// simpleName drops everything up to a slash: some clients name servers by the URL of their repository.
func simpleName(name string) string {
	if short := path.Base(name); strings.Contains(name, "/") && short != "/" && short != "." {
		return short
	}
	return name
}

func (p *Plan) isTaken(name string) bool {
	return slices.ContainsFunc(p.Servers, func(s *Server) bool { return s.Name == name })
}

func (p *Plan) freeName(source *clients.Source, name string) string {
	if project := name + "-" + clean(path.Base(filepath.ToSlash(source.Project))); source.Project != "" && !p.isTaken(project) {
		return project
	}
	if source.Client != nil && !p.isTaken(name+"-"+source.Client.ID) {
		return name + "-" + source.Client.ID
	}
	for i := 2; ; i++ {
		if try := fmt.Sprintf("%s-%d", name, i); !p.isTaken(try) {
			return try
		}
	}
}

func (p *Plan) addNote(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

var references = regexp.MustCompile(`(^|[^$])\$\{([A-Z_][A-Z0-9_]*)\}`)

// findUnset finds variables without a value: a single one would make the whole configuration invalid.
func (p *Plan) findUnset(g Given) {
	isSet := func(name string) bool {
		_, inEnvironment := g.Lookup(name)
		_, inFile := g.Env[name]
		return inEnvironment || inFile || slices.ContainsFunc(p.Variables, func(v configwrite.Variable) bool { return v.Name == name })
	}
	var borrowed []string
	for _, server := range p.Servers {
		for _, match := range references.FindAllStringSubmatch(string(server.entry), -1) {
			name := match[2]
			_, inFile := g.Env[name]
			isNew := slices.ContainsFunc(p.Variables, func(v configwrite.Variable) bool { return v.Name == name })
			switch {
			case !isSet(name) && !slices.Contains(server.Unset, name):
				server.Unset = append(server.Unset, name)
			case isSet(name) && !inFile && !isNew && name != "HOME" && name != "USERPROFILE" && !slices.Contains(borrowed, name):
				borrowed = append(borrowed, name)
			}
		}
	}
	if len(borrowed) > 0 {
		p.addNote("%s comes from this terminal's environment. Clients that are started from the desktop do not have it: put it into workbench.env for them.", strings.Join(borrowed, ", "))
	}
}

// Unset returns the names of variables without a value, each once.
func (p *Plan) Unset() []string {
	var all []string
	for _, server := range p.Servers {
		for _, name := range server.Unset {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// Set assigns a variable a value that a person typed.
func (p *Plan) Set(name, value string) {
	p.Variables = append(p.Variables, configwrite.Variable{Name: name, Value: value})
	for _, server := range p.Servers {
		server.Unset = slices.DeleteFunc(server.Unset, func(unset string) bool { return unset == name })
	}
}

// invalidReason returns why an entry is invalid in a configuration, or "".
func invalidReason(name string, entry []byte, address string) string {
	value := "1"
	if strings.HasPrefix(address, "${") {
		value = "http://x"
	}
	document, err := placeEntry(nil, "x", "d", name, entry)
	if err != nil {
		return err.Error()
	}
	_, err = config.Strict(config.Parse("", document, config.ParseOptions{
		Dir: "/", Home: "/", Lookup: func(string) (string, bool) { return value, true },
	}))
	if problem, ok := errors.AsType[*config.Error](err); ok && len(problem.Problems) > 0 {
		return problem.Problems[0].Message
	}
	return ""
}

func title(source *clients.Source) string {
	if source.Client == nil {
		return source.File
	}
	return source.Client.Title
}

// Title returns what a source is called in notes: projects of one client are told apart.
func Title(source *clients.Source) string {
	if source.Project == "" {
		return title(source)
	}
	return title(source) + " for " + source.Project
}
