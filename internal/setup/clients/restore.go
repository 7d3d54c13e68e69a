package clients

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
)

// restore returns a file with a previous entry added again. index is its position among the previous entries, and it
// keeps that position relative to those that remain.
func restore(file string, data, before []byte, servers []string, had []member, index int) ([]byte, error) {
	entry := had[index]
	if formatOf(file) == shellFormat {
		return appendBlock(data, entry.value.text), nil
	}
	root, err := parse(file, data)
	if err != nil {
		return nil, broken(file, err)
	}
	left := named(root.at(servers))
	at := placeAmong(left, had, index)
	var after []byte
	switch formatOf(file) {
	case tomlFormat:
		after = restoreTOML(data, before, servers, left, entry.name, at)
	case yamlFormat:
		after, err = restoreYAML(data, before, servers[0], entry, at)
	default:
		after, err = jsonc.Restore(data, before, entryPath(servers, entry.name), at)
	}
	if err != nil {
		return nil, unchanged(file, err)
	}
	return after, nil
}

// placeAmong returns how many remaining entries precede the restored one: it follows its nearest predecessor, or else
// precedes its nearest successor.
func placeAmong(left, had []member, index int) int {
	placeOf := func(name string) int {
		return slices.IndexFunc(left, func(m member) bool { return m.name == name })
	}
	for _, m := range slices.Backward(had[:index]) {
		if i := placeOf(m.name); i >= 0 {
			return i + 1
		}
	}
	for _, m := range had[index+1:] {
		if i := placeOf(m.name); i >= 0 {
			return i
		}
	}
	return len(left)
}

// restoreTOML adds the lines of an entry's tables again, with their comments.
func restoreTOML(data, before []byte, servers []string, left []member, name string, at int) []byte {
	var block strings.Builder
	had := textLines(before)
	for _, table := range tomlTables(had, entryPath(servers, name)) {
		block.WriteString(strings.Join(had[table.from:table.to], ""))
	}
	lines := textLines(data)
	if at == 0 && len(left) > 0 {
		if tables := tomlTables(lines, entryPath(servers, left[0].name)); len(tables) > 0 {
			return insertBlock(lines, tables[0].from, block.String())
		}
	}
	if at > 0 {
		if tables := tomlTables(lines, entryPath(servers, left[at-1].name)); len(tables) > 0 {
			return insertBlock(lines, tables[len(tables)-1].to, block.String())
		}
	}
	return appendBlock(data, block.String())
}

// insertBlock inserts lines before the one at an index, with an empty line on both sides.
func insertBlock(lines []string, at int, block string) []byte {
	out := appendBlock([]byte(strings.Join(lines[:at], "")), block)
	rest := strings.Join(lines[at:], "")
	if end := lineEnd(out); rest != "" && !strings.HasPrefix(strings.TrimLeft(rest, " \t\r"), "\n") {
		if !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, end...)
		}
		out = append(out, end...)
	}
	return append(out, rest...)
}

// restoreYAML adds the lines of an entry again. It formats the entry anew if no other entry shows the indentation.
func restoreYAML(data, before []byte, key string, entry member, at int) ([]byte, error) {
	had, err := findYAML(before, key)
	if err != nil {
		return nil, err
	}
	now, err := findYAML(data, key)
	own := had.entry(entry.name)
	if err != nil || own == nil || len(now.entries()) == 0 {
		return putYAML(data, key, entry.name, entry.value, false)
	}
	wasIndent, indent := had.held.Column-1, strings.Repeat(" ", now.held.Column-1)
	from, to := had.span(own)
	var block strings.Builder
	for _, line := range had.lines[from:to] {
		if strings.TrimSpace(line) != "" {
			line = indent + line[min(wasIndent, indentation(line)):]
		}
		block.WriteString(strings.TrimRight(line, "\r\n") + lineEnd(data))
	}
	entries := now.entries()
	line := 0
	if at == 0 {
		line, _ = now.span(entries[0])
	} else {
		_, line = now.span(entries[min(at, len(entries))-1])
	}
	return []byte(ensureLineEnd(strings.Join(now.lines[:line], ""), lineEnd(data)) + block.String() + strings.Join(now.lines[line:], "")), nil
}

// ensureLineEnd adds a line ending to a text that lacks one.
func ensureLineEnd(text, end string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + end
}

// replaceEntry returns a file with the value of an existing entry replaced.
func replaceEntry(file string, data []byte, servers []string, name string, want value) (after []byte, err error) {
	switch formatOf(file) {
	case shellFormat:
		return appendBlock(removeShell(data, name), want.text), nil
	case tomlFormat:
		after, err = putTOML(data, servers, name, want)
	case yamlFormat:
		after, err = putYAML(data, servers[0], name, want, true)
	default:
		after, err = replaceJSON(data, entryPath(servers, name), want)
	}
	if err != nil {
		return nil, unchanged(file, err)
	}
	return after, nil
}

// replaceJSON changes only members that differ, so that comments stay.
func replaceJSON(data []byte, path []string, want value) ([]byte, error) {
	root, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	now := root.at(path)
	for _, m := range now.members {
		if _, stays := want.member(m.name); !stays {
			if data, err = jsonc.Remove(data, entryPath(path, m.name)); err != nil {
				return nil, err
			}
		}
	}
	for _, m := range want.members {
		if is, isThere := now.member(m.name); isThere && same(is, m.value) {
			continue
		}
		if data, err = jsonc.Set(data, entryPath(path, m.name), encodeJSON(m.value)); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// dropKey removes a key with an empty value.
func dropKey(file string, data []byte, path []string) ([]byte, error) {
	switch formatOf(file) {
	case jsonFormat:
		return jsonc.Remove(data, path)
	case yamlFormat:
		root, err := yamlRoot(data)
		if err != nil || len(path) != 1 {
			return data, err
		}
		if key, held := yamlMember(root, path[0]); key != nil && held.Line == key.Line && held.Style&yaml.FlowStyle != 0 {
			return joinWithout(textLines(data), key.Line-1, key.Line), nil
		}
	}
	return data, nil
}

// isBlank reports whether a file is empty, without even a comment.
func isBlank(file string, data []byte) bool {
	text := string(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF"))))
	if formatOf(file) == jsonFormat {
		text = strings.Join(strings.Fields(text), "")
	}
	return text == "" || text == "{}"
}
