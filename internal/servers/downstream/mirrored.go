package downstream

import (
	"bytes"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Mirrored is an argument that a modern call over HTTP repeats in a header.
type Mirrored struct {
	Header  string // the full name of the header
	Numeric bool   // compare it as a number
	path    []string
}

// Mirrors returns the arguments that a tool's input schema mirrors to headers; none if the schema is invalid in this
// respect.
func Mirrors(schema wire.Payload) (mirrored []Mirrored) {
	if !bytes.Contains(schema.Bytes(), []byte(mirrorKey)) {
		return nil
	}
	var found []mirror
	if err := findMirrors(schema, nil, true, 0, &found); err != nil {
		return nil
	}
	for _, m := range found {
		property := schema
		for _, key := range m.path {
			property = property.Member("properties").Member(key)
		}
		kind, _ := property.Member("type").Text()
		mirrored = append(mirrored, Mirrored{mirrorPrefix + m.header, kind == "integer", m.path})
	}
	return mirrored
}

// Value returns the argument as in its header, before Base64; ok is false if there is no argument that can be mirrored.
func (m Mirrored) Value(arguments wire.Payload) (text string, ok bool) {
	value := arguments
	for _, key := range m.path {
		value = value.Member(key)
	}
	switch value.Kind() {
	case "string":
		return value.Text()
	case "number", "boolean":
		return string(value.Bytes()), true
	}
	return "", false
}
