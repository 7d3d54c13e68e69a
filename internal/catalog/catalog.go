// Package catalog knows what a server offers: the definitions of its tools as an
// immutable snapshot, checked and cleaned, in the server's order, and what was seen of
// it before.
package catalog

import (
	"bytes"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Tool is one tool that is offered.
type Tool struct {
	Name     string // as it is offered: the server's name for it without invisible text
	Original string // as the server calls it
	// Definition is the server's own object, byte for byte but for what cleaning
	// removed, and with an input schema in any case.
	Definition wire.Payload
}

// Snapshot is what one server offered at one time. It never changes.
type Snapshot struct {
	Tools    []Tool
	Warnings []string // what was wrong with the definitions, for people

	ServerVersion string       // as the server says it; may be empty
	Instructions  string       // what the server says of how to use it, cleaned
	Capabilities  wire.Payload // what the server declares that it can do

	// Stored says that the server offered this at an earlier time, and was not asked since.
	Stored bool

	byName   map[string]int
	whole    *Snapshot         // of one that a lock restricts: without that
	withheld map[string]string // why the lock keeps tools back, by name
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
		ServerVersion: CleanText(listing.ServerVersion), Instructions: CleanText(listing.Instructions),
		Capabilities: wire.Raw(bytes.Clone(listing.Capabilities.Bytes())),
		byName:       make(map[string]int, len(listing.Definitions)),
	}
	if listing.Note != "" {
		s.warn("%s (server '%s')", listing.Note, server)
	}
	for i, definition := range listing.Definitions {
		original, _ := definition.Member("name").Text()
		name := CleanText(original)
		if name == "" {
			s.warn("Tool number %d of server '%s' has no name and was left out", i+1, server)
			continue
		}
		if !filter.Allows(name) && !filter.Allows(original) {
			continue
		}
		if _, exists := s.byName[name]; exists {
			s.warn("Server '%s' lists tool '%s' more than once; the first one stays", server, name)
			continue
		}
		s.byName[name] = len(s.Tools)
		s.Tools = append(s.Tools, Tool{Name: name, Original: original, Definition: s.checked(server, name, definition)})
	}
	return s
}

// maxWarnings bounds what a server with ten thousand bad definitions makes us say.
const maxWarnings = 50

func (s *Snapshot) warn(format string, args ...any) {
	switch {
	case len(s.Warnings) < maxWarnings:
		s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
	case len(s.Warnings) == maxWarnings:
		s.Warnings = append(s.Warnings, "There were more warnings of this kind")
	}
}

// checked returns a copy of a definition that can be offered.
func (s *Snapshot) checked(server, name string, definition wire.Payload) wire.Payload {
	edits := cleaning(definition)
	if len(edits) > 0 {
		s.warn("Invisible text was removed from the definition of tool '%s' in server '%s'", name, server)
	}
	raw := wire.AppendEdited(make([]byte, 0, len(definition.Bytes())), definition, edits...)
	schema := wire.Raw(raw).Member("inputSchema")
	if schema.Kind() == "undefined" || schema.Kind() == "null" {
		s.warn("Tool '%s' of server '%s' has no input schema; it is offered as taking any object", name, server)
		raw = wire.AppendWithMembers(nil, wire.Raw(raw), func(key string) bool { return key == "inputSchema" },
			[]byte(`"inputSchema":{"type":"object"}`))
	}
	return wire.Raw(raw)
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
