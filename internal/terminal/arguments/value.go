package arguments

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// parseValue converts the typed value of a key to JSON, with the types that its schema permits; isElement marks an
// element of a list.
func parseValue(key, text string, raw bool, s schema) (value []byte, isElement bool, err error) {
	literal, err := wire.ParseValue([]byte(text))
	isJSON := err == nil && text != ""
	if raw {
		if !isJSON {
			return nil, false, invalid(fmt.Sprintf("The value of '%s' cannot be read as JSON: %s", key, text), fmt.Sprintf("For a text, write %s=TEXT.", key), err)
		}
		return compact(literal.Bytes()), false, nil
	}
	if value := scalar(text, literal, isJSON, s); value != nil {
		return value, false, nil
	}
	types := s.types()
	if slices.Contains(types, "array") {
		value, err = element(key, text, s)
		return value, true, err
	}
	return nil, false, invalid(fmt.Sprintf("Parameter '%s' takes %s, not '%s'", key, describeTypes(types), text), "", nil)
}

// Value converts one typed value to JSON by its schema; ok is false if the schema permits no such
// value.
func Value(text string, valueSchema wire.Payload) (value []byte, ok bool) {
	literal, err := wire.ParseValue([]byte(text))
	value = scalar(text, literal, err == nil && text != "", schema{Payload: valueSchema, root: valueSchema})
	return value, value != nil
}

// scalar returns nil for a text that fits no permitted type. Text that looks like JSON of a permitted type is parsed as
// JSON; other text is a string.
func scalar(text string, literal wire.Payload, isJSON bool, s schema) []byte {
	types := s.types()
	takesText := len(types) == 0 || slices.Contains(types, "string")
	if takesText {
		for _, one := range s.alternatives() {
			for _, value := range one.values() {
				if constant, ok := value.Text(); ok && constant == text {
					return wire.AppendString(nil, text)
				}
			}
		}
	}
	if isJSON && permits(types, literal) && (!takesText || literal.Kind() != "string") {
		return compact(literal.Bytes())
	}
	if takesText {
		return wire.AppendString(nil, text)
	}
	return nil
}

// permits reports whether a value of that kind is permitted.
func permits(types []string, value wire.Payload) bool {
	kind := value.Kind()
	return len(types) == 0 || slices.Contains(types, kind) || kind == "number" && slices.Contains(types, "integer")
}

// element returns an element of a list.
func element(key, text string, s schema) ([]byte, error) {
	list := s
	for _, one := range s.alternatives() {
		if !one.Member("items").IsAbsent() {
			list = one
		}
	}
	items := list.items()
	literal, err := wire.ParseValue([]byte(text))
	if value := scalar(text, literal, err == nil && text != "", items); value != nil {
		return value, nil
	}
	return nil, invalid(fmt.Sprintf("Parameter '%s' takes a list of %s, not '%s'", key, describeTypes(items.types()), text), "", nil)
}

// describeTypes describes the permitted types.
func describeTypes(types []string) string {
	words := make([]string, len(types))
	for i, name := range types {
		switch name {
		case "boolean":
			words[i] = "true or false"
		case "integer":
			words[i] = "a whole number"
		case "array":
			words[i] = "a list"
		case "object":
			words[i] = "a JSON object"
		case "string":
			words[i] = "a text"
		default:
			words[i] = withArticle(name)
		}
	}
	return strings.Join(words, " or ")
}

// object is a JSON object whose members are set one after another and keep their order.
type object struct {
	keys   []string
	values map[string][]byte  // raw JSON of a member
	nested map[string]*object // or a member that is set in parts
}

func (o *object) remember(key string) {
	if o.values == nil {
		o.values, o.nested = make(map[string][]byte), make(map[string]*object)
	}
	if o.values[key] == nil && o.nested[key] == nil {
		o.keys = append(o.keys, key)
	}
}

func (o *object) set(key string, value []byte) {
	o.remember(key)
	delete(o.nested, key)
	o.values[key] = value
}

func (o *object) get(key string) []byte { return o.values[key] }

// inner returns the object in a member; ok is false if the member is not an object.
func (o *object) inner(key string) (*object, bool) {
	o.remember(key)
	if inner := o.nested[key]; inner != nil {
		return inner, true
	}
	inner := &object{}
	if before, ok := o.values[key]; ok {
		if wire.Raw(before).Kind() != "object" {
			return nil, false
		}
		for name, value := range wire.Raw(before).Members() {
			inner.set(string(name), value.Bytes())
		}
		delete(o.values, key)
	}
	o.nested[key] = inner
	return inner, true
}

func (o *object) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, key := range o.keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(wire.AppendString(dst, key), ':')
		if inner := o.nested[key]; inner != nil {
			dst = inner.append(dst)
		} else {
			dst = append(dst, o.values[key]...)
		}
	}
	return append(dst, '}')
}
