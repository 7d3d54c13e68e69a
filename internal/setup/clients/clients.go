// Package clients edits the configuration files of MCP clients: it knows the file and format of each client, and adds
// or removes the workbench without changing the rest of the file.
package clients

import (
	"slices"
	"strings"
)

// Client is a program that starts MCP servers.
type Client struct {
	ID    string // on the command line
	Title string // for people

	// After is the step that makes the client load a change, and See is how to check it.
	After, See string
	// Retired is the reason why nothing is written for this client any more; its servers can be imported. Empty for a
	// client in use.
	Retired string

	places    map[string][]string // files of the user by system, "" for all others; the first existing one is used
	overrides []override          // variables that move the file
	project   []string            // relative paths of files in a project's folder
	fresh     int                 // index of the place to create if none exists
	servers   []string            // path to the servers in the file
	elsewhere [][]string          // further paths that may contain servers; "*" is any key
	variables syntax              // syntax of variables in an entry
	bareURL   string              // transport of an entry with a url and no type; "" is unspecified
	entry     []field             // fields of the workbench's own entry
	remote    []field             // its fields if the workbench is reached over HTTP; nil: the client cannot do that
	copyToken bool                // its entries have variables, but not in headers, or only after an approval
	programs  []string            // names of its programs in PATH
	older     []olderFile         // files of earlier versions, only read
}

// override is a variable that moves the file; its value replaces {} in the place.
type override struct {
	variable string
	places   []string
}

// olderFile is a file of an earlier version that may still contain servers.
type olderFile struct {
	places  map[string][]string
	servers []string
}

// field is one key of the workbench's entry.
type field struct {
	name  string
	value part
}

// part is the content of a field: literal text, or one of the parts below.
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
	address     part = "\x00address"   // the URL of the workbench
	headers     part = "\x00headers"   // the HTTP headers, an object
	options     part = "\x00options"   // an object with the headers
	tokenName   part = "\x00tokenName" // the name of the variable with the token, if there is one
	allTools    part = `["*"]` + "\x00json"
	timeout30   part = "30\x00json"
	timeout300  part = "300\x00json"
)

// All returns the clients in display order.
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
