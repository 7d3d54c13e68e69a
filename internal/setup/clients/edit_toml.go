package clients

import (
	"errors"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// putTOML adds a table for the entry at the end of the file, or replaces the existing one.
func putTOML(data []byte, servers []string, name string, entry value) ([]byte, error) {
	without, err := removeTOMLTables(data, servers, name)
	if err != nil && !errors.Is(err, errNoTable) {
		return nil, err
	}
	if isInline(without, servers) {
		return nil, errors.New("its servers are in an inline table, which TOML does not allow to extend")
	}
	var block strings.Builder
	block.WriteString("[" + tomlPath(entryPath(servers, name)) + "]\n")
	for _, m := range entry.members {
		block.WriteString(tomlKey(m.name) + " = " + tomlValue(m.value) + "\n")
	}
	return appendBlock(without, block.String()), nil
}

var errNoTable = errors.New("the entry has no table of its own")

// isInline reports whether there is an object of servers, even an empty one, but no table. This parser would accept an added
// table; the client's would not.
func isInline(data []byte, servers []string) bool {
	root, err := parseTOML(data)
	return err == nil && root.at(servers).kind != nothing &&
		!slices.ContainsFunc(textLines(data), func(line string) bool { return isBelow(tomlHeader(line), servers) })
}

// removeTOML removes an entry, whether it is a table, an inline table or dotted keys.
func removeTOML(data []byte, servers []string, name string) ([]byte, error) {
	if after, err := removeTOMLTables(data, servers, name); err == nil {
		return after, nil
	}
	lines := textLines(data)
	statements := tomlStatements(lines, entryPath(servers, name))
	if len(statements) == 0 {
		return data, errNoTable
	}
	for _, statement := range slices.Backward(statements) {
		lines = textLines(joinWithout(lines, statement.from, statement.to))
	}
	return []byte(strings.Join(lines, "")), nil
}

// tomlStatements returns the lines of each key with its value that belongs to an entry and to nothing else: workbench =
// { … } below [mcp_servers], or mcp_servers.workbench.command = ….
func tomlStatements(lines []string, own []string) (statements []lineRange) {
	var table []string
	for from := 0; from < len(lines); {
		if header := tomlHeader(lines[from]); header != nil {
			table = header
		}
		content, to := tomlStatement(lines, from)
		if to == 0 {
			return nil
		}
		if isBelow(own, table) && isOnly(content, own[len(table):]) {
			statements = append(statements, lineRange{from, to})
		}
		from = to
	}
	return statements
}

// maxStatement is the number of lines of a TOML value.
const maxStatement = 200

// tomlStatement parses the key and value that start in a line, and returns the line after them. It returns the next
// line if there are none, and 0 if the value is too long.
func tomlStatement(lines []string, from int) (content map[string]any, to int) {
	if isTOMLFiller(lines[from]) || tomlHeader(lines[from]) != nil {
		return nil, from + 1
	}
	for to = from + 1; to <= min(len(lines), from+maxStatement); to++ {
		content = nil
		if _, err := toml.Decode(strings.Join(lines[from:to], ""), &content); err == nil {
			return content, to
		}
	}
	return nil, 0
}

// isOnly reports whether a path exists and has no siblings.
func isOnly(content map[string]any, path []string) bool {
	for i, key := range path {
		inner, ok := content[key]
		if !ok || len(content) != 1 {
			return false
		}
		if i == len(path)-1 {
			return true
		}
		if content, ok = inner.(map[string]any); !ok {
			return false
		}
	}
	return false
}

// removeTOMLTables removes the lines of the entry's table and of the tables below it.
func removeTOMLTables(data []byte, servers []string, name string) ([]byte, error) {
	lines := textLines(data)
	tables := tomlTables(lines, entryPath(servers, name))
	if len(tables) == 0 {
		return data, errNoTable
	}
	for _, table := range slices.Backward(tables) {
		lines = textLines(joinWithout(lines, table.from, table.to))
	}
	return []byte(strings.Join(lines, "")), nil
}

// lineRange is a half-open range of lines.
type lineRange struct{ from, to int }

// tomlTables returns the lines of a table and its subtables. Comments and empty lines before the next table belong to
// that one.
func tomlTables(lines []string, own []string) (tables []lineRange) {
	for from := 0; from < len(lines); from++ {
		if !isBelow(tomlHeader(lines[from]), own) {
			continue
		}
		to := from + 1
		for to < len(lines) && tomlHeader(lines[to]) == nil {
			to++
		}
		if to < len(lines) {
			for to > from+1 && isTOMLFiller(lines[to-1]) {
				to--
			}
		}
		tables = append(tables, lineRange{from, to})
		from = to - 1
	}
	return tables
}

// tomlHeader returns the path of a line such as [a.b]; nil for any other line.
func tomlHeader(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "[") {
		return nil
	}
	var ignored map[string]any
	meta, err := toml.Decode(line, &ignored)
	if err != nil || len(meta.Keys()) == 0 {
		return nil
	}
	keys := meta.Keys()
	return keys[len(keys)-1]
}

func isBelow(path, parent []string) bool {
	return len(path) >= len(parent) && slices.Equal(path[:len(parent)], parent)
}

func isTOMLFiller(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "#")
}

func tomlPath(path []string) string {
	keys := make([]string, len(path))
	for i, key := range path {
		keys[i] = tomlKey(key)
	}
	return strings.Join(keys, ".")
}

func tomlKey(key string) string {
	if isPlain(key, "_-") {
		return key
	}
	return string(quoteJSON(key)) // JSON escapes are valid TOML escapes
}

func tomlValue(v value) string {
	switch v.kind {
	case object:
		pairs := make([]string, len(v.members))
		for i, m := range v.members {
			pairs[i] = tomlKey(m.name) + " = " + tomlValue(m.value)
		}
		if len(pairs) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(pairs, ", ") + " }"
	case list:
		items := make([]string, len(v.items))
		for i, item := range v.items {
			items[i] = tomlValue(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case text:
		return string(quoteJSON(v.text))
	}
	return v.text
}
