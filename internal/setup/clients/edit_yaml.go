package clients

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"
)

var errYAMLLayout = errors.New("its layout cannot be edited line by line")

// putYAML adds an entry below the key, which contains a mapping or a list of named entries. The entry becomes the first
// one, since the line of the key is easy to find and the end of a block is not.
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
		// "key:", "key: {}" or "key: []", possibly with a comment.
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

// yamlServers is the node of a file that contains the servers, in lines of their own.
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

// entry returns the key or item of an entry, or nil. In a list, the last entry of a name wins.
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

// span returns the lines of an entry: from its first line up to the next one that is not indented further.
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

// yamlEntry formats an entry as lines, as a member of a mapping or an item of a list.
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

// yamlValue formats a value on one line, in the JSON subset of YAML.
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

// yamlText omits the quotes of words that YAML reads as the same text.
func yamlText(s string) string {
	var read any
	if isPlain(s, "_-/. ") && yaml.Unmarshal([]byte(s), &read) == nil && read == any(s) {
		return s
	}
	return string(quoteJSON(s))
}
