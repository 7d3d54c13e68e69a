package catalog

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Limits of a signature; what exceeds them is replaced by an ellipsis.
const (
	signatureDepth   = 3 // levels of nested objects
	signatureLevels  = 6 // levels of any nesting
	signatureEnum    = 6 // values of an enum
	signatureParts   = 20
	signatureLiteral = 40 // bytes of a constant
)

const ellipsis = "…"

// Signature returns how to call a tool, in the style of TypeScript: read_file(path: string, head?: number).
func (t Tool) Signature() string {
	// Cleaning a definition leaves keys and constants alone, since tools compute with them.
	return t.Name + "(" + hidden.Clean(parameters(t.Definition.Member("inputSchema"), 0)) + ")"
}

// TypeName returns the type of a schema, as in a signature.
func TypeName(schema wire.Payload) string { return hidden.Clean(typeName(schema, 0)) }

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

// typeName returns the type that a schema describes, in short.
func typeName(schema wire.Payload, depth int) string {
	if depth > signatureLevels {
		return ellipsis
	}
	if constant := schema.Member("const"); !constant.IsAbsent() {
		return literal(constant)
	}
	if values := schema.Member("enum"); values.Kind() == "array" {
		return union(values, signatureEnum, literal)
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
		named := make(map[string]string) // computes each type once, however often it is listed
		return union(kind, signatureEnum, func(element wire.Payload) string {
			name, _ := element.Text()
			if _, done := named[name]; !done {
				named[name] = namedType(name, schema, depth)
			}
			return named[name]
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

// literal returns a constant as written, shortened if it is long.
func literal(value wire.Payload) string {
	text := value.Bytes()
	if len(text) <= signatureLiteral {
		return string(text)
	}
	return toolbox.Clip(string(text), signatureLiteral) + ellipsis
}

// union lists the names of the values without duplicates.
func union(values wire.Payload, limit int, name func(wire.Payload) string) string {
	var names []string
	for value := range values.Elements() {
		if len(names) == limit {
			names = append(names, ellipsis)
			break
		}
		if next := name(value); !slices.Contains(names, next) {
			names = append(names, next)
		}
	}
	if len(names) == 0 {
		return "never"
	}
	return strings.Join(names, " | ")
}
