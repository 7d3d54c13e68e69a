package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// checker checks the file against the descriptions of its keys.
type checker struct{ report *report }

// place is the position of a value in the two forms that messages need: its subject with the field, and the path from
// the root.
type place struct {
	subject string // Configuration, Toolbox 'T' or Server 'S' in toolbox 'T'
	field   *path  // from the subject; nil for the subject itself
	at      *path
}

var rootPlace = place{subject: "Configuration", at: rootPath}

func (p place) member(key string) place {
	return place{p.subject, p.field.member(key), p.at.member(key)}
}

func (p place) element(index int) place {
	return place{p.subject, p.field.element(index), p.at.element(index)}
}

// entry returns the place of a toolbox or server. It is a subject of its own.
func (p place) entry(noun, name string) place {
	subject := noun + " " + quote(name)
	if p.subject != rootPlace.subject {
		subject += " in " + lowerFirst(p.subject)
	}
	return place{subject: subject, at: p.at.member(name)}
}

// numbered returns the place of an array element. It is a subject of its own.
func (p place) numbered(noun string, index int) place {
	return place{subject: fmt.Sprintf("%s %d", noun, index+1), at: p.at.element(index)}
}

// describe starts a message about the field of the place.
func (p place) describe(rest string) string {
	return fmt.Sprintf("%s: '%s' %s", p.subject, p.field, rest)
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

func checkRoot(root node, r *report) {
	c := &checker{r}
	if root.kind != kindObject {
		c.wrongKind(&root, rootObject.key("toolboxes"), rootPlace)
		return
	}
	c.object(&root, root.offset, &rootObject, rootPlace)
}

// object checks an object with fixed keys. offset is the position to report it at.
func (c *checker) object(n *node, offset int, o *object, p place) {
	for i := range n.members {
		m := &n.members[i]
		if k := o.key(m.name); k != nil {
			c.value(&m.value, k, p.member(m.raw))
		} else if !m.unresolved {
			c.unknownKey(m, o, p)
		}
	}
	for i := range o.keys {
		if k := &o.keys[i]; k.required != "" && n.lacks(k.name) {
			c.report.fail(offset, p.at, p.subject+" "+k.required, missingHint(n, k))
		}
	}
	if o.oneOf != nil {
		c.oneOf(n, offset, o, p)
	}
}

// missingHint recognises the configuration file of another MCP client: it has servers but no toolboxes.
func missingHint(n *node, k *key) string {
	if k.name == "toolboxes" && n.get("mcpServers") != nil {
		return `put the servers into a toolbox: {"toolboxes": {"main": {"description": "…", "mcpServers": {…}}}}`
	}
	return exampleHint(k)
}

func exampleHint(k *key) string {
	switch {
	case k.example != "":
		return fmt.Sprintf("for example: %q: %s", k.name, k.example)
	case len(k.enum) == 1:
		return fmt.Sprintf("the only value is %q", k.enum[0])
	case k.enum != nil:
		return "use one of " + strings.Join(k.enum, ", ")
	}
	return ""
}

func (c *checker) unknownKey(m *member, o *object, p place) {
	below := p.member(m.raw)
	hint := "known keys are " + strings.Join(o.names(), ", ")
	if near := toolbox.Nearest(m.raw, o.names(), 1); len(near) > 0 {
		hint = "did you mean " + quote(near[0]) + "?"
	}
	message := below.subject + ": unknown key " + quote(below.field.String())
	isPolicy := (o == &rootObject || o == &toolboxObject) && mayMeanPolicy(m.raw)
	if isPolicy {
		hint = "did you mean 'policy', at the top of the file?"
	}
	if o.isStrict || isPolicy {
		c.report.fail(m.offset, below.at, message, hint)
		return
	}
	c.report.warn(m.offset, below.at, message+" is ignored", hint)
}

// oneOf checks that exactly one of the object's alternatives is present.
func (c *checker) oneOf(n *node, offset int, o *object, p place) {
	names := o.oneOf
	var given []member
	for _, m := range n.members {
		if slices.Contains(names, m.name) && !slices.ContainsFunc(given, func(g member) bool { return g.name == m.name }) {
			given = append(given, m)
		}
	}
	switch {
	case len(given) > 1:
		second := given[1]
		c.report.fail(second.offset, p.at.member(second.raw),
			fmt.Sprintf("%s: '%s' and '%s' cannot be given together", p.subject, given[0].name, second.name), "remove one of them")
	case len(given) == 0 && n.lacks(names[0]):
		c.report.fail(offset, p.at, fmt.Sprintf("%s must have a '%s' field, or a '%s'", p.subject, names[0], strings.Join(names[1:], "' or a '")),
			exampleHint(o.key(names[0])))
	}
}

func (c *checker) value(n *node, k *key, p place) {
	if !slices.Contains(k.kinds, n.kind) {
		c.wrongKind(n, k, p)
		return
	}
	switch n.kind {
	case kindString, kindInteger:
		c.text(n, k, p)
	case kindArray:
		for i := range n.elements {
			element, below := &n.elements[i], p.element(i)
			if k.members != nil {
				c.element(element, k, p.numbered(k.noun, i))
				continue
			}
			if k.scalars {
				c.scalar(element, k, below)
				continue
			}
			if element.kind != kindString {
				c.report.fail(element.offset, below.at, below.describe("must be a string (found "+element.kind.String()+")"), exampleHint(k))
				continue
			}
			c.text(element, k, below)
		}
	case kindObject:
		switch {
		case k.members != nil:
			c.object(n, n.offset, k.members, p)
		case !k.free:
			c.entries(n, k, p)
		}
	}
}

// scalar checks one element of an array of scalars.
func (c *checker) scalar(n *node, k *key, p place) {
	if n.kind == kindArray || n.kind == kindObject {
		c.report.fail(n.offset, p.at, p.describe("must be a string, a number, true, false or null (found "+n.kind.String()+")"), exampleHint(k))
	}
}

// element checks one element of an array of objects.
func (c *checker) element(n *node, k *key, p place) {
	if n.kind != kindObject {
		c.report.fail(n.offset, p.at, p.subject+" must be an object (found "+n.kind.String()+")", exampleHint(k))
		return
	}
	c.object(n, n.offset, k.members, p)
}

func (c *checker) wrongKind(n *node, k *key, p place) {
	found := " (found " + n.kind.String() + ")"
	if k.required != "" {
		c.report.fail(n.offset, p.at, p.subject+" "+k.required+found, exampleHint(k))
		return
	}
	wanted := make([]string, len(k.kinds))
	for i, one := range k.kinds {
		wanted[i] = one.String()
		if one == kindBoolean {
			wanted[i] = "true or false"
		}
	}
	c.report.fail(n.offset, p.at, p.describe("must be "+strings.Join(wanted, " or ")+found), exampleHint(k))
}

// text checks the value of a string or number.
func (c *checker) text(n *node, k *key, p place) {
	if n.unresolved {
		return
	}
	if k.nonEmpty && n.text == "" {
		c.report.fail(n.offset, p.at, p.describe("must not be empty"), exampleHint(k))
		return
	}
	if k.enum != nil && !slices.Contains(k.enum, n.text) {
		hint := exampleHint(k)
		if near := toolbox.Nearest(n.raw, k.enum, 1); len(near) > 0 {
			hint = "did you mean " + quote(near[0]) + "?"
		}
		c.report.fail(n.offset, p.at, fmt.Sprintf("%s: unknown %s %s", p.subject, k.name, quote(n.raw)), hint)
	}
	if k.check != nil {
		if wrong := k.check(n.probe()); wrong != "" {
			c.report.fail(n.offset, p.at, p.describe(wrong), exampleHint(k))
		}
	}
}

// entries checks an object whose keys are user-defined names.
func (c *checker) entries(n *node, k *key, p place) {
	e := k.entries
	folded := map[string]string{}
	for i := range n.members {
		m := &n.members[i]
		if !m.unresolved {
			c.entryName(m, e, folded, p)
		}
		switch {
		case e.lists:
			c.entryList(&m.value, e, p.member(m.raw))
		case e.object == nil:
			c.entryText(&m.value, e, p.member(m.raw))
		case m.value.kind != kindObject:
			below := p.entry(e.noun, m.raw)
			c.report.fail(m.value.offset, below.at, below.subject+" must be an object (found "+m.value.kind.String()+")", "")
		default:
			c.object(&m.value, m.offset, e.object, p.entry(e.noun, m.raw))
		}
	}
}

func (c *checker) entryName(m *member, e *entries, folded map[string]string, p place) {
	below := p.member(m.raw)
	if wrong := e.checkName(m.name); wrong != "" {
		message := e.noun + " " + wrong
		if p.subject != rootPlace.subject {
			message = p.subject + ": " + lowerFirst(message)
		}
		c.report.fail(m.offset, below.at, message, "")
	}
	if !e.foldCase {
		return
	}
	lower := strings.ToLower(m.name)
	if before, seen := folded[lower]; seen && before != m.name {
		c.report.fail(m.offset, below.at, "Duplicate key "+quote(m.raw), "upper and lower case are the same here; remove one of them")
	}
	folded[lower] = m.name
}

// entryText checks the value of a variable or header. Messages never contain it.
func (c *checker) entryText(n *node, e *entries, p place) {
	if n.kind != kindString {
		c.report.fail(n.offset, p.at, p.describe("must be a string (found "+n.kind.String()+")"), "put the value into double quotes")
		return
	}
	if e.checkValue == nil || n.unresolved {
		return
	}
	if wrong := e.checkValue(n.probe()); wrong != "" {
		c.report.fail(n.offset, p.at, p.describe(wrong), "")
	}
}

// entryList checks an entry that is a list of strings.
func (c *checker) entryList(n *node, e *entries, p place) {
	if n.kind != kindArray {
		c.report.fail(n.offset, p.at, p.describe("must be an array (found "+n.kind.String()+")"), "put the "+e.noun+"'s strings into brackets")
		return
	}
	for i := range n.elements {
		element, below := &n.elements[i], p.element(i)
		c.entryText(element, e, below)
	}
}
