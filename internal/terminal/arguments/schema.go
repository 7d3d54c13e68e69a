package arguments

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// maxHops is the number of references and alternatives followed to determine the type of a value.
const maxHops = 16

// schema is one JSON Schema inside of a tool's, limited to what it says about types and values.
type schema struct {
	wire.Payload
	root wire.Payload // for resolving references
	work *int         // bytes that may still be read, counted each time; nil: any
}

// afford counts work on a schema, and reports whether it may be done.
func (s schema) afford(work int) bool {
	if s.work == nil {
		return true
	}
	*s.work = max(*s.work-work, -1)
	return *s.work >= 0
}

// follow resolves a local reference; any other schema is returned unchanged.
func (s schema) follow() schema {
	for range maxHops {
		target := s.step()
		if target.IsAbsent() {
			return s
		}
		s.Payload = target
	}
	return s
}

// step returns the target of the schema's local reference; absent without one.
func (s schema) step() wire.Payload {
	if !s.afford(len(s.Bytes())) {
		return wire.Payload{}
	}
	path, ok := s.Member("$ref").Text()
	if ok && !s.afford(len(s.root.Bytes())) {
		return wire.Payload{}
	}
	if !ok || path != "#" && !strings.HasPrefix(path, "#/") {
		return wire.Payload{}
	}
	target := s.root
	for _, step := range strings.Split(path, "/")[1:] {
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if at, err := strconv.Atoi(name); err == nil && target.Kind() == "array" {
			target = nth(target, at)
			continue
		}
		target = target.Member(name)
	}
	return target
}

func nth(list wire.Payload, at int) wire.Payload {
	for element := range list.Elements() {
		if at--; at < 0 {
			return element
		}
	}
	return wire.Payload{}
}

// property returns the schema of an object's member; ok is false if it is not named.
func (s schema) property(name string) (schema, bool) {
	for _, one := range s.alternatives() {
		if found := one.Member("properties").Member(name); !found.IsAbsent() {
			return s.part(found).follow(), true
		}
	}
	return s.part(wire.Payload{}), false
}

// part returns a part of the schema.
func (s schema) part(of wire.Payload) schema { return schema{of, s.root, s.work} }

// names returns the named members.
func (s schema) names() (names []string) {
	seen := make(map[string]bool)
	for _, one := range s.alternatives() {
		for key := range one.Member("properties").Members() {
			if !seen[string(key)] {
				seen[string(key)] = true
				names = append(names, string(key))
			}
		}
	}
	return names
}

func (s schema) items() schema { return s.part(s.Member("items")).follow() }

// alternatives returns the schema and those that it is composed of.
func (s schema) alternatives() []schema {
	all := []schema{s.follow()}
	for i := 0; i < len(all) && len(all) < maxHops; i++ {
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			if !s.afford(len(all[i].Bytes())) {
				return all
			}
			for choice := range all[i].Member(key).Elements() {
				all = append(all, s.part(choice).follow())
			}
		}
	}
	return all
}

// types returns the permitted JSON types of a value; nil: any.
func (s schema) types() (types []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	for _, one := range s.alternatives() {
		kind := one.Member("type")
		name, _ := kind.Text()
		add(name)
		for element := range kind.Elements() {
			name, _ := element.Text()
			add(name)
		}
		if kind.IsAbsent() {
			for _, value := range one.values() {
				add(value.Kind())
			}
		}
	}
	return types
}

// values returns the constants permitted as a value; nil: any.
func (s schema) values() (values []wire.Payload) {
	if constant := s.Member("const"); !constant.IsAbsent() {
		return []wire.Payload{constant}
	}
	return slices.Collect(s.Member("enum").Elements())
}
