// Package clients edits the configuration files of MCP clients: it knows where each client keeps its
// servers and in which format, and adds or removes the workbench without touching the rest of the
// file.
package clients

import (
	"slices"
	"strings"
)

// Client is a program that starts MCP servers.
type Client struct {
	ID    string // as it is named on the command line
	Title string // as people call it

	// After is what has to be done so that the client sees a change, and See is how to
	// check that it did.
	After, See string
	// Retired says why nothing is written for this client any more; its servers can be
	// imported. Empty for a client in use.
	Retired string

	places    map[string][]string // files of the user by system, "" for all others; the first that exists counts
	overrides []override          // variables that move the file
	project   []string            // files in a project's folder, from there
	fresh     int                 // which place is made where none exists
	servers   []string            // path to the servers in the file
	elsewhere [][]string          // further paths that may hold servers; "*" is any key
	variables syntax              // how an entry refers to variables
	bareURL   string              // transport of an entry with a url and no type; "" is left open
	entry     []field             // what the workbench's own entry consists of
	older     []olderFile         // files of earlier versions that are only read
}

// override is a variable that moves the file; {} in the place is its value.
type override struct {
	variable string
	places   []string
}

// olderFile is a file that may still hold servers.
type olderFile struct {
	places  map[string][]string
	servers []string
}

// field is one key of the workbench's entry.
type field struct {
	name  string
	value part
}

// part is what a field holds: text as it is, or one of the parts below.
type part string

const (
	program     part = "\x00program"     // the workbench's own path
	arguments   part = "\x00arguments"   // its arguments, a list
	commandLine part = "\x00commandLine" // both in one list
	entryName   part = "\x00name"        // the entry's own name
	yes         part = "\x00true"
	no          part = "\x00false"
	emptyObject part = "\x00{}"
	emptyList   part = "\x00[]"
	allTools    part = `["*"]` + "\x00json"
	timeout30   part = "30\x00json"
	timeout300  part = "300\x00json"
)

// All returns the clients in the order in which they are shown.
func All() []*Client { return table }

// ByID finds a client by its name or an alias; nil if it is unknown.
func ByID(id string) *Client {
	id = strings.ToLower(strings.TrimSpace(id))
	if meant, ok := synonyms[id]; ok {
		id = meant
	}
	i := slices.IndexFunc(table, func(c *Client) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	return table[i]
}

// IDs returns the names of all clients.
func IDs() []string {
	ids := make([]string, len(table))
	for i, client := range table {
		ids[i] = client.ID
	}
	return ids
}

var synonyms = map[string]string{
	"claude": "claude-code", "code": "vscode", "vs-code": "vscode", "code-insiders": "vscode-insiders",
	"copilot": "copilot-cli", "gemini-cli": "gemini", "qwen-code": "qwen", "codex-cli": "codex",
	"lm-studio": "lmstudio", "roo-code": "roo", "amazon-q": "amazonq", "jetbrains": "junie", "kiro-cli": "kiro",
}
