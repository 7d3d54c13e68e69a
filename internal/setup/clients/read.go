package clients

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// maxFile and maxText limit the size of a file: JSON, and the other formats.
const (
	maxFile = 16 << 20 // size of a JSON file of a client; a larger one is an error
	maxText = 1 << 20  // size of a TOML or YAML file of a client; a larger one is an error
)

// Server is a client's server in the format of the workbench: references to variables are ${VAR},
// and everything else is literal.
type Server struct {
	Name      string
	Command   string
	Args      []string
	Env       []Setting
	Dir       string
	URL       string
	Headers   []Setting
	Login     *Login   // nil: the defaults
	Transport string   // "sse", or "" to derive it from Command and URL
	Tools     []string // the tools to offer; nil: all
	Disabled  bool
	Wanted    []string // variables whose values only the client had
	Notes     []string // settings that were not imported
}

// Setting is a name with its value: an environment variable or a header.
type Setting struct{ Name, Value string }

// Source is one place in a client's file with servers.
type Source struct {
	Client  *Client // nil for a file of an unknown client
	File    string
	Project string // folder that the servers are limited to; "" for all
	Servers []Server
	Skipped []Skipped
	Self    []string // entries that start the workbench itself

	servers []string // path in the file
}

// Skipped is an entry that cannot be imported, and why.
type Skipped struct{ Name, Reason string }

// Read returns the user's servers of a client; none if the file does not exist.
func (c *Client) Read(m Machine) ([]Source, error) {
	var sources []Source
	for _, file := range c.Files(m) {
		found, err := c.ReadFile(m, file)
		if err == nil {
			err = c.checkServers(file)
		}
		if err != nil {
			return nil, err
		}
		sources = append(sources, found...)
	}
	for _, old := range c.olderFiles(m) {
		root, err := readTree(old.path)
		if err != nil {
			return nil, err
		}
		sources = append(sources, c.source(m, old.path, "", root, old.servers))
	}
	return slices.DeleteFunc(sources, func(s Source) bool {
		return len(s.Servers)+len(s.Skipped)+len(s.Self) == 0
	}), nil
}

// checkServers refuses a file in which something else stands where the servers belong: it would look like a file without any.
func (c *Client) checkServers(file string) error {
	if formatOf(file) == shellFormat {
		return nil
	}
	root, err := readTree(file)
	if err != nil {
		return err
	}
	servers := root.at(c.servers)
	isWrong := servers.kind == text || servers.kind == literal && servers.text != "null" ||
		servers.kind == list && slices.ContainsFunc(servers.items, func(item value) bool { return item.kind != object })
	if !isWrong {
		return nil
	}
	return &toolbox.Error{
		Code:    toolbox.ClientFileBroken,
		Message: fmt.Sprintf("%s: '%s' does not hold servers", file, strings.Join(c.servers, ".")),
		Hint:    "Repair the file, or leave it out; nothing was changed.",
	}
}

// ReadFile returns the servers in one file of a client.
func (c *Client) ReadFile(m Machine, file string) ([]Source, error) {
	if formatOf(file) == shellFormat {
		return c.readShell(file)
	}
	root, err := readTree(file)
	if err != nil {
		return nil, err
	}
	sources := []Source{c.source(m, file, "", root, c.servers)}
	excluded := root.at([]string{"mcp", "excluded"}).strings()
	for i := range sources[0].Servers {
		server := &sources[0].Servers[i]
		server.Disabled = server.Disabled || slices.Contains(excluded, server.Name)
	}
	for _, path := range c.elsewhere {
		// Only the path of projects contains "*".
		for _, project := range root.get(path[0]).members {
			servers := append([]string{path[0], project.name}, path[2:]...)
			sources = append(sources, c.source(m, file, project.name, root, servers))
		}
	}
	return sources, nil
}

// readShell reports a script that may add servers as skipped, without running it.
func (c *Client) readShell(file string) ([]Source, error) {
	data, err := ReadAll(file)
	if err != nil {
		return nil, err
	}
	source := Source{Client: c, File: file, Self: shellEntries(data)}
	for _, name := range source.Self {
		data = removeShell(data, name)
	}
	if strings.Contains(string(data), "mcp add") {
		source.Skipped = []Skipped{{"mcp add", "the file is a script, which is not run to see what it adds"}}
	}
	return []Source{source}, nil
}

// OfFolder separates the servers for all folders and for the working folder from those for projects in other folders.
func OfFolder(sources []Source) (here, elsewhere []Source) {
	for _, source := range sources {
		if source.Project == "" || isWorkingFolder(source.Project) {
			here = append(here, source)
		} else {
			elsewhere = append(elsewhere, source)
		}
	}
	return here, elsewhere
}

func isWorkingFolder(path string) bool {
	working, err := os.Getwd()
	return err == nil && (filepath.Clean(path) == working || isSameFile(path, working))
}

