package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
)

// Entry is how a client starts the workbench, or reaches one over HTTP.
type Entry struct {
	Name    string   // of the server in the client's file
	Command string   // absolute path of the program, or a package runner
	Runner  []string // arguments of the package runner, up to the name of the workbench
	Args    []string // arguments of the workbench
	Remote  *Remote  // nil: the client starts it
}

// words returns the arguments of the command.
func (e Entry) words() []string { return slices.Concat(e.Runner, e.Args) }

// Put returns the content of the client's file with the workbench in it. An existing entry keeps foreign keys and
// arguments that a person added.
func (c *Client) Put(file string, data []byte, e Entry) ([]byte, error) {
	if e.Remote != nil && !c.HasHTTP(file) {
		return nil, c.withoutHTTP(file, e)
	}
	if formatOf(file) == shellFormat {
		return putShell(data, e.withArgumentsOf(shellCommand(shellBlock(data, e.Name)))), nil
	}
	root, err := parse(file, data)
	if err != nil {
		return nil, broken(file, err)
	}
	before, there := find(root.at(c.servers), e.Name)
	if there && !isSelf(before) && !e.Remote.isAt(before) {
		return nil, &toolbox.Error{
			Code:    toolbox.ClientNameTaken,
			Message: fmt.Sprintf("%s has a server '%s' already that is not the workbench", file, e.Name),
			Hint:    "Give the workbench another name there with --name.",
		}
	}
	want := c.build(e.withArgumentsOf(commandWords(before)), before)
	if there && canonical(want) == canonical(before) {
		return data, nil
	}
	var after []byte
	switch formatOf(file) {
	case tomlFormat:
		after, err = putTOML(data, c.servers, e.Name, want)
	case yamlFormat:
		after, err = putYAML(data, c.servers[0], e.Name, want, there)
	default:
		after, err = jsonc.Set(data, entryPath(c.servers, e.Name), encodeJSON(want))
	}
	if err == nil {
		err = check(file, data, after, c.servers, e.Name, &want)
	}
	if err != nil {
		return nil, unchanged(file, err)
	}
	return after, nil
}

// RemoveServer returns the content of the client's file without one of the user's servers.
func (c *Client) RemoveServer(file string, data []byte, name string) ([]byte, error) {
	return removeEntry(file, data, c.servers, name)
}

// RemoveServer returns the content of the source's file without one of its servers.
func (s *Source) RemoveServer(data []byte, name string) ([]byte, error) {
	return removeEntry(s.File, data, s.servers, name)
}

func removeEntry(file string, data []byte, servers []string, name string) (after []byte, err error) {
	if formatOf(file) == shellFormat {
		return removeShell(data, name), nil
	}
	root, err := parse(file, data)
	if err != nil {
		return nil, broken(file, err)
	}
	if _, there := find(root.at(servers), name); !there {
		return data, nil
	}
	switch formatOf(file) {
	case tomlFormat:
		after, err = removeTOML(data, servers, name)
	case yamlFormat:
		after, err = removeYAML(data, servers[0], name)
	default:
		after, err = jsonc.Remove(data, entryPath(servers, name))
	}
	if err == nil {
		err = check(file, data, after, servers, name, nil)
	}
	if err != nil {
		return nil, unchanged(file, err)
	}
	return after, nil
}

func find(servers value, name string) (value, bool) {
	for _, entry := range named(servers) {
		if entry.name == name {
			return entry.value, true
		}
	}
	return value{}, false
}

func entryPath(servers []string, name string) []string { return append(slices.Clone(servers), name) }

// check parses a changed file again: only the entry may differ. A nil want is a removed entry.
func check(file string, before, after []byte, servers []string, name string, want *value) error {
	was, err := parse(file, before)
	if err != nil {
		return err
	}
	is, err := parse(file, after)
	if err != nil {
		return fmt.Errorf("the result would not be readable: %w", err)
	}
	found, there := find(is.at(servers), name)
	if there != (want != nil) || there && canonical(found) != canonical(*want) {
		return errors.New("its layout cannot be edited")
	}
	if canonical(without(was, servers, name)) != canonical(without(is, servers, name)) {
		return errors.New("its layout cannot be edited without touching other settings")
	}
	return nil
}

