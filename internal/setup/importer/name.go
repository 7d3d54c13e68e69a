package importer

import (
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
)

// Name proposes what to call a server that has no name.
func Name(server clients.Server) string {
	if server.URL != "" {
		if found, err := Address(server.URL); err == nil {
			return found.Name
		}
		return fallbackName
	}
	return commandName(append([]string{server.Command}, server.Args...))
}

// fallbackName is for what tells nothing of itself.
const fallbackName = "server"

// runners start a package or script that is named among their arguments. The words after
// a runner's name are its own.
var runners = map[string][]string{
	"npx": nil, "bunx": nil, "uvx": nil, "pnpx": nil, "pipx": {"run"}, "uv": {"run", "tool"}, "pnpm": {"dlx", "exec"},
	"yarn": {"dlx"}, "npm": {"exec", "x"}, "bun": {"x", "run"}, "deno": {"run"}, "node": nil, "tsx": nil, "python": nil,
	"docker": {"run"}, "podman": {"run"}, "sh": nil, "bash": nil, "cmd": {"/c"}, "java": nil, "go": {"run"}, "cargo": {"run"},
}

// withValue are flags of runners that take a value.
var withValue = []string{
	"-e", "--env", "--env-file", "-v", "--volume", "--mount", "--name", "--network", "--net", "-p", "--publish", "-u", "--user",
	"-w", "--workdir", "--platform", "--directory", "--project", "--python", "--with", "--registry", "--entrypoint", "--add-host",
}

// commandName takes the name of the package, script or image that a command line runs,
// else that of its program.
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
			continue // what follows is the package
		case slices.Contains(withValue, word):
			i++
		case strings.HasPrefix(word, "-"), slices.Contains(own, word), word == "--":
		case IsRunner(word):
			return commandName(words[i:]) // one runner starts another, as cmd /c npx does
		default:
			return packageName(scriptName(word))
		}
	}
	return packageName(program)
}

// IsRunner reports a program that starts others, such as npx.
func IsRunner(word string) bool {
	_, ok := runners[strings.ToLower(baseName(word))]
	return ok
}

// scriptName is for a path to a script: index.js says less than its folder.
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

// packageName takes away what all servers have in their names: @scope/mcp-server-github@1.2
// is github.
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

// trimCommon leaves "" where nothing else is in the name.
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

// hostName takes the part of a host that people know: mcp.notion.com is notion.
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

// baseName is the last part of a path of any system, without the ending of a program.
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
