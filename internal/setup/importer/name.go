package importer

import (
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
)

// Name proposes a name for a server without one.
func Name(server clients.Server) string {
	if server.URL != "" {
		if found, err := Address(server.URL); err == nil {
			return found.Name
		}
		return fallbackName
	}
	return commandName(append([]string{server.Command}, server.Args...))
}

// fallbackName is the name of a server that suggests none.
const fallbackName = "server"

// runners start a package or script named in their arguments. The words after a runner's name are its subcommands.
var runners = map[string][]string{
	"npx": nil, "bunx": nil, "uvx": nil, "pnpx": nil, "pipx": {"run"}, "uv": {"run", "tool"}, "pnpm": {"dlx", "exec"},
	"yarn": {"dlx"}, "npm": {"exec", "x"}, "bun": {"x", "run"}, "deno": {"run"}, "node": nil, "tsx": nil, "python": nil,
	"docker": {"run"}, "podman": {"run"}, "sh": nil, "bash": nil, "cmd": {"/c"}, "java": nil, "go": {"run"}, "cargo": {"run"},
}

// withValue are flags of runners that have a value.
var withValue = []string{
	"-e", "--env", "--env-file", "-v", "--volume", "--mount", "--name", "--network", "--net", "-p", "--publish", "-u", "--user",
	"-w", "--workdir", "--platform", "--directory", "--project", "--python", "--with", "--registry", "--entrypoint", "--add-host",
}

// commandName returns the name of the package, script or image that a command line runs, otherwise that of its program.
func commandName(words []string) string {
	program := strings.ToLower(baseName(words[0]))
	own, ok := runners[strings.TrimRight(program, "0123456789.")] // as in python3.11
	if !ok {
		return packageName(program)
	}
	for i := 1; i < len(words); i++ {
		word := words[i]
		switch {
		case word == "--package" || word == "--from" || word == "-m" || word == "-jar":
			continue // the package follows
		case slices.Contains(withValue, word):
			i++
		case strings.HasPrefix(word, "-"), slices.Contains(own, word), word == "--":
		case IsRunner(word):
			return commandName(words[i:]) // a runner that starts another one, such as cmd /c npx
		default:
			return packageName(scriptName(word))
		}
	}
	return packageName(program)
}

// IsRunner reports whether a program starts others, such as npx.
func IsRunner(word string) bool {
	_, ok := runners[strings.ToLower(baseName(word))]
	return ok
}

// scriptName returns the name of a script: its folder says more than index.js.
func scriptName(word string) string {
	slashed := strings.ReplaceAll(word, `\`, "/")
	if !strings.Contains(slashed, "/") || strings.HasPrefix(word, "@") || !scriptFile.MatchString(slashed) {
		return word
	}
	parts := strings.Split(scriptFile.ReplaceAllString(slashed, ""), "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if !slices.Contains([]string{"", ".", "..", "index", "main", "server", "dist", "build", "src", "bin", "lib", "out", "__main__"}, parts[i]) {
			return parts[i]
		}
	}
	return fallbackName
}

var scriptFile = regexp.MustCompile(`(?i)\.(js|mjs|cjs|ts|mts|py|sh|jar|rb|exe|bat|cmd)$`)

// packageName removes the parts common to all servers: @scope/mcp-server-github@1.2 becomes github.
func packageName(name string) string {
	scope := ""
	if rest, ok := strings.CutPrefix(name, "@"); ok {
		scope, name, _ = strings.Cut(rest, "/")
	}
	name = baseName(name)
	for _, mark := range []string{"@", "[", "=", ":", "<", ">", "~"} {
		name, _, _ = strings.Cut(name, mark)
	}
	short := trimCommon(name)
	switch {
	case short != "":
		return clean(short)
	case trimCommon(scope) != "":
		return clean(trimCommon(scope))
	}
	return clean(name)
}

// trimCommon returns "" if the name contains nothing else.
func trimCommon(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' })
	isCommon := func(word string) bool {
		return slices.Contains([]string{"mcp", "server", "modelcontextprotocol"}, strings.ToLower(word))
	}
	for len(words) > 0 && isCommon(words[0]) {
		words = words[1:]
	}
	for len(words) > 0 && isCommon(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return strings.Join(words, "-")
}

// hostName returns the known part of a host: mcp.notion.com becomes notion.
func hostName(host string) string {
	if net.ParseIP(host) != nil || host == "localhost" {
		return "local"
	}
	labels := strings.Split(strings.ToLower(host), ".")
	if len(labels) > 1 {
		labels = labels[:len(labels)-1]
	}
	if len(labels) > 1 && len(labels[len(labels)-1]) <= 3 && slices.Contains([]string{"co", "com", "org", "net", "ac", "gov"}, labels[len(labels)-1]) {
		labels = labels[:len(labels)-1]
	}
	return clean(labels[len(labels)-1])
}

// baseName returns the last part of a path on any system, without the extension of a program.
func baseName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	return scriptFile.ReplaceAllString(name, "")
}

// clean makes a name that needs no quotes anywhere.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	if name = strings.Trim(name, "-_."); name == "" {
		return fallbackName
	}
	return name
}
