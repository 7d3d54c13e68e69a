// Package catalog holds what a server offers: an immutable snapshot of its tool definitions, checked, cleaned and in
// the server's order. It also caches snapshots between runs, and detects definitions that changed or were not approved.
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

// Tool is an offered tool.
type Tool struct {
	Name string
	// Definition is the server's own object, byte for byte except for what cleaning removed. It always has an input
	// schema.
	Definition wire.Payload
	// Changed means that the server offered a different definition before in this run, or at the end of the last one, and
	// that nobody accepted this one since.
	Changed bool
	// HintsDoubted means that the annotations do not count: the configuration does not trust those of the server, or they
	// changed and nobody accepted that.
	HintsDoubted bool

	source       wire.Payload // the server's own object, unchanged
	unaccepted   bool         // the definition is not the one that was first seen or accepted
	hintsChanged bool         // and nobody accepted it
	hintsBefore  Hints        // the accepted ones, if they changed
}

// Hash identifies the server's definition of the tool before cleaning.
func (t Tool) Hash() Hash { return sha256.Sum256(t.source.Bytes()) }

// Snapshot is what a server offered at one time. It is immutable.
type Snapshot struct {
	Tools    []Tool
	Denied   []string // names of tools that a policy denies, in order
	Warnings []string // problems of the definitions, for people

	ServerVersion string       // as reported by the server; may be empty
	Instructions  string       // the server's instructions, cleaned
	Capabilities  wire.Payload // the capabilities that the server declares

	// ListedFor identifies the capabilities of the client that it was listed for, since some servers offer more tools to clients that can do
	// more; "": none, or not known.
	ListedFor string

	// Stored means that the snapshot is from the cache: the server has not been asked since.
	Stored bool

	rawInstructions string   // the instructions before cleaning
	about           []string // for each warning, the name of its tool; "" for others
	byName          map[string]int
	restricted      *restricted       // what it is a view of; nil if it is not restricted
	hintsDistrusted bool              // the configuration does not trust the server's hints
	withheld        map[string]string // by name, why the lock withholds a tool
	unapproved      bool              // the lock withholds the instructions

	instructions   changeMark // how the server's instructions changed
	open           int        // changes that nobody accepted
	changeWarnings int        // the first warnings, which are about changes of this run
}

// Listing is the answer of a server to tools/list.
type Listing struct {
	Definitions []wire.Payload
	Note        string // the problem with the listing as a whole; may be empty

	// As reported by the server.
	ServerVersion, Instructions string
	Capabilities                wire.Payload

	ListedFor string // see Snapshot
}

// NewSnapshot checks and cleans a listing. The server's name is used in warnings.
func NewSnapshot(server string, listing Listing, filter toolbox.Filter) *Snapshot {
	s := &Snapshot{
		ServerVersion: hidden.Clean(listing.ServerVersion), Instructions: hidden.Clean(listing.Instructions), rawInstructions: listing.Instructions,
		Capabilities: wire.Raw(bytes.Clone(listing.Capabilities.Bytes())),
		ListedFor:    listing.ListedFor,
		byName:       make(map[string]int, len(listing.Definitions)),
	}
	if listing.Note != "" {
		s.warn("", "%s (server '%s')", listing.Note, server)
	}
	if s.Instructions != s.rawInstructions {
		s.warn("", "Invisible text was removed from the instructions of server '%s'", server)
	}
	for i, definition := range listing.Definitions {
		s.add(server, i, wire.Raw(bytes.Clone(definition.Bytes())), filter)
	}
	return s
}

// add adds a tool if it can be offered.
func (s *Snapshot) add(server string, i int, source wire.Payload, filter toolbox.Filter) {
	name, _ := source.Member("name").Text()
	switch _, exists := s.byName[name]; {
	case name == "":
		s.warn("", "Tool number %d of server '%s' has no name and was left out", i+1, server)
		return
	case !filter.Allows(name) && !filter.Allows(hidden.Clean(name)): // a filter with the cleaned name gets a warning why the tool is missing
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

// withSchema adds an input schema to a definition without one.
func withSchema(raw []byte) []byte {
	if kind := wire.Raw(raw).Member("inputSchema").Kind(); kind != "undefined" && kind != "null" {
		return raw
	}
	return wire.AppendWithMembers(nil, wire.Raw(raw), func(key string) bool { return key == "inputSchema" },
		[]byte(`"inputSchema":{"type":"object"}`))
}

// maxWarnings bounds the warnings about one server's definitions; one more says that there were others.
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

// warnFirst puts the warnings of another snapshot before its own. They are counted separately: a server must not be
// able to hide them behind problems of other definitions.
func (s *Snapshot) warnFirst(other *Snapshot) {
	s.Warnings, s.about = slices.Concat(other.Warnings, s.Warnings), slices.Concat(other.about, s.about)
}

// Find returns the tool with a name.
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
