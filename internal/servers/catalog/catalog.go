// Package catalog knows what a server offers: the definitions of its tools as an
// immutable snapshot, checked and cleaned, in the server's order, and what was seen of
// it before.
package catalog

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Tool is one tool that is offered.
type Tool struct {
	Name string
	// Definition is the server's own object, byte for byte but for what cleaning
	// removed, and with an input schema in any case.
	Definition wire.Payload
	// Changed says that the server offered another definition before.
	Changed bool

	source wire.Payload // the server's own object as it came
}

// Hash identifies what the server says of the tool, whatever we remove from it.
func (t Tool) Hash() Hash { return sha256.Sum256(t.source.Bytes()) }

// Snapshot is what one server offered at one time. It never changes.
type Snapshot struct {
	Tools    []Tool
	Denied   []string // names of tools that a policy hides, in order
	Warnings []string // what was wrong with the definitions, for people

	ServerVersion string       // as the server says it; may be empty
	Instructions  string       // what the server says of how to use it, cleaned
	Capabilities  wire.Payload // what the server declares that it can do

	// Stored says that the server offered this at an earlier time, and was not asked since.
	Stored bool

	said       string   // the instructions as they came
	about      []string // for each warning, the name of the tool that it is about; "" for others
	byName     map[string]int
	whole      *Snapshot         // of one that is restricted: without that
	withheld   map[string]string // why the lock keeps tools back, by name
	unapproved bool              // the lock keeps the instructions back
}

// Listing is what a server answered to tools/list.
type Listing struct {
	Definitions []wire.Payload
	Note        string // what went wrong with the listing as a whole; may be empty

	// As the server says them.
	ServerVersion, Instructions string
	Capabilities                wire.Payload
}

// NewSnapshot checks and cleans a listing. The server's name is for the warnings.
func NewSnapshot(server string, listing Listing, filter toolbox.Filter) *Snapshot {
	s := &Snapshot{
		ServerVersion: hidden.Clean(listing.ServerVersion), Instructions: hidden.Clean(listing.Instructions), said: listing.Instructions,
		Capabilities: wire.Raw(bytes.Clone(listing.Capabilities.Bytes())),
		byName:       make(map[string]int, len(listing.Definitions)),
	}
	if listing.Note != "" {
		s.warn("", "%s (server '%s')", listing.Note, server)
	}
	if s.Instructions != s.said {
		s.warn("", "Invisible text was removed from the instructions of server '%s'", server)
	}
	for i, definition := range listing.Definitions {
		s.add(server, i, wire.Raw(bytes.Clone(definition.Bytes())), filter)
	}
	return s
}

// add offers a tool, if it can be offered.
func (s *Snapshot) add(server string, i int, source wire.Payload, filter toolbox.Filter) {
	name, _ := source.Member("name").Text()
	switch _, exists := s.byName[name]; {
	case name == "":
		s.warn("", "Tool number %d of server '%s' has no name and was left out", i+1, server)
		return
	case !filter.Allows(name) && !filter.Allows(hidden.Clean(name)): // who meant the latter is told why it is missing
		return
	case exists:
		s.warn(name, "Server '%s' lists tool '%s' more than once; the first one stays", server, hidden.Show(name))
		return
	}
	found := examine(source)
	if found.fault != "" {
		s.warn(name, "Tool '%s' of server '%s' is withheld: %s", hidden.Show(name), server, found.fault)
		return
	}
	what := fmt.Sprintf("tool '%s' in server '%s'", name, server)
	for _, warning := range found.describe(what) {
		s.warn(name, "%s", warning)
	}
	definition := found.definition.Bytes()
	if whole := withSchema(definition); len(whole) != len(definition) {
		s.warn(name, "Tool '%s' of server '%s' has no input schema; it is offered as taking any object", name, server)
		definition = whole
	}
	s.byName[name] = len(s.Tools)
	s.Tools = append(s.Tools, Tool{Name: name, Definition: wire.Raw(definition), source: source})
}

// withSchema returns a definition with an input schema, if it has none.
func withSchema(raw []byte) []byte {
	if kind := wire.Raw(raw).Member("inputSchema").Kind(); kind != "undefined" && kind != "null" {
		return raw
	}
	return wire.AppendWithMembers(nil, wire.Raw(raw), func(key string) bool { return key == "inputSchema" },
		[]byte(`"inputSchema":{"type":"object"}`))
}

// maxWarnings bounds what a server with ten thousand bad definitions makes us say.
const maxWarnings = 50

const moreWarnings = "There were more warnings of this kind"

// warn adds a warning about a tool, or about the server as a whole.
func (s *Snapshot) warn(tool, format string, args ...any) {
	switch {
	case len(s.Warnings) < maxWarnings:
		s.Warnings, s.about = append(s.Warnings, fmt.Sprintf(format, args...)), append(s.about, tool)
	case len(s.Warnings) == maxWarnings:
		s.Warnings, s.about = append(s.Warnings, moreWarnings), append(s.about, "")
	}
}

// warnFirst puts the warnings of another snapshot before its own. They are counted by themselves: a server must not be
// able to hide them behind faults of other definitions.
func (s *Snapshot) warnFirst(other *Snapshot) {
	s.Warnings, s.about = slices.Concat(other.Warnings, s.Warnings), slices.Concat(other.about, s.about)
}

// Find returns the tool that is offered under a name.
func (s *Snapshot) Find(name string) (Tool, bool) {
	i, ok := s.byName[name]
	if !ok {
		return Tool{}, false
	}
	return s.Tools[i], true
}

// Names returns the names of all tools, in order.
func (s *Snapshot) Names() []string {
	names := make([]string, len(s.Tools))
	for i, tool := range s.Tools {
		names[i] = tool.Name
	}
	return names
}
