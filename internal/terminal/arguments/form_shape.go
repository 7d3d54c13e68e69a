package arguments

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// shape returns a field of the type that fits a schema.
func (b *formBuilder) shape(n *node, path string, depth int) Field {
	if constant := n.keys["const"]; !constant.IsAbsent() && b.take(constant) {
		return Field{Type: FieldConstant, Values: []json.RawMessage{constant.Bytes()}}
	}
	if values := n.keys["enum"]; values.Kind() == "array" {
		return b.choice(values, n.keys["enumNames"])
	}
	types, nullable := n.types()
	for _, choices := range n.choices {
		if choice, ok := b.constants(choices); ok {
			return choice
		}
		if f, ok := b.alternatives(n, choices, types, path, depth); ok {
			f.Nullable = f.Nullable || nullable
			return f
		}
	}
	if len(types) > 1 {
		return b.severalTypes(n, types, nullable, path, depth)
	}
	f := Field{Type: FieldJSON}
	if len(types) == 1 {
		f = b.ofType(types[0], n, path, depth)
	} else if nullable {
		f = Field{Type: FieldConstant, Values: []json.RawMessage{json.RawMessage("null")}}
	}
	f.Nullable = nullable && f.Type != FieldConstant
	return f
}

// choice is a field for one of some values.
func (b *formBuilder) choice(values, names wire.Payload) Field {
	f := Field{Type: FieldChoice}
	for value := range values.Elements() {
		if value.Kind() == "null" {
			f.Nullable = true
			continue
		}
		if len(f.Values) == maxValues || !b.take(value) {
			return Field{Type: FieldJSON, Note: "There are too many values for a form"}
		}
		f.Values = append(f.Values, value.Bytes())
	}
	switch {
	case len(f.Values) > 0:
	case f.Nullable:
		return Field{Type: FieldConstant, Values: []json.RawMessage{json.RawMessage("null")}}
	default:
		return Field{Type: FieldJSON, Note: "The schema permits no value"}
	}
	for name := range names.Elements() {
		if len(f.Labels) < len(f.Values) {
			f.Labels = append(f.Labels, b.text(name))
		}
	}
	if len(f.Labels) < len(f.Values) {
		f.Labels = nil
	}
	return f
}

// constants returns the choice of alternatives that are all constants; each may have a title.
func (b *formBuilder) constants(choices []wire.Payload) (f Field, ok bool) {
	f = Field{Type: FieldChoice}
	for _, one := range choices {
		value := one.Member("const")
		if value.IsAbsent() || len(f.Values) == maxValues || !b.take(value) {
			return f, false
		}
		if value.Kind() == "null" {
			f.Nullable = true
			continue
		}
		label := b.text(one.Member("title"))
		if label == "" {
			label = shortValue(value)
		}
		f.Values, f.Labels = append(f.Values, value.Bytes()), append(f.Labels, label)
	}
	return f, len(f.Values) > 0
}

// shortValue returns a value for a label.
func shortValue(value wire.Payload) string {
	if text, ok := value.Text(); ok && len(text) <= 60 {
		return text
	}
	return brief(value)
}

// alternatives returns the field of a schema that is one of several; ok is false if the choices say nothing about the form.
func (b *formBuilder) alternatives(n *node, choices []wire.Payload, types []string, path string, depth int) (f Field, ok bool) {
	nullable := false
	var said []wire.Payload // the choices that say something
	for _, one := range choices {
		if b.fields <= 0 {
			return Field{Type: FieldJSON, Note: "The schema is too large for a form"}, true
		}
		if name, _ := one.Member("type").Text(); name == "null" {
			nullable = true
			continue
		}
		sub := b.field(one, path, depth+1)
		if sub.Type == FieldJSON && sub.Note == "" {
			continue // it only says what is required, or permits everything
		}
		f.Alternatives, said = append(f.Alternatives, sub), append(said, one)
	}
	if len(f.Alternatives) == 1 && (nullable || len(choices) == 1) && len(n.properties) == 0 {
		only := f.Alternatives[0]
		only.Nullable = nullable || only.Nullable
		return only, true
	}
	for i := range f.Alternatives {
		if sub := &f.Alternatives[i]; sub.Title == "" {
			sub.Title = labelOf(sub, said[i])
		}
	}
	isObject := len(n.properties) > 0 && !slices.ContainsFunc(f.Alternatives, func(sub Field) bool { return sub.Type != FieldObject && sub.Type != FieldOneOf })
	switch {
	case len(f.Alternatives) == 0:
		return f, false
	case isObject: // with members that all of them have
		object := b.object(n, path, depth)
		object.Alternatives, object.Nullable = f.Alternatives, nullable
		return object, true
	case slices.Contains(types, "object") && len(n.properties) > 0:
		return Field{Type: FieldJSON, Note: "Its alternatives are too different for a form"}, true
	}
	f.Type, f.Nullable = FieldOneOf, nullable
	return f, true
}

