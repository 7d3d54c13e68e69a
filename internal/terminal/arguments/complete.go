package arguments

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Suggestion is a completion of a word.
type Suggestion struct {
	Word        string
	Description string // may be empty
	Partial     bool   // the word continues
}

// Complete suggests completions of the current word from the schema alone: names of parameters without a value,
// required ones first, and the values of enumerations. before are the preceding words.
func Complete(before []string, begun string, inputSchema wire.Payload) []Suggestion {
	root := schema{Payload: inputSchema, root: inputSchema}.follow()
	var all []Suggestion
	if key, _, ok := strings.Cut(begun, "="); ok {
		_, s := root.resolve(key)
		all = suggestValues(key+"=", s)
	} else {
		prefix, s := root.descend(begun)
		all = suggestNames(prefix, s, keysSet(before))
	}
	return slices.DeleteFunc(all, func(s Suggestion) bool { return !strings.HasPrefix(s.Word, begun) })
}

// descend descends into the objects named by the dotted prefix of a key.
func (s schema) descend(key string) (prefix string, inner schema) {
	inner = s
	for {
		name, _, ok := strings.Cut(key[len(prefix):], ".")
		next, named := inner.property(name)
		if !ok || !named {
			return prefix, inner
		}
		prefix, inner = prefix+name+".", next
	}
}

// keysSet returns the keys that words set. It reads no files.
func keysSet(words []string) map[string]bool {
	keys := make(map[string]bool)
	for _, word := range words {
		if strings.HasPrefix(strings.TrimSpace(word), "{") {
			if object, err := wire.ParseValue([]byte(word)); err == nil {
				for key := range object.Members() {
					keys[string(key)] = true
				}
			}
			continue
		}
		if key, _, ok := strings.Cut(word, "="); ok {
			keys[strings.TrimSuffix(key, ":")] = true
		}
	}
	return keys
}

func suggestNames(prefix string, s schema, given map[string]bool) []Suggestion {
	required := s.required()
	var first, later []Suggestion
	for _, name := range s.names() {
		of, _ := s.property(name)
		types := of.types()
		if strings.Contains(name, "=") || given[prefix+name] && !slices.Contains(types, "array") {
			continue
		}
		suggestion := Suggestion{Word: prefix + name + "=", Description: of.describe(), Partial: true}
		if isOnly(types, "object") {
			suggestion.Word = prefix + name + ":="
			if len(of.names()) > 0 {
				suggestion.Word = prefix + name + "."
			}
		}
		if slices.Contains(required, name) {
			suggestion.Description = strings.TrimSpace("(required) " + suggestion.Description)
			first = append(first, suggestion)
		} else {
			later = append(later, suggestion)
		}
	}
	return append(first, later...)
}

// suggestValues returns nothing if any value is permitted.
func suggestValues(prefix string, s schema) (all []Suggestion) {
	options := s.alternatives()
	for _, one := range s.alternatives() {
		if items := one.Member("items"); items.Kind() == "object" {
			options = append(options, one.items().alternatives()...)
		}
	}
	add := func(value, title string) {
		word := prefix + value
		if !slices.ContainsFunc(all, func(s Suggestion) bool { return s.Word == word }) {
			all = append(all, Suggestion{Word: word, Description: title})
		}
	}
	for _, one := range options {
		title, _ := one.Member("title").Text()
		values := one.values()
		if len(values) > 1 {
			title = "" // it describes all of them
		}
		for _, value := range values {
			text, isText := value.Text()
			if !isText {
				text = string(compact(value.Bytes()))
			}
			add(text, title)
		}
		if kind, _ := one.Member("type").Text(); kind == "boolean" && len(values) == 0 {
			add("true", "")
			add("false", "")
		}
	}
	return all
}

func (s schema) required() (names []string) {
	for _, one := range s.alternatives() {
		for element := range one.Member("required").Elements() {
			name, _ := element.Text()
			names = append(names, name)
		}
	}
	return names
}

// describe returns the description of the value, or else its type.
func (s schema) describe() string {
	for _, key := range []string{"description", "title"} {
		if text, ok := s.Member(key).Text(); ok && text != "" {
			return text
		}
	}
	return describeTypes(s.types())
}

func isOnly(types []string, kind string) bool {
	return len(types) > 0 && !slices.ContainsFunc(types, func(name string) bool { return name != kind && name != "null" })
}
