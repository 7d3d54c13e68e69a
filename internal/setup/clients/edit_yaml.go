package clients

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"
)

var errYAMLLayout = errors.New("its layout is one that cannot be edited line by line")

// putYAML adds an entry below the key, which holds a mapping or a list of entries with a
// name. It comes first there, since the line of the key is easily found and the end of a
// block is not.
func putYAML(data []byte, key, name string, entry value, there bool) ([]byte, error) {
	if there {
		var err error
		if data, err = removeYAML(data, key, name); err != nil {
			return nil, err
		}
	}
	isList := entry.get("name").kind == text && entry.get("enabled").kind == nothing
	if len(strings.TrimSpace(string(data))) == 0 {
		return []byte(key + ":\n" + yamlEntry(name, entry, isList, "  ", "\n")), nil
	}
	root, err := yamlRoot(data)
	if err != nil {
		return nil, err
	}
	end := lineEnd(data)
	keyNode, held := yamlMember(root, key)
	if keyNode == nil {
		if root != nil && (root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0) {
			return nil, errYAMLLayout
		}
		return appendBlock(data, key+":\n"+yamlEntry(name, entry, isList, "  ", "\n")), nil
	}
	lines := textLines(data)
	line := lines[keyNode.Line-1]
	indent := "  "
	switch {
	case len(held.Content) == 0 && (held.Tag == "!!null" || held.Style&yaml.FlowStyle != 0):
		// "key:", "key: {}" or "key: []", perhaps with a comment.
		at := strings.Index(line, ":")
		if at < 0 || held.Line != keyNode.Line && held.Tag != "!!null" {
			return nil, errYAMLLayout
		}
		rest := strings.TrimLeft(strings.TrimSpace(line[at+1:]), "{}[]~ ")
		rest = strings.TrimPrefix(rest, "null")
		if rest = strings.TrimSpace(rest); rest != "" {
			rest = " " + rest
		}
		line = line[:at+1] + rest + end
	case held.Style&yaml.FlowStyle != 0 || held.Line == keyNode.Line || held.Kind == yaml.AliasNode:
		return nil, errYAMLLayout
	default:
		indent = strings.Repeat(" ", held.Column-1)
		if !strings.HasSuffix(line, "\n") {
			return nil, errYAMLLayout
		}
	}
	lines[keyNode.Line-1] = line + yamlEntry(name, entry, isList, indent, end)
	return []byte(strings.Join(lines, "")), nil
}

// removeYAML removes the lines of an entry.
func removeYAML(data []byte, key, name string) ([]byte, error) {
	servers, err := findYAML(data, key)
	if err != nil {
		return nil, err
	}
	own := servers.entry(name)
	if own == nil {
		return nil, errYAMLLayout
	}
	lines := servers.lines
	from, to := servers.span(own)
	if len(servers.entries()) == 1 { // a key without a value is not an empty mapping
		line := strings.TrimRight(lines[servers.key.Line-1], "\r\n")
		colon := strings.Index(line, ":")
		empty := map[yaml.Kind]string{yaml.MappingNode: " {}", yaml.SequenceNode: " []"}[servers.held.Kind]
		lines[servers.key.Line-1] = line[:colon+1] + empty + line[colon+1:] + lineEnd(data)
	}
	return joinWithout(lines, from, to), nil
}

// yamlServers is where a file has its servers, in lines of their own.
type yamlServers struct {
	lines     []string
	key, held *yaml.Node
}

func findYAML(data []byte, key string) (yamlServers, error) {
	root, err := yamlRoot(data)
	if err != nil {
		return yamlServers{}, err
	}
	keyNode, held := yamlMember(root, key)
	if keyNode == nil || held.Style&yaml.FlowStyle != 0 || held.Line == keyNode.Line {
		return yamlServers{}, errYAMLLayout
	}
	return yamlServers{textLines(data), keyNode, held}, nil
}

// entries returns the keys of a mapping, or the items of a list.
func (s yamlServers) entries() []*yaml.Node {
	if s.held.Kind != yaml.MappingNode {
		return s.held.Content
	}
	var keys []*yaml.Node
	for i := 0; i+1 < len(s.held.Content); i += 2 {
		keys = append(keys, s.held.Content[i])
	}
	return keys
}

// entry returns the key or the item of an entry; nil if there is none. Of a list, the last of
// a name counts.
func (s yamlServers) entry(name string) (own *yaml.Node) {
	if s.held.Kind == yaml.MappingNode {
		own, _ = yamlMember(s.held, name)
		return own
	}
	for _, item := range s.held.Content {
		if _, called := yamlMember(item, "name"); called != nil && called.Value == name {
			own = item
		}
	}
	return own
}

// span returns the lines of an entry: from its first one up to the next that is not further in.
func (s yamlServers) span(own *yaml.Node) (from, to int) {
	from = own.Line - 1
	to = from + 1
	for to < len(s.lines) && (strings.TrimSpace(s.lines[to]) == "" || indentation(s.lines[to]) >= s.held.Column) {
		to++
	}
	for to > from+1 && strings.TrimSpace(s.lines[to-1]) == "" {
		to--
	}
	return from, to
}

func yamlMember(n *yaml.Node, name string) (key, held *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// yamlEntry writes an entry in lines, as a member of a mapping or an item of a list.
func yamlEntry(name string, entry value, isList bool, indent, end string) string {
	var out strings.Builder
	inner := indent + "  "
	if !isList {
		out.WriteString(indent + yamlText(name) + ":" + end)
	}
	for i, m := range entry.members {
		before := inner
		if isList && i == 0 {
			before = indent + "- "
		}
		out.WriteString(before + yamlText(m.name) + ": " + yamlValue(m.value) + end)
	}
	return out.String()
}

// yamlValue writes a value on one line, in the part of YAML that is JSON.
func yamlValue(v value) string {
	if v.kind == text {
		return yamlText(v.text)
	}
	if v.kind == list && len(v.items) > 0 {
		items := make([]string, len(v.items))
		for i, item := range v.items {
			items[i] = string(encodeJSON(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return string(encodeJSON(v))
}

// yamlText leaves words without quotes that are read as the same text.
func yamlText(s string) string {
	var read any
	if isPlain(s, "_-/. ") && yaml.Unmarshal([]byte(s), &read) == nil && read == any(s) {
		return s
	}
	return string(quoteJSON(s))
}
