package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
)

// maxDepth is the nesting of values in a client's file.
const maxDepth = 200

// maxValues is the number of values in a client's file; YAML aliases can stand for very many.
const maxValues = 1_000_000

type format int

const (
	jsonFormat  format = iota // with comments and trailing commas, where the file has them
	tomlFormat                // tables such as [mcp_servers.name]
	yamlFormat                // a mapping, or a list of entries with a name
	shellFormat               // a script that the client runs; only a marked block of it is ours
)

func formatOf(path string) format {
	base := strings.ToLower(filepath.Base(strings.ReplaceAll(path, `\`, "/")))
	switch filepath.Ext(base) {
	case ".toml":
		return tomlFormat
	case ".yaml", ".yml":
		return yamlFormat
	}
	if strings.TrimPrefix(base, ".") == "crushrc" {
		return shellFormat
	}
	return jsonFormat
}

// syntaxError is the position of a mistake in a file. It quotes nothing, since the text may be a secret.
type syntaxError struct{ line, column int }

func (e *syntaxError) Error() string {
	if e.column == 0 {
		return fmt.Sprintf("something is wrong at line %d", e.line)
	}
	return fmt.Sprintf("something is wrong at line %d, column %d", e.line, e.column)
}

type kind int

const (
	nothing kind = iota // absent or null
	object
	list
	text
	literal // a number, boolean or date, as written in JSON
)

// value is a part of a file in any format: ordered, without comments.
type value struct {
	kind    kind
	text    string // of text and literal
	members []member
	items   []value
}

type member struct {
	name  string
	value value
}

// get returns a member, or nothing.
func (v value) get(name string) value {
	for _, m := range v.members {
		if m.name == name {
			return m.value
		}
	}
	return value{}
}

// at returns the value at a path.
func (v value) at(path []string) value {
	for _, name := range path {
		v = v.get(name)
	}
	return v
}

func (v value) isEmpty() bool { return len(v.members) == 0 && len(v.items) == 0 && v.text == "" }

func textValue(s string) value { return value{kind: text, text: s} }

func textList(texts []string) value {
	v := value{kind: list}
	for _, s := range texts {
		v.items = append(v.items, textValue(s))
	}
	return v
}

// parse parses a file of any format. Empty content is an empty object.
func parse(path string, data []byte) (value, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	format := formatOf(path)
	if format == shellFormat || len(bytes.TrimSpace(data)) == 0 {
		return value{kind: object}, nil
	}
	var root value
	var err error
	switch format {
	case tomlFormat:
		root, err = parseTOML(data)
	case yamlFormat:
		root, err = parseYAML(data)
	default:
		root, err = parseJSON(data)
	}
	if err == nil && root.kind != object && root.kind != nothing {
		err = errors.New("it does not contain an object")
	}
	return root, err
}

func parseJSON(data []byte) (value, error) {
	if nesting(data) > maxDepth {
		return value{}, fmt.Errorf("values are nested more than %d deep", maxDepth)
	}
	// A line comment needs a line ending, even in the last line.
	parsed, err := hujson.Parse(append(bytes.Clone(data), '\n'))
	if err != nil {
		fault := &syntaxError{line: 1}
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &fault.line, &fault.column)
		return value{}, fault
	}
	return fromJSON(parsed)
}

func fromJSON(v hujson.Value) (value, error) {
	switch v := v.Value.(type) {
	case hujson.Literal:
		switch v.Kind() {
		case '"':
			return textValue(v.String()), nil
		case 'n':
			return value{}, nil
		}
		return value{kind: literal, text: string(v)}, nil
	case *hujson.Array:
		out := value{kind: list}
		for _, element := range v.Elements {
			item, err := fromJSON(element)
			if err != nil {
				return value{}, err
			}
			out.items = append(out.items, item)
		}
		return out, nil
	case *hujson.Object:
		out := value{kind: object}
		for _, m := range v.Members {
			name, ok := m.Name.Value.(hujson.Literal)
			if !ok {
				return value{}, errors.New("a key is not a string")
			}
			inner, err := fromJSON(m.Value)
			if err != nil {
				return value{}, err
			}
			out.members = append(out.members, member{name.String(), inner})
		}
		return out, nil
	}
	return value{}, errors.New("it is not valid JSON")
}

// nesting returns the depth of brackets outside of strings and comments. It protects the recursive parsers from a stack
// overflow.
func nesting(data []byte) int {
	depth, deepest := 0, 0
	var quote byte
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quote != 0 && c == '\\' && quote == '"':
			i++
		case quote != 0:
			if c == quote || c == '\n' {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '#' || c == '/' && bytes.HasPrefix(data[i:], []byte("//")):
			i += lengthUpTo(data[i:], "\n")
		case c == '/' && bytes.HasPrefix(data[i:], []byte("/*")):
			i += lengthUpTo(data[i:], "*/")
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

func lengthUpTo(data []byte, end string) int {
	if at := bytes.Index(data, []byte(end)); at >= 0 {
		return at
	}
	return len(data)
}

func parseTOML(data []byte) (value, error) {
	if nesting(data) > maxDepth {
		return value{}, fmt.Errorf("values are nested more than %d deep", maxDepth)
	}
	var root map[string]any
	meta, err := toml.Decode(string(data), &root)
	if err != nil {
		fault := &syntaxError{line: 1}
		if wrong, ok := errors.AsType[toml.ParseError](err); ok {
			fault.line = wrong.Position.Line
		}
		return value{}, fault
	}
	order := make(map[string]int)
	for i, key := range meta.Keys() {
		for n := range key {
			name := strings.Join(key[:n+1], "\x00")
			if _, known := order[name]; !known {
				order[name] = i
			}
		}
	}
	return fromTOML(root, "", order), nil
}

// fromTOML orders tables as in the file; the decoder provides the order separately.
func fromTOML(v any, path string, order map[string]int) value {
	switch v := v.(type) {
	case map[string]any:
		out := value{kind: object}
		for name, inner := range v {
			out.members = append(out.members, member{name, fromTOML(inner, path+name+"\x00", order)})
		}
		slices.SortFunc(out.members, func(a, b member) int {
			if d := order[path+a.name] - order[path+b.name]; d != 0 {
				return d
			}
			return strings.Compare(a.name, b.name)
		})
		return out
	case []map[string]any:
		out := value{kind: list}
		for _, inner := range v {
			out.items = append(out.items, fromTOML(inner, path, order))
		}
		return out
	case []any:
		out := value{kind: list}
		for _, inner := range v {
			out.items = append(out.items, fromTOML(inner, path, order))
		}
		return out
	case string:
		return textValue(v)
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		return value{kind: literal, text: fmt.Sprint(v)}
	}
	return value{kind: literal, text: string(encoded)}
}

func parseYAML(data []byte) (value, error) {
	root, err := yamlRoot(data)
	if err != nil || root == nil {
		return value{kind: object}, err
	}
	budget := maxValues
	return fromYAML(root, &budget, 0)
}

// yamlRoot returns the only document of a file; nil without one.
func yamlRoot(data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil {
		fault := &syntaxError{line: 1}
		_, _ = fmt.Sscanf(err.Error(), "yaml: line %d:", &fault.line)
		return nil, fault
	}
	if decoder.Decode(&second) == nil {
		return nil, errors.New("it contains more than one document")
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	return document.Content[0], nil
}

func fromYAML(n *yaml.Node, budget *int, depth int) (value, error) {
	if *budget--; *budget < 0 || depth > maxDepth {
		return value{}, errors.New("it contains too many values, or they are nested too deeply")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return fromYAML(n.Alias, budget, depth+1)
	case yaml.SequenceNode:
		out := value{kind: list}
		for _, inner := range n.Content {
			item, err := fromYAML(inner, budget, depth+1)
			if err != nil {
				return value{}, err
			}
			out.items = append(out.items, item)
		}
		return out, nil
	case yaml.MappingNode:
		out := value{kind: object}
		for i := 0; i+1 < len(n.Content); i += 2 {
			inner, err := fromYAML(n.Content[i+1], budget, depth+1)
			if err != nil {
				return value{}, err
			}
			out.members = append(out.members, member{n.Content[i].Value, inner})
		}
		return out, nil
	}
	switch n.ShortTag() {
	case "!!str":
		return textValue(n.Value), nil
	case "!!null":
		return value{}, nil
	}
	return value{kind: literal, text: n.Value}, nil
}
