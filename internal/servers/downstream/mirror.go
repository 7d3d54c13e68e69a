package downstream

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file repeats arguments of a call in HTTP headers, for proxies in front of a modern server. The tool's schema
// says which arguments.

const (
	mirrorKey    = "x-mcp-header"
	mirrorPrefix = "Mcp-Param-"
	// maxMirrorDepth bounds how deep a schema is searched for arguments to repeat in headers.
	maxMirrorDepth = 50
)

// mirror is an argument that is repeated in a header.
type mirror struct {
	header string
	path   []string // the keys that lead to the argument
}

// mirrors holds the mirrored arguments of the listed tools, by tool name.
type mirrors map[string][]mirror

// collect records the mirrored arguments of a tool. A tool with an invalid schema in this respect must not be offered;
// the error says why.
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

// findMirrors searches a schema. Only nested properties can be mirrored: any other value may occur more than once, or
// differ from the schema.
func findMirrors(schema wire.Payload, path []string, plain bool, depth int, found *[]mirror) error {
	if depth == maxMirrorDepth {
		return nil
	}
	if wish := schema.Member(mirrorKey); !wish.IsAbsent() {
		if !plain || len(path) == 0 {
			return fmt.Errorf("'%s' is used where it is not allowed", mirrorKey)
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

// header returns the headers of a call. It copies the arguments that it uses.
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

// filterMirrored records the mirrored arguments of the listed tools, if this session needs them. It leaves out tools with invalid
// ones, and names them in note.
func (s *Session) filterMirrored(tools []wire.Payload) (allowed []wire.Payload, note string) {
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

// maxMirrorNotes bounds the left-out tools that a note names.
const maxMirrorNotes = 10

// mirrored returns the headers with the mirrored arguments of a call.
func (s *Session) mirrored(tool string, arguments wire.Payload) http.Header {
	if found := s.mirrors.Load(); found != nil {
		return found.header(tool, arguments)
	}
	return nil
}
