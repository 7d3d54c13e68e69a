package config

import (
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// A plain file is that of an MCP client: it has servers, but no toolboxes. It is read as a configuration with one
// toolbox for all of them, and nothing else of it is used.

// plainKey is the key that only servers stand under.
const plainKey = "mcpServers"

// serverKeys are the keys under which MCP clients have their servers.
var serverKeys = []string{plainKey, "servers", "context_servers"}

// PlainToolbox is the toolbox of a plain file.
type PlainToolbox struct {
	Name string // derived from the path of the file
	Key  string // under which the file has the servers
}

// mayBePlain reports whether the file may be that of a client. A file with the name of a configuration is one.
func (s *Source) mayBePlain() bool { return filepath.Base(s.Path) != fileName }

// plainRoot returns the root of a plain file as that of a configuration; nil if the file is not a plain one.
func plainRoot(root *hujson.Value, file string, r *report) (*hujson.Value, *PlainToolbox) {
	object, ok := root.Value.(*hujson.Object)
	if !ok || slices.ContainsFunc(object.Members, func(m hujson.ObjectMember) bool { return isOurs(keyOf(m)) }) {
		return nil, nil
	}
	for _, key := range serverKeys {
		at := slices.IndexFunc(object.Members, func(m hujson.ObjectMember) bool { return keyOf(m) == key })
		if at < 0 {
			continue
		}
		servers, ok := object.Members[at].Value.Value.(*hujson.Object)
		if !ok || key != plainKey && !hasServer(servers) {
			continue
		}
		p := &PlainToolbox{Name: plainName(file), Key: key}
		start := object.Members[at].Value.StartOffset
		used, names := p.servers(servers, r)
		text := func(s string) hujson.Value { return hujson.Value{StartOffset: start, Value: hujson.String(s)} }
		member := func(name string, value hujson.Value) hujson.ObjectMember {
			return hujson.ObjectMember{Name: text(name), Value: value}
		}
		objectOf := func(members ...hujson.ObjectMember) hujson.Value {
			return hujson.Value{StartOffset: start, Value: &hujson.Object{Members: members}}
		}
		list := hujson.Value{StartOffset: start, Value: used}
		members := []hujson.ObjectMember{member("description", text(strings.TrimSuffix("Tools of "+strings.Join(names, ", "), " of "))), member("mcpServers", list)}
		for _, again := range object.Members[at+1:] { // is reported as a duplicate: clients use the last one
			if keyOf(again) == key {
				again.Name.Value = hujson.String("mcpServers")
				members = append(members, again)
			}
		}
		box := objectOf(members...)
		whole := objectOf(member("toolboxes", objectOf(member(p.Name, box))))
		whole.StartOffset = root.StartOffset
		return &whole, p
	}
	return nil, nil
}

// isOurs reports whether a key stands in configurations only, so that a file with it is a broken configuration.
func isOurs(key string) bool {
	return key == "toolboxes" || key == "locked" || mayMeanPolicy(key)
}

func keyOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// hasServer reports whether a member of an object looks like a server.
func hasServer(servers *hujson.Object) bool {
	return len(servers.Members) == 0 || slices.ContainsFunc(servers.Members, func(m hujson.ObjectMember) bool {
		_, isObject := m.Value.Value.(*hujson.Object)
		return isObject
	})
}

// servers returns the servers without the workbench itself, and the names of those that are enabled.
func (p *PlainToolbox) servers(all *hujson.Object, r *report) (*hujson.Object, []string) {
	used := &hujson.Object{}
	var names []string
	at := rootPath.member("toolboxes").member(p.Name).member("mcpServers")
	for _, m := range all.Members {
		entry, ok := m.Value.Value.(*hujson.Object)
		if !ok { // reported where servers are read
			used.Members = append(used.Members, m)
			continue
		}
		if startsWorkbench(entry) {
			r.warn(m.Name.StartOffset, at.member(keyOf(m)), "Server "+quote(keyOf(m))+" is the workbench itself, and is left out", "")
			continue
		}
		translated := plainServer(entry, func(offset int, key string) {
			r.warn(offset, at.member(keyOf(m)).member(key), "Server "+quote(keyOf(m))+": "+quote(key)+" of the client is not applied", "import the file with 'mcp-workbench init --from', and set what it limits there")
		})
		m.Value.Value = translated
		used.Members = append(used.Members, m)
		if !isDisabled(translated) {
			names = append(names, keyOf(m))
		}
	}
	return used, names
}

// plainKeys are keys of clients that mean the same as one of ours.
var plainKeys = map[string]string{"serverUrl": "url", "httpUrl": "url", "uri": "url", "cmd": "command", "includeTools": "toolFilters"}

// plainTransports are names of transports that clients use for http.
var plainTransports = []string{"streamableHttp", "streamable_http", "streamable-http", "http"}

// plainServer returns the entry of a client with the keys that we know. unapplied is called for keys that limit what is
// offered, and are lost.
func plainServer(entry *hujson.Object, unapplied func(offset int, key string)) *hujson.Object {
	server := &hujson.Object{}
	for _, m := range entry.Members {
		name := keyOf(m)
		literal, isLiteral := m.Value.Value.(hujson.Literal)
		switch {
		case isLiteral && literal.Kind() == 'n': // null is as good as absent
			continue
		case name == "enabled" && isLiteral && literal.Kind() == 'f':
			name, m.Value.Value = "disabled", hujson.Bool(true)
		case name == "type" || name == "transport":
			if isLiteral && slices.Contains(plainTransports, literal.String()) {
				m.Value.Value = hujson.String("http")
			} else if !isLiteral || literal.String() != "sse" {
				continue // what the rest of the entry says
			}
		case name == sandboxKey.name: // of a client, in its own form
			unapplied(m.Name.StartOffset, name)
			continue
		case name == "excludeTools" || name == "disabledTools":
			unapplied(m.Name.StartOffset, name)
		}
		if ours, ok := plainKeys[name]; ok {
			name = ours
		}
		if serverObject.key(name) == nil {
			continue
		}
		m.Name.Value = hujson.String(name)
		server.Members = append(server.Members, m)
	}
	return server
}

// OwnHeader is the header that 'connect --http' writes into an entry, by which it is recognised.
const OwnHeader = "X-MCP-Workbench"

// startsWorkbench reports whether an entry starts the workbench, directly or through a runner of packages, or was written to
// reach one over HTTP: served as its own server, it would lead back to itself.
func startsWorkbench(entry *hujson.Object) bool {
	var words []string
	for _, m := range entry.Members {
		switch value := m.Value.Value.(type) {
		case *hujson.Object:
			isOwn := func(h hujson.ObjectMember) bool { return strings.EqualFold(keyOf(h), OwnHeader) }
			if keyOf(m) == "headers" && slices.ContainsFunc(value.Members, isOwn) {
				return true
			}
		case hujson.Literal:
			if keyOf(m) == "command" {
				words = append([]string{value.String()}, words...)
			}
		case *hujson.Array:
			for _, element := range value.Elements {
				if word, ok := element.Value.(hujson.Literal); ok && keyOf(m) == "args" {
					words = append(words, word.String())
				}
			}
		}
	}
	at := slices.IndexFunc(words, func(word string) bool {
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(strings.ReplaceAll(word, `\`, "/")), ".exe"), "@")
		return name == "mcp-workbench"
	})
	return at >= 0 && !slices.ContainsFunc(words[at+1:], func(word string) bool { return word == "builtin" || word == "record" || word == "replay" })
}

// genericNames are names of clients' files that say nothing.
var genericNames = []string{"", "mcp", "mcp-config", "mcp-settings", "mcp-servers", "settings", "config", "servers"}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// plainName derives the name of a toolbox from the path of a file: that of the file, or of its folder if the file's says
// nothing, such as "cursor" for ~/.cursor/mcp.json.
func plainName(file string) string {
	simple := func(name string) string {
		return strings.Trim(notInName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	}
	base := filepath.Base(file)
	name := simple(strings.TrimSuffix(base, filepath.Ext(strings.TrimPrefix(base, "."))))
	if slices.Contains(genericNames, name) {
		name = simple(filepath.Base(filepath.Dir(file)))
	} else {
		name = strings.TrimSuffix(name, "-config")
	}
	if name == "" {
		return "servers"
	}
	return name
}

var notInVariable = regexp.MustCompile(`[^A-Za-z0-9]+`)

var plainReference = regexp.MustCompile(`\$\{(?:env:([A-Za-z_][A-Za-z0-9_]*)|input:([^}]+)|(userHome))\}`)

// plainVariables returns a text of a plain file with the references of editors as ours: ${env:NAME} and ${userHome}, and
// ${input:NAME}, whose value only the client has, as a variable of that name.
func plainVariables(text string) string {
	return plainReference.ReplaceAllStringFunc(text, func(reference string) string {
		match := plainReference.FindStringSubmatch(reference)
		switch {
		case match[1] != "":
			return "${" + match[1] + "}"
		case match[2] != "":
			return "${" + strings.ToUpper(strings.Trim(notInVariable.ReplaceAllString(match[2], "_"), "_")) + "}"
		case runtime.GOOS == "windows":
			return "${USERPROFILE}"
		}
		return "${HOME}"
	})
}
