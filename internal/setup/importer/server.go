package importer

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
)

// Command returns the server that a command line starts.
func Command(words []string) clients.Server {
	literal := make([]string, len(words))
	for i, word := range words {
		literal[i] = escape(word)
	}
	return clients.Server{Name: commandName(words), Command: literal[0], Args: literal[1:]}
}

// escape keeps text that a shell left alone from being expanded, unless it is a variable of the configuration.
func escape(word string) string {
	if variable.MatchString(word) {
		return word
	}
	return strings.ReplaceAll(word, "${", "$${")
}

var variable = regexp.MustCompile(`\$\{[A-Z_][A-Z0-9_]*(:-[^}]*)?\}`)

// Address returns the server at a URL.
func Address(address string) (clients.Server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return clients.Server{}, &toolbox.Error{
			Code:    toolbox.AddSourceUnclear,
			Message: "This is not the URL of a server", // not shown: it may contain a password
			Hint:    "An address looks like https://example.com/mcp",
		}
	}
	return clients.Server{Name: hostName(u.Hostname()), URL: address}, nil
}

// IsAddress reports whether a text is meant as a URL.
func IsAddress(text string) bool {
	lower := strings.ToLower(text)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// Registry is where a package comes from.
type Registry string

// The registries.
const (
	NPM     Registry = "npm"
	PyPI    Registry = "pypi"
	Unclear Registry = "" // several registries are possible
)

var (
	npmScoped = regexp.MustCompile(`^@[a-z0-9~][a-z0-9._~-]*/[a-z0-9~][a-z0-9._~-]*(@[^\s/@]+)?$`)
	npmPlain  = regexp.MustCompile(`^[a-z0-9~][a-z0-9._~-]*(@[^\s/@]+)?$`)
	pypiName  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9._, -]+\])?((==|>=|<=|~=|@)[^\s/]+)?$`)
)

// Package returns the name and registry of a package. npm:name, pypi:name, @scope/name and name[extra] are unambiguous;
// a plain name is not.
func Package(text string) (name string, from Registry, ok bool) {
	if rest, found := strings.CutPrefix(text, "npm:"); found {
		return rest, NPM, npmScoped.MatchString(rest) || npmPlain.MatchString(rest)
	}
	if rest, found := strings.CutPrefix(text, "pypi:"); found {
		return rest, PyPI, pypiName.MatchString(rest)
	}
	switch {
	case npmScoped.MatchString(text):
		return text, NPM, true
	case pypiName.MatchString(text) && (strings.Contains(text, "[") || strings.Contains(text, "=")):
		return text, PyPI, true
	case npmPlain.MatchString(text) || pypiName.MatchString(text):
		return text, Unclear, true
	}
	return "", Unclear, false
}

// FromPackage returns the server of a package, run without installing it first.
func FromPackage(name string, from Registry) clients.Server {
	if from == PyPI {
		return fromPyPI(name)
	}
	return clients.Server{Name: packageName(name), Command: "npx", Args: []string{"-y", name}}
}

// fromPyPI runs a package with uvx. Its command has the name of the package without extras.
func fromPyPI(name string) clients.Server {
	bare := name
	if at := strings.IndexAny(name, "[=<>~@"); at >= 0 {
		bare = name[:at]
	}
	server := clients.Server{Name: packageName(bare), Command: "uvx", Args: []string{name}}
	if strings.ContainsAny(name, "[=<>~") {
		server.Args = []string{"--from", name, bare}
	}
	return server
}

// Unique returns a free name, with a number appended if needed.
func Unique(name string, taken []string) string {
	unique := name
	for n := 2; slices.Contains(taken, unique); n++ {
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	return unique
}

// bridgedAddress returns the address that a server reaches by means of mcp-remote, a program that signs in to remote
// servers; "" if it does not, or if other settings go with the address.
func bridgedAddress(server clients.Server) string {
	words := append([]string{server.Command}, server.Args...)
	at := slices.IndexFunc(words, func(word string) bool {
		return word == "mcp-remote" || strings.HasPrefix(word, "mcp-remote@") || strings.HasSuffix(word, "/mcp-remote")
	})
	if at < 0 {
		return ""
	}
	rest := words[at+1:]
	address := slices.IndexFunc(rest, IsAddress)
	if address < 0 || slices.Contains(rest, "--header") {
		return ""
	}
	if strings.ContainsAny(rest[address], "?@") {
		return "URL" // it may contain a secret
	}
	return rest[address]
}
