package downstream

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file is about arguments that a call over HTTP repeats in headers, for what stands
// between us and a server of the modern era. The schema of the tool says which.

const (
	mirrorKey    = "x-mcp-header"
	mirrorPrefix = "Mcp-Param-"
	// maxMirrorDepth is how deep a schema is looked into.
	maxMirrorDepth = 50
)

// mirror is one argument that goes into a header, too.
type mirror struct {
	header string
	path   []string // the keys that lead to the argument
}

// mirrors holds what is mirrored of the tools that were listed, by their names.
type mirrors map[string][]mirror

// collect notes what a tool wants to be mirrored. A tool whose wish is not allowed must not
// be offered; the error says why.
func (m mirrors) collect(tool wire.Payload) error {
	if !bytes.Contains(tool.Bytes(), []byte(mirrorKey)) {
		return nil
	}
	var found []mirror
	if err := findMirrors(tool.Member("inputSchema"), nil, true, 0, &found); err != nil {
		return err
	}
	if name, ok := tool.Member("name").Text(); ok && len(found) > 0 {
		m[name] = found
	}
	return nil
}

// findMirrors looks through a schema. Only properties of properties can be mirrored, since
// any other value may be there more than once, or not be what the schema says.
func findMirrors(schema wire.Payload, path []string, plain bool, depth int, found *[]mirror) error {
	if depth == maxMirrorDepth {
		return nil
	}
	if wish := schema.Member(mirrorKey); !wish.IsAbsent() {
		if !plain || len(path) == 0 {
			return fmt.Errorf("'%s' stands where it is not allowed", mirrorKey)
		}
		header, _ := wish.Text()
		if err := checkMirror(header, schema, *found); err != nil {
			return err
		}
		*found = append(*found, mirror{header, slices.Clone(path)})
	}
	for key, value := range schema.Members() {
		var err error
		switch string(key) {
		case "properties":
			for name, property := range value.Members() {
				if err == nil {
					err = findMirrors(property, append(path, string(name)), plain, depth+1, found)
				}
			}
		case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames":
			err = findMirrors(value, path, false, depth+1, found)
		case "oneOf", "anyOf", "allOf", "prefixItems":
			for element := range value.Elements() {
				if err == nil {
					err = findMirrors(element, path, false, depth+1, found)
				}
			}
		case "$defs", "definitions", "patternProperties", "dependentSchemas":
			for _, member := range value.Members() {
				if err == nil {
					err = findMirrors(member, path, false, depth+1, found)
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkMirror(header string, schema wire.Payload, others []mirror) error {
	const token = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if header == "" || strings.ContainsFunc(header, func(c rune) bool { return !strings.ContainsRune(token, c) }) {
		return fmt.Errorf("'%s' is not the name of a header", mirrorKey)
	}
	if slices.ContainsFunc(others, func(m mirror) bool { return strings.EqualFold(m.header, header) }) {
		return fmt.Errorf("'%s' names the same header twice", mirrorKey)
	}
	switch kind, _ := schema.Member("type").Text(); kind {
	case "string", "integer", "boolean":
		return nil
	}
	return fmt.Errorf("'%s' is only for strings, integers and booleans", mirrorKey)
}

// header returns the headers of a call. It copies what it takes of the arguments.
func (m mirrors) header(tool string, arguments wire.Payload) http.Header {
	wanted := m[tool]
	if len(wanted) == 0 {
		return nil
	}
	header := make(http.Header)
	for _, w := range wanted {
		value := arguments
		for _, key := range w.path {
			value = value.Member(key)
		}
		switch value.Kind() {
		case "string":
			text, _ := value.Text()
			header.Set(mirrorPrefix+w.header, headerValue(text))
		case "number", "boolean":
			header.Set(mirrorPrefix+w.header, string(value.Bytes()))
		}
	}
	return header
}

// heed notes what listed tools want to be mirrored, if that matters for this session, and
// takes out those whose wishes are not allowed, which note then says.
func (s *Session) heed(tools []wire.Payload) (allowed []wire.Payload, note string) {
	if !s.Modern() || s.options.Remote == nil {
		return tools, ""
	}
	found := make(mirrors)
	var notes []string
	allowed = slices.DeleteFunc(tools, func(tool wire.Payload) bool {
		err := found.collect(tool)
		if err != nil {
			name, _ := tool.Member("name").Text()
			notes = append(notes, fmt.Sprintf("Tool '%.100s' was left out: %v", name, err))
		}
		return err != nil
	})
	s.mirrors.Store(&found)
	if len(notes) > maxMirrorNotes {
		notes = append(notes[:maxMirrorNotes], fmt.Sprintf("and %d more", len(notes)-maxMirrorNotes))
	}
	return allowed, strings.Join(notes, "; ")
}

// maxMirrorNotes bounds what is said of tools that were left out.
const maxMirrorNotes = 10

// mirrored returns the headers that a call has of its own.
func (s *Session) mirrored(tool string, arguments wire.Payload) http.Header {
	if found := s.mirrors.Load(); found != nil {
		return found.header(tool, arguments)
	}
	return nil
}
