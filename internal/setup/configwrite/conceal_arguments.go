package configwrite

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
)

var (
	headerArgument   = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*):\s*(.+)$`)
	variableArgument = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)=(.+)$`)
)

// arguments checks each argument, and the value after each flag.
func (c *concealer) arguments(value *hujson.Value) {
	array, ok := value.Value.(*hujson.Array)
	if !ok {
		return
	}
	before := make([]any, len(array.Elements))
	after := make([]any, len(array.Elements))
	flag := ""
	for i := range array.Elements {
		argument := text(&array.Elements[i])
		if argument == "" { // not a string, or nothing to hide
			literal, _ := array.Elements[i].Value.(hujson.Literal)
			if literal.Kind() != '"' {
				return // invalid in a configuration: left to its check
			}
		}
		before[i], after[i] = argument, argument
		if argument != "" && !strings.Contains(argument, "${") {
			after[i] = c.argument(flag, argument)
		}
		flag = ""
		if strings.HasPrefix(argument, "-") && !strings.Contains(argument, "=") {
			flag = strings.TrimLeft(argument, "-")
		}
	}
	c.set([]string{"args"}, before, after)
}

func (c *concealer) argument(flag, argument string) string {
	where := "args"
	if name, value, ok := strings.Cut(argument, "="); ok && strings.HasPrefix(name, "-") {
		if label := strings.TrimLeft(name, "-"); secret.IsNamed(label) && secret.MayBe(value) || secret.Looks(value) {
			return name + "=" + c.addReference(where+" "+name, c.prefixedName(label), value)
		}
		return argument
	}
	if strings.HasPrefix(argument, "-") && !secret.Looks(argument) {
		return argument
	}
	if secret.IsNamed(flag) && secret.MayBe(argument) {
		return c.addReference(where+" --"+flag, c.prefixedName(flag), argument)
	}
	if strings.Contains(argument, "://") {
		return c.address(where, argument)
	}
	if parts := variableArgument.FindStringSubmatch(argument); parts != nil {
		return parts[1] + "=" + c.variable(where+" "+parts[1], parts[1], parts[2])
	}
	if parts := headerArgument.FindStringSubmatch(argument); parts != nil && len(parts[1]) > 1 {
		return strings.TrimSuffix(argument, parts[2]) + c.header(where+" "+parts[1], parts[1], parts[2])
	}
	if secret.Looks(argument) {
		return c.addReference(where, c.prefixedName("TOKEN"), argument)
	}
	return argument
}

// address replaces the password, and secret parts of the path and the query, in place.
func (c *concealer) address(where, address string) string {
	if _, err := url.Parse(address); err != nil || strings.Contains(address, "${") {
		return address
	}
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	fragment := ""
	if at := strings.IndexByte(rest, '#'); at >= 0 {
		rest, fragment = rest[:at], rest[at:]
	}
	rest, query, hasQuery := strings.Cut(rest, "?")
	authority, path, hasPath := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if user, password, ok := strings.Cut(authority[:at], ":"); ok && password != "" {
			authority = user + ":" + c.addReference(where, c.prefixedName("PASSWORD"), password) + authority[at:]
		}
	}
	result := scheme + "://" + authority
	if hasPath {
		result += "/" + c.parts(path, "/", func(part string) string {
			if secret.Looks(part) {
				return c.addReference(where, c.prefixedName("TOKEN"), part)
			}
			return part
		})
	}
	if hasQuery {
		result += "?" + c.parts(query, "&", func(part string) string {
			name, value, _ := strings.Cut(part, "=")
			if secret.IsNamed(name) && secret.MayBe(value) || secret.Looks(value) {
				return name + "=" + c.addReference(where+"?"+name, c.prefixedName(name), value)
			}
			return part
		})
	}
	return result + fragment
}

func (c *concealer) parts(text, between string, replace func(string) string) string {
	parts := strings.Split(text, between)
	for i := range parts {
		parts[i] = replace(parts[i])
	}
	return strings.Join(parts, between)
}