// ReadNamed returns the servers of a file that a person named: in the format of the client that it belongs to, or else
// as ReadUnknown does.
func ReadNamed(m Machine, file string) ([]Source, error) {
	for _, client := range table {
		for _, own := range client.Files(m) {
			if isSameFile(own, file) {
				if err := client.checkServers(file); err != nil {
					return nil, err
				}
				return client.ReadFile(m, file)
			}
		}
	}
	return ReadUnknown(m, file)
}

// ReadUnknown returns the servers of a file of an unknown client: those under the first key that any client uses for
// servers.
func ReadUnknown(m Machine, file string) ([]Source, error) {
	root, err := readTree(file)
	if err != nil {
		return nil, err
	}
	for _, client := range table {
		if servers := root.at(client.servers); !servers.isEmpty() && looksLikeServers(servers) {
			like := *client
			like.variables = guessSyntax(client, root)
			source := like.source(m, file, "", root, client.servers)
			source.Client = nil
			return []Source{source}, nil
		}
	}
	return nil, &toolbox.Error{
		Code:    toolbox.ClientFileUnknown,
		Message: file + " contains no servers in the format of a known client",
		Hint:    "A file with an object \"mcpServers\" is understood, for example.",
	}
}

// guessSyntax guesses the syntax of references to variables; ${VAR} is the default.
func guessSyntax(client *Client, root value) syntax {
	if client.ID == "claude-code" { // it is only the first with "mcpServers"
		if root.containsText("${env:") || root.containsText("${input:") || root.containsText("${workspaceFolder") {
			return editor
		}
		return braces
	}
	return client.variables
}

// containsText reports whether any text in the tree contains these words.
func (v value) containsText(words string) bool {
	if strings.Contains(v.text, words) {
		return true
	}
	return slices.ContainsFunc(v.items, func(i value) bool { return i.containsText(words) }) ||
		slices.ContainsFunc(v.members, func(m member) bool { return m.value.containsText(words) })
}

func looksLikeServers(servers value) bool {
	for _, m := range named(servers) {
		for _, key := range []string{"command", "url", "cmd", "uri", "serverUrl", "httpUrl", "transport"} {
			if m.value.get(key).kind != nothing {
				return true
			}
		}
	}
	return false
}

// readTree reads and parses a file; a missing file is empty.
func readTree(path string) (value, error) {
	data, err := ReadAll(path)
	if err != nil {
		return value{}, err
	}
	root, err := parse(path, data)
	if err != nil {
		return value{}, &toolbox.Error{
			Code:    toolbox.ClientFileBroken,
			Message: fmt.Sprintf("%s cannot be read: %v", path, err),
			Hint:    "Repair the file, or leave it out; nothing was changed.",
			Cause:   err,
		}
	}
	return root, nil
}

// ReadAll returns the content of a client's file; nil if it does not exist.
func ReadAll(path string) ([]byte, error) {
	file, _, err := safefile.Open(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	limit := int64(maxText)
	if formatOf(path) == jsonFormat {
		limit = maxFile
	}
	var data []byte
	if err == nil {
		defer file.Close()
		data, err = io.ReadAll(io.LimitReader(file, limit+1))
	}
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it is longer than %d bytes", limit)
	}
	if err != nil {
		if wrong, ok := errors.AsType[*fs.PathError](err); ok {
			err = wrong.Err // the message names the path already
		}
		return nil, &toolbox.Error{
			Code:    toolbox.ClientFileBroken,
			Message: fmt.Sprintf("%s cannot be read: %v", path, err),
			Hint:    "Check that the file is yours and can be opened.",
			Cause:   err,
		}
	}
	return data, nil
}

// source translates the entries at one path.
func (c *Client) source(m Machine, file, project string, root value, servers []string) Source {
	found := Source{Client: c, File: file, Project: project, servers: servers}
	for _, entry := range named(root.at(servers)) {
		if isSelf(entry.value) {
			found.Self = append(found.Self, entry.name)
			continue
		}
		t := translator{syntax: c.variables, windows: m.OS == "windows"}
		server, err := c.translate(&t, entry)
		if err != nil {
			found.Skipped = append(found.Skipped, Skipped{entry.name, err.Error()})
			continue
		}
		for name := range t.wanted {
			server.Wanted = append(server.Wanted, name)
		}
		slices.Sort(server.Wanted)
		found.Servers = append(found.Servers, server)
	}
	return found
}

// named returns servers with their names, from an object or from a list of named entries.
func named(servers value) []member {
	if servers.kind != list {
		return servers.members
	}
	var found []member
	for _, item := range servers.items {
		if name := item.get("name"); name.kind == text {
			found = append(found, member{name.text, item})
		}
	}
	return found
}

// strings returns the texts of a list, with numbers as written.
func (v value) strings() []string {
	var texts []string
	for _, item := range v.items {
		if item.kind == text || item.kind == literal {
			texts = append(texts, item.text)
		}
	}
	return texts
}