// without returns a tree without an entry, and without objects that become empty.
func without(v value, servers []string, name string) value {
	out := value{kind: v.kind, text: v.text}
	if len(servers) == 0 {
		for _, m := range v.members {
			if m.name != name {
				out.members = append(out.members, m)
			}
		}
		for _, item := range v.items {
			if item.get("name").text != name {
				out.items = append(out.items, item)
			}
		}
		return out
	}
	for _, m := range v.members {
		if m.name == servers[0] {
			m.value = without(m.value, servers[1:], name)
			if m.value.isEmpty() {
				continue
			}
		}
		out.members = append(out.members, m)
	}
	out.items = v.items
	return out
}

// canonical encodes a tree as text that is equal for equal trees only.
func canonical(v value) string { return string(encodeJSON(v)) }

// encodeJSON writes a tree on one line.
func encodeJSON(v value) []byte {
	var out bytes.Buffer
	writeJSON(&out, v)
	return out.Bytes()
}

func writeJSON(out *bytes.Buffer, v value) {
	switch v.kind {
	case object:
		for i, m := range v.members {
			out.WriteByte("{,"[min(i, 1)])
			out.Write(quoteJSON(m.name))
			out.WriteByte(':')
			writeJSON(out, m.value)
		}
		if len(v.members) == 0 {
			out.WriteByte('{')
		}
		out.WriteByte('}')
	case list:
		for i, item := range v.items {
			out.WriteByte("[,"[min(i, 1)])
			writeJSON(out, item)
		}
		if len(v.items) == 0 {
			out.WriteByte('[')
		}
		out.WriteByte(']')
	case text:
		out.Write(quoteJSON(v.text))
	case literal:
		out.WriteString(v.text)
	default:
		out.WriteString("null")
	}
}

func quoteJSON(s string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return []byte(`""`) // a string can always be encoded
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func broken(file string, err error) error {
	return &toolbox.Error{
		Code:    toolbox.ClientFileBroken,
		Message: fmt.Sprintf("%s cannot be read: %v", file, err),
		Hint:    "Repair the file first; nothing was changed.",
		Cause:   err,
	}
}

func unchanged(file string, err error) error {
	return &toolbox.Error{
		Code:    toolbox.ClientFileRefused,
		Message: fmt.Sprintf("%s was left as it is: %v", file, err),
		Hint:    "Make the change by hand; --dry-run of another client, and docs/clients.md, show what an entry looks like.",
		Cause:   err,
	}
}

// lineEnd returns the line ending of a file.
func lineEnd(data []byte) string {
	if bytes.Contains(data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// textLines splits a file into lines with their line endings.
func textLines(data []byte) []string {
	return slices.Collect(strings.Lines(string(data)))
}

// appendBlock adds lines at the end of a file, after an empty line.
func appendBlock(data []byte, block string) []byte {
	end := lineEnd(data)
	out := bytes.Clone(data)
	if len(out) > 0 {
		if !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, end...)
		}
		if !bytes.HasSuffix(out, []byte(end+end)) {
			out = append(out, end...)
		}
	}
	return append(out, strings.ReplaceAll(block, "\n", end)...)
}

// joinWithout joins lines without some of them. It also drops an empty line that would become doubled or last.
func joinWithout(lines []string, from, to int) []byte {
	blank := func(i int) bool { return i >= 0 && i < len(lines) && strings.TrimSpace(lines[i]) == "" }
	for blank(from-1) && (to >= len(lines) || blank(to)) {
		from--
	}
	return []byte(strings.Join(lines[:from], "") + strings.Join(lines[to:], ""))
}

// RemoveWorkbench removes all entries that lead to the workbench, or only the named one, and returns their names. Entries
// for single projects in the same file are among them.
func (c *Client) RemoveWorkbench(file string, data []byte, name string, onlyNamed bool) (after []byte, removed []string, err error) {
	removed = []string{}
	root, err := entryTree(file, data, c.servers)
	if err != nil {
		return nil, nil, broken(file, err)
	}
	for _, servers := range c.serverPaths(root) {
		for _, entry := range named(root.at(servers)) {
			isOurs := formatOf(file) == shellFormat || isSelf(entry.value) // a script has only our entries
			if onlyNamed && entry.name != name || !isOurs {
				continue
			}
			if data, err = removeEntry(file, data, servers, entry.name); err != nil {
				return nil, nil, err
			}
			if !slices.Contains(removed, entry.name) {
				removed = append(removed, entry.name)
			}
		}
	}
	return data, removed, nil
}
