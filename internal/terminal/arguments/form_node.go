package arguments

import (
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// node is a schema together with what it refers to, and with all parts of its allOf.
type node struct {
	keys       map[string]wire.Payload // the first of each, except for those below
	properties []property
	required   map[string]bool
	choices    [][]wire.Payload // of each anyOf and oneOf
}

type property struct {
	name   string
	schema wire.Payload
}

// formKeys are the keywords that a form is made of.
var formKeys = map[string]bool{
	"type": true, "title": true, "description": true, "default": true, "const": true, "enum": true, "enumNames": true, "format": true, "writeOnly": true,
	"contentEncoding": true, "contentMediaType": true, "pattern": true, "minimum": true, "maximum": true, "minLength": true, "maxLength": true,
	"minItems": true, "maxItems": true, "items": true, "prefixItems": true, "additionalProperties": true, "patternProperties": true,
}

// node reads a schema; note says why it is not for a form.
func (b *formBuilder) node(s wire.Payload) (n *node, note string) {
	n = &node{keys: make(map[string]wire.Payload), required: make(map[string]bool)}
	parts := []wire.Payload{s}
	for i := 0; i < len(parts); i++ {
		if i == maxHops {
			return n, "The schema has too many parts for a form"
		}
		if b.work -= len(parts[i].Bytes()); b.work < 0 {
			return n, "The schema is too large for a form"
		}
		more, note := b.read(n, parts[i])
		if note != "" {
			return n, note
		}
		parts = append(parts, more...)
	}
	return n, ""
}

// read adds one part of a schema, and returns further ones.
func (b *formBuilder) read(n *node, s wire.Payload) (more []wire.Payload, note string) {
	for key, value := range s.Members() {
		switch name := string(key); name {
		case "$ref":
			target := b.follow(s)
			if target.IsAbsent() {
				return nil, "The schema refers to something that is not in it"
			}
			place := &target.Bytes()[0]
			if slices.Contains(b.above, place) {
				return nil, "The schema is recursive"
			}
			b.above = append(b.above, place)
			more = append(more, target)
		case "allOf":
			more = append(more, slices.Collect(value.Elements())...)
		case "anyOf", "oneOf":
			n.choices = append(n.choices, slices.Collect(value.Elements()))
		case "properties":
			for key, schema := range value.Members() {
				n.properties = append(n.properties, property{string(key), schema})
			}
		case "required":
			for element := range value.Elements() {
				name, _ := element.Text()
				n.required[name] = true
			}
		default:
			if _, seen := n.keys[name]; formKeys[name] && !seen {
				n.keys[name] = value
			}
		}
	}
	return more, ""
}

// follow returns the target of a reference.
func (b *formBuilder) follow(s wire.Payload) wire.Payload {
	if b.work -= len(b.root.Bytes()); b.work < 0 {
		return wire.Payload{}
	}
	return schema{Payload: s, root: b.root}.step()
}

// types returns the JSON types that the schema names, without null.
func (n *node) types() (types []string, nullable bool) {
	add := func(name string) {
		if name == "null" {
			nullable = true
		} else if name != "" && !slices.Contains(types, name) && len(types) < maxHops {
			types = append(types, name)
		}
	}
	named := n.keys["type"]
	name, _ := named.Text()
	add(name)
	for element := range named.Elements() {
		name, _ := element.Text()
		add(name)
	}
	if named.IsAbsent() {
		switch {
		case len(n.properties) > 0 || n.keys["additionalProperties"].Kind() == "object" || !n.keys["patternProperties"].IsAbsent():
			add("object")
		case !n.keys["items"].IsAbsent():
			add("array")
		}
	}
	return types, nullable
}

// cutText returns a text without its end if it is long.
func cutText(text string) string {
	if len(text) <= maxFormText {
		return text
	}
	return toolbox.Clip(text, maxFormText) + "…"
}
