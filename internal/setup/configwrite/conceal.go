package configwrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
)

// Variable is a secret with the name of its variable.
type Variable struct{ Name, Value string }

// Names chooses the names of variables for secrets. Taken returns the current value of a name in the
// environment or in workbench.env: a name with another value is not used.
type Names struct {
	Taken func(name string) (value string, ok bool)
	given []Variable
}

// Added returns the new variables: each name once, in the order of use.
func (n *Names) Added() []Variable { return n.given }

// Finding is a secret in a definition.
type Finding struct {
	Where string // such as env.TOKEN or args[2]
	Name  string // of the variable; "" if the secret had to stay
}

// Conceal returns a server's definition with its secrets replaced by references. A secret that does
// not fit into a line of workbench.env stays, and its finding says so.
func Conceal(server string, entry []byte, names *Names) (result []byte, found []Finding, err error) {
	root, err := hujson.Parse(slices.Concat(entry, []byte("\n")))
	if err != nil {
		return nil, nil, fmt.Errorf("the definition of server '%s' is not JSON", server)
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, nil, fmt.Errorf("the definition of server '%s' is not a JSON object", server)
	}
	c := &concealer{server: server, names: names, result: entry}
	for i := range object.Members {
		c.member(text(&object.Members[i].Name), &object.Members[i].Value)
	}
	return c.result, c.found, c.err
}

type concealer struct {
	server string
	names  *Names
	result []byte
	found  []Finding
	err    error
}

func (c *concealer) member(key string, value *hujson.Value) {
	switch key {
	case "env":
		c.replaceValues(key, value, c.variable)
	case "headers", "http_headers":
		c.replaceValues(key, value, c.header)
	case "oauth":
		c.replaceValues(key, value, c.login)
	case "url":
		if address := text(value); address != "" {
			c.set([]string{key}, address, c.address(key, address))
		}
	case "args":
		c.arguments(value)
	}
}

// replaceValues replaces the values of an object of strings.
func (c *concealer) replaceValues(key string, value *hujson.Value, replace func(where, name, value string) string) {
	object, ok := value.Value.(*hujson.Object)
	if !ok {
		return
	}
	for i := range object.Members {
		name, before := text(&object.Members[i].Name), text(&object.Members[i].Value)
		if before == "" || strings.Contains(before, "${") {
			continue
		}
		c.set([]string{key, name}, before, replace(key+"."+name, name, before))
	}
}

func (c *concealer) variable(where, name, value string) string {
	if secret.IsNamed(name) && secret.MayBe(value) || secret.Looks(value) || secret.HasPassword(value) {
		return c.addReference(where, name, value)
	}
	return value
}

// header keeps the scheme before the credentials.
func (c *concealer) header(where, name, value string) string {
	scheme, credentials, ok := strings.Cut(value, " ")
	isScheme := ok && slices.Contains([]string{"bearer", "basic", "token", "apikey"}, strings.ToLower(scheme))
	switch {
	case isScheme && strings.TrimSpace(credentials) != "":
		return scheme + " " + c.addReference(where, c.prefixedName("TOKEN"), strings.TrimSpace(credentials))
	case secret.IsNamed(name) && secret.MayBe(value) || secret.Looks(value):
		label := strings.TrimPrefix(strings.ToUpper(name), "X-")
		if label == "AUTHORIZATION" {
			label = "TOKEN"
		}
		return c.addReference(where, c.prefixedName(label), value)
	}
	return value
}

// login replaces the secret of a client.
func (c *concealer) login(where, name, value string) string {
	if name == "clientSecret" {
		return c.addReference(where, c.prefixedName("CLIENT_SECRET"), value)
	}
	return value
}

// addReference chooses a name for a secret and returns the reference to it.
func (c *concealer) addReference(where, name, value string) string {
	if !fitsLine(value) {
		c.found = append(c.found, Finding{Where: where})
		return value
	}
	name = c.names.name(c.server, name, value)
	c.found = append(c.found, Finding{Where: where, Name: name})
	return "${" + name + "}"
}

// set changes a value of the definition if it differs.
func (c *concealer) set(path []string, before, after any) {
	if c.err != nil || fmt.Sprintf("%q", before) == fmt.Sprintf("%q", after) {
		return
	}
	value, err := jsonc.Encode(after)
	if err == nil {
		c.result, err = jsonc.Set(c.result, path, value)
	}
	c.err = err
}

// prefixedName prefixes an ambiguous name with the server's name.
func (c *concealer) prefixedName(label string) string { return c.server + "_" + label }

// name returns a name that is free, or that already has this value.
func (n *Names) name(server, wanted, value string) string {
	base := variableName(wanted)
	own := variableName(server + "_" + wanted)
	if strings.HasPrefix(base, variableName(server)+"_") {
		own = base
	}
	for try := 1; ; try++ {
		for _, name := range []string{base, own} {
			if try > 1 {
				name = fmt.Sprintf("%s_%d", own, try)
			}
			if n.reserve(name, value) {
				return name
			}
		}
	}
}

// reserve reports whether a name can be used for a value, and records a new one.
func (n *Names) reserve(name, value string) bool {
	if n.Taken != nil {
		if is, ok := n.Taken(name); ok {
			return is == value
		}
	}
	for _, given := range n.given {
		if given.Name == name {
			return given.Value == value
		}
	}
	n.given = append(n.given, Variable{name, value})
	return true
}

// variableName derives a name that a configuration can refer to.
func variableName(text string) string {
	name := strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(text))
	for strings.Contains(name, "__") {
		name = strings.ReplaceAll(name, "__", "_")
	}
	name = strings.Trim(name, "_")
	if name == "" || '0' <= name[0] && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// text decodes a JSON string; "" for any other value.
func text(value *hujson.Value) string {
	if literal, ok := value.Value.(hujson.Literal); ok && literal.Kind() == '"' {
		return literal.String()
	}
	return ""
}
