package config

import (
	"bytes"
	"encoding/json"
)

// Schema returns the JSON Schema (draft 2020-12) of the configuration file.
func Schema() []byte {
	schema := ordered{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "MCP Workbench configuration"},
		{"description", "Groups MCP servers into toolboxes. ${VAR} and ${VAR:-default} are expanded in all strings."},
	}
	data, err := json.MarshalIndent(append(schema, rootObject.schema()...), "", "  ")
	if err != nil {
		panic(err) // the descriptions are part of the program, and a test renders them
	}
	return append(data, '\n')
}

// ordered is a JSON object that keeps its order, so that editors list the keys in the order of the descriptions.
type ordered []struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// with appends a member.
func (o ordered) with(name string, value any) ordered {
	return append(o, ordered{{name, value}}...)
}

func (o *object) schema() ordered {
	var properties ordered
	var required []string
	for i := range o.keys {
		k := &o.keys[i]
		properties = properties.with(k.name, k.schema())
		if k.required != "" {
			required = append(required, k.name)
		}
	}
	s := ordered{{"type", kindObject}, {"properties", properties}, {"additionalProperties", false}}
	if required != nil {
		s = s.with("required", required)
	}
	var choices []ordered
	for _, name := range o.oneOf {
		choices = append(choices, ordered{{"required", []string{name}}})
	}
	if choices != nil {
		s = s.with("oneOf", choices)
	}
	return s
}

func (k *key) schema() ordered {
	s := ordered{{"description", k.description}}
	if k.fallback != "" {
		s = s.with("default", json.RawMessage(k.fallback))
	}
	if k.example != "" {
		s = s.with("examples", []json.RawMessage{json.RawMessage(k.example)})
	}
	switch {
	case k.members != nil && k.kinds[0] == kindArray:
		return append(s, ordered{{"type", kindArray}, {"items", k.members.schema()}}...)
	case k.members != nil:
		members := k.members.schema()
		if len(k.kinds) > 1 { // the rules for members apply to objects only
			members[0].value = k.kinds
		}
		return append(s, members...)
	case k.entries != nil:
		return append(s, k.entries.schema()...)
	case k.scalars:
		return append(s, ordered{{"type", kindArray}, {"items", ordered{{"type", []string{"string", "number", "boolean", "null"}}}}}...)
	case k.decimal:
		return s.with("type", "number")
	case len(k.kinds) == 1:
		s = s.with("type", k.kinds[0])
	default:
		s = s.with("type", k.kinds)
	}
	if k.kinds[len(k.kinds)-1] == kindArray {
		return s.with("items", k.textRules(ordered{{"type", kindString}}))
	}
	return k.textRules(s)
}

// textRules adds the rules for the strings of a key. A variable may replace a word of an enumeration.
func (k *key) textRules(s ordered) ordered {
	if k.enum != nil {
		s = s.with("anyOf", []ordered{{{"enum", k.enum}}, {{"pattern", `\$\{`}}})
	}
	if k.nonEmpty {
		s = s.with("minLength", 1)
	}
	if k.pattern != "" {
		s = s.with("pattern", k.pattern)
	}
	return s
}

func (e *entries) schema() ordered {
	s := ordered{{"type", kindObject}, {"propertyNames", ordered{{"minLength", 1}}}}
	if e.lists {
		return s.with("additionalProperties", ordered{{"type", kindArray}, {"items", ordered{{"type", kindString}, {"minLength", 1}}}})
	}
	if e.object == nil {
		return s.with("additionalProperties", ordered{{"type", kindString}})
	}
	return s.with("additionalProperties", e.object.schema())
}
