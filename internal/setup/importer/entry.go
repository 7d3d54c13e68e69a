package importer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
)

// encode formats a server for the configuration. Whether it is disabled is decided when it is placed.
func encode(server clients.Server) ([]byte, error) {
	server.Disabled = false
	return server.Definition()
}

// atHome is the working folder of servers that are independent of it; see runsAnywhere.
const atHome = "~"

// definition is the identity of a server.
type definition struct {
	Command   string            `json:"command"`
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env"`
	Dir       string            `json:"cwd"`
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	Transport string            `json:"transport"`
	Type      string            `json:"type"`
}

// definitionOf is equal for entries of the same server.
func definitionOf(entry []byte) string {
	entry = kept.ReplaceAll(entry, []byte("$${$1}")) // as the import has it before its secrets are moved
	var d definition
	if json.Unmarshal(entry, &d) != nil {
		return string(entry)
	}
	if d.Transport == "" {
		d.Transport = d.Type
	}
	d.Type = ""
	if d.Transport != "sse" {
		d.Transport = "" // derived from the rest
	}
	if d.Dir == atHome {
		d.Dir = "" // a client's entry does not set it; see runsAnywhere
	}
	if len(d.Args) == 0 {
		d.Args = nil
	}
	if len(d.Env) == 0 {
		d.Env = nil
	}
	if len(d.Headers) == 0 {
		d.Headers = nil
	}
	encoded, err := json.Marshal(d)
	if err != nil {
		return string(entry)
	}
	return string(encoded)
}

// existing is the content of a configuration.
type existing struct {
	boxes   map[string]map[string]bool // servers of toolboxes
	servers map[string]Known           // by definition; without the source
}

// readExisting parses only what it needs; it does not validate the file. If several toolboxes have a server, the wanted one
// counts.
func readExisting(data []byte, wanted string) (existing, error) {
	found := existing{boxes: make(map[string]map[string]bool), servers: make(map[string]Known)}
	if len(bytes.TrimSpace(data)) == 0 {
		return found, nil
	}
	standard, err := hujson.Standardize(bytes.Clone(bytes.TrimPrefix(data, []byte("\uFEFF"))))
	if err != nil {
		return found, err
	}
	var file struct {
		Toolboxes map[string]struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		} `json:"toolboxes"`
	}
	if err := json.Unmarshal(standard, &file); err != nil {
		return found, err
	}
	for box, content := range file.Toolboxes {
		found.boxes[box] = make(map[string]bool)
		for name, entry := range content.Servers {
			found.boxes[box][name] = true
			var state struct {
				Disabled bool     `json:"disabled"`
				Dir      string   `json:"cwd"`
				Tools    []string `json:"toolFilters"`
			}
			_ = json.Unmarshal(entry, &state) // an invalid entry cannot be found
			known := Known{Toolbox: box, Server: name, Disabled: state.Disabled, atHome: state.Dir == atHome, tools: state.Tools}
			key := definitionOf(entry)
			if other, isThere := found.servers[key]; !isThere || known.isBefore(other, wanted) {
				found.servers[key] = known
			}
		}
	}
	return found, nil
}

// isBefore reports whether this one of two entries of the same server is the one to compare with: it is in the wanted toolbox,
// is enabled, offers all tools, or else has the lower name.
func (k Known) isBefore(other Known, wanted string) bool {
	rank := func(one Known) int {
		rank := 0
		for _, isWorse := range []bool{wanted != "" && one.Toolbox != wanted, one.Disabled, one.tools != nil} {
			rank *= 2
			if isWorse {
				rank++
			}
		}
		return rank
	}
	return cmp.Or(rank(k)-rank(other), strings.Compare(k.Toolbox, other.Toolbox), strings.Compare(k.Server, other.Server)) < 0
}

// difference returns how the server of the configuration differs from the client's, although it is the same; "" if the client
// does not need its own.
func (k Known) difference(source *clients.Source, server clients.Server) string {
	offers := func(tool string) bool { return slices.Contains(k.tools, tool) || slices.Contains(k.tools, "*") }
	switch {
	case k.atHome && !runsAnywhere(source, server):
		return "the workbench runs it in your home folder, and the client in another one"
	case k.tools != nil && !offers("*") && (server.Tools == nil || slices.ContainsFunc(server.Tools, func(tool string) bool { return !offers(tool) })):
		return "the workbench does not offer all of its tools (toolFilters)"
	}
	return ""
}

// limits returns the tools that the client has of a server, if the configuration offers more; "" otherwise.
func (k Known) limits(server clients.Server) string {
	isMore := k.tools == nil || slices.ContainsFunc(k.tools, func(tool string) bool { return !slices.Contains(server.Tools, tool) })
	if server.Tools == nil || !isMore {
		return ""
	}
	return strings.Join(server.Tools, ", ")
}

// mergeTools makes a server offer all tools that the clients have of it, and notes whose limits that drops.
func (p *Plan) mergeTools(known *Server, source *clients.Source, server clients.Server) error {
	had, has := known.definition.Tools, server.Tools
	isWithin := func(few, many []string) bool {
		return many == nil || few != nil && !slices.ContainsFunc(few, func(tool string) bool { return !slices.Contains(many, tool) })
	}
	if isWithin(had, has) && isWithin(has, had) {
		return nil
	}
	var all []string
	if had != nil && has != nil {
		all = slices.Compact(slices.Sorted(slices.Values(slices.Concat(had, has))))
	}
	note := func(from string, tools []string) {
		if !isWithin(all, tools) {
			p.addNote("'%s' of %s is limited to %s there, and to less than other clients have of it: here it offers what any of them has. To limit it, set its toolFilters.", known.Name, from, strings.Join(tools, ", "))
		}
	}
	note(strings.Join(known.From[:len(known.From)-1], ", "), had)
	note(title(source), has)
	known.definition.Tools = all
	var err error
	if all == nil {
		known.entry, err = jsonc.Remove(known.entry, []string{"toolFilters"})
		return err
	}
	encoded, err := jsonc.Encode(all)
	if err == nil {
		known.entry, err = jsonc.Set(known.entry, []string{"toolFilters"}, encoded)
	}
	return err
}