// labelOf names an alternative that has no title: by the constant that tells it from others, or by its type.
func labelOf(f *Field, s wire.Payload) string {
	for _, member := range f.Fields {
		if member.Type == FieldConstant {
			return member.Name + ": " + shortValue(wire.Raw(member.Values[0]))
		}
	}
	if ref, ok := s.Member("$ref").Text(); ok {
		if name := ref[strings.LastIndexByte(ref, '/')+1:]; name != "" && len(name) <= 60 {
			return name
		}
	}
	if len(s.Bytes()) > maxFormText {
		return f.Type
	}
	if name := catalog.TypeName(s); len(name) <= 60 && name != "any" {
		return name
	}
	return f.Type
}

// severalTypes is a field for a schema that names more than one type.
func (b *formBuilder) severalTypes(n *node, types []string, nullable bool, path string, depth int) Field {
	f := Field{Type: FieldOneOf, Nullable: nullable}
	for _, name := range types {
		b.fields--
		sub := b.ofType(name, n, path, depth)
		sub.Path, sub.Title = path, name
		f.Alternatives = append(f.Alternatives, sub)
	}
	return f
}

// ofType returns the field for one JSON type.
func (b *formBuilder) ofType(name string, n *node, path string, depth int) Field {
	switch name {
	case "string":
		return b.string(n, path)
	case "number", "integer":
		return Field{Type: name, Minimum: b.number(n, "minimum"), Maximum: b.number(n, "maximum")}
	case "boolean":
		return Field{Type: FieldBoolean}
	case "array":
		return b.list(n, path, depth)
	case "object":
		return b.object(n, path, depth)
	}
	return Field{Type: FieldJSON, Note: "The schema names a type that does not exist"}
}

// number returns the limit of a keyword.
func (b *formBuilder) number(n *node, key string) json.RawMessage {
	value := n.keys[key]
	if value.Kind() != "number" || len(value.Bytes()) > 100 {
		return nil
	}
	return value.Bytes()
}

func (b *formBuilder) string(n *node, path string) Field {
	f := Field{Type: FieldText, Format: b.text(n.keys["format"]), Pattern: b.text(n.keys["pattern"]), MinLength: b.number(n, "minLength"), MaxLength: b.number(n, "maxLength")}
	encoding, mediaType := b.text(n.keys["contentEncoding"]), b.text(n.keys["contentMediaType"])
	switch {
	case strings.EqualFold(encoding, "base64"), f.Format == "binary", f.Format == "byte":
		f.Type, f.Base64, f.MediaType = FieldFile, true, mediaType
	case mediaType != "" && encoding == "":
		f.Type, f.MediaType = FieldFile, mediaType
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	named := secret.IsNamed(name) && name != "key" // which is more often that of a map
	f.Secret = f.Type == FieldText && (f.Format == "password" || string(n.keys["writeOnly"].Bytes()) == "true" || named)
	return f
}

func (b *formBuilder) list(n *node, path string, depth int) Field {
	items := n.keys["items"]
	if !n.keys["prefixItems"].IsAbsent() || items.Kind() == "array" {
		return Field{Type: FieldJSON, Note: "The schema says something else of each element"}
	}
	f := Field{Type: FieldList, MinItems: b.number(n, "minItems"), MaxItems: b.number(n, "maxItems")}
	sub := b.field(items, path+"/-", depth+1)
	sub.Required, f.Items = true, &sub
	return f
}

func (b *formBuilder) object(n *node, path string, depth int) Field {
	f := Field{Type: FieldObject}
	extra := n.keys["additionalProperties"]
	hasExtra := extra.Kind() == "object" || !n.keys["patternProperties"].IsAbsent()
	if len(n.properties) == 0 {
		switch {
		case hasExtra:
			f.Type = FieldMap
		case string(extra.Bytes()) != "false" && len(n.choices) == 0:
			return Field{Type: FieldJSON}
		}
	}
	seen := make(map[string]bool, len(n.properties))
	for _, p := range n.properties {
		if seen[p.name] {
			continue
		}
		if seen[p.name] = true; b.fields <= 0 {
			return Field{Type: FieldJSON, Note: "The schema has too many members for a form"}
		}
		sub := b.field(p.schema, path+"/"+escapePointer(p.name), depth+1)
		sub.Name, sub.Required = p.name, n.required[p.name]
		f.Fields = append(f.Fields, sub)
	}
	if hasExtra {
		if extra.Kind() != "object" {
			extra = wire.Payload{} // the names decide
		}
		sub := b.field(extra, path+"/*", depth+1)
		sub.Required, f.Items = true, &sub
	}
	return f
}

// escapePointer escapes a name for a JSON Pointer.
func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
