package catalog

import (
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Limits of a signature: what is longer is shortened, with an ellipsis as the mark.
const (
	signatureDepth = 3 // levels of nested objects
	signatureEnum  = 6 // values of an enum
	signatureParts = 20
)

const ellipsis = "…"

// Signature tells how a tool is called, in the manner of TypeScript:
// read_file(path: string, head?: number).
func (t Tool) Signature() string {
	return t.Name + "(" + parameters(t.Definition.Member("inputSchema"), 0) + ")"
}

// parameters lists the properties of an object's schema.
func parameters(schema wire.Payload, depth int) string {
	required := make(map[string]bool)
	for name := range schema.Member("required").Elements() {
		text, _ := name.Text()
		required[text] = true
	}
	var parts []string
	for key, property := range schema.Member("properties").Members() {
		if len(parts) == signatureParts {
			parts = append(parts, ellipsis)
			break
		}
		mark := "?"
		if required[string(key)] {
			mark = ""
		}
		parts = append(parts, string(key)+mark+": "+typeName(property, depth))
	}
	return strings.Join(parts, ", ")
}

// typeName is the type that a schema describes, as far as it can be said in a word.
func typeName(schema wire.Payload, depth int) string {
	if constant := schema.Member("const"); !constant.IsAbsent() {
		return string(constant.Bytes())
	}
	if values := schema.Member("enum"); values.Kind() == "array" {
		return union(values, signatureEnum, func(value wire.Payload) string { return string(value.Bytes()) })
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if choices := schema.Member(key); choices.Kind() == "array" {
			return union(choices, signatureEnum, func(choice wire.Payload) string { return typeName(choice, depth+1) })
		}
	}
	switch kind := schema.Member("type"); kind.Kind() {
	case "string":
		name, _ := kind.Text()
		return namedType(name, schema, depth)
	case "array":
		return union(kind, signatureEnum, func(element wire.Payload) string {
			name, _ := element.Text()
			return namedType(name, schema, depth)
		})
	}
	if schema.Member("properties").Kind() == "object" {
		return namedType("object", schema, depth)
	}
	return "any"
}

func namedType(name string, schema wire.Payload, depth int) string {
	switch name {
	case "integer":
		return "number"
	case "array":
		element := typeName(schema.Member("items"), depth+1)
		if strings.Contains(element, " | ") {
			element = "(" + element + ")"
		}
		return element + "[]"
	case "object":
		switch {
		case schema.Member("properties").Kind() != "object":
			return "object"
		case depth >= signatureDepth:
			return "{" + ellipsis + "}"
		}
		return "{" + parameters(schema, depth+1) + "}"
	}
	return name
}

func union(values wire.Payload, limit int, name func(wire.Payload) string) string {
	var names []string
	for value := range values.Elements() {
		if len(names) == limit {
			names = append(names, ellipsis)
			break
		}
		names = append(names, name(value))
	}
	if len(names) == 0 {
		return "never"
	}
	return strings.Join(names, " | ")
}
