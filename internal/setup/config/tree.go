package config

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// kind is the type of a JSON value, in the terms of JSON Schema.
type kind string

const (
	kindNull    kind = "null"
	kindBoolean kind = "boolean"
	kindInteger kind = "integer" // stands for every number: the file needs no others
	kindString  kind = "string"
	kindArray   kind = "array"
	kindObject  kind = "object"
)

// String returns the kind with its article, for messages.
func (k kind) String() string {
	switch k {
	case kindNull:
		return "null"
	case kindInteger:
		return "a number"
	case kindArray, kindObject:
		return "an " + string(k)
	}
	return "a " + string(k)
}

// node is a JSON value of the file with variables expanded.
type node struct {
	kind     kind
	offset   int
	raw      string // a string before expansion; of other scalars, the literal
	text     string // a string after expansion; of other scalars, the literal
	members  []member
	elements []node

	// unresolved marks a text with a variable that has no value. It was reported, or the server is disabled; in both
	// cases text is meaningless.
	unresolved bool

	pieces []Piece // of a text with forms, which text has as they are written; otherwise nil
}

// member is a key of an object with its value. Messages show raw, never name: values of variables are not shown.
type member struct {
	raw, name  string
	unresolved bool
	offset     int
	value      node
}

// get returns the value of the member with that name, or nil. The receiver may be nil.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if n.members[i].name == name {
			return &n.members[i].value
		}
	}
	return nil
}

// lacks reports whether the member is absent, and no member has an unknown name.
func (n *node) lacks(name string) bool {
	for _, m := range n.members {
		if m.unresolved || m.name == name {
			return false
		}
	}
	return true
}

// path leads from the root to a value and is linked upwards: few values need it, and only those convert it to text.
type path struct {
	parent *path
	key    string
	index  int // of an array element, which has no key; otherwise -1
}

var rootPath = &path{key: "config", index: -1}

func (p *path) member(key string) *path { return &path{parent: p, key: key, index: -1} }

func (p *path) element(index int) *path { return &path{parent: p, index: index} }

// up returns the path a number of levels above, or nil.
func (p *path) up(levels int) *path {
	for ; levels > 0 && p != nil; levels-- {
		p = p.parent
	}
	return p
}

func (p *path) is(key string) bool { return p != nil && p.index < 0 && p.key == key }

// isServer reports whether p is config.toolboxes.T.mcpServers.S.
func (p *path) isServer() bool {
	return p.up(1).is("mcpServers") && p.up(3).is("toolboxes") && p.up(4) == rootPath
}

// server returns the path of the server that p is or belongs to, or nil.
func (p *path) server() *path {
	for ; p != nil; p = p.parent {
		if p.isServer() {
			return p
		}
	}
	return nil
}

// String returns the dotted form; "" for nil.
func (p *path) String() string {
	switch {
	case p == nil:
		return ""
	case p.index >= 0:
		return fmt.Sprintf("%s[%d]", p.parent, p.index)
	case p.parent == nil:
		return p.key
	case isPlainKey(p.key):
		return p.parent.String() + "." + p.key
	}
	return p.parent.String() + "[" + strconv.Quote(p.key) + "]"
}

func isPlainKey(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '-' && (r >= utf8.RuneSelf || !isNameByte(byte(r)))
	})
}

// treeBuilder converts the parsed file into nodes: it expands strings and keys, and reports the mistakes that can occur
// anywhere.
type treeBuilder struct {
	lookup  func(string) (string, bool)
	outer   func(string) (string, bool) // lookup outside of servers; nil: the same
	envFile string
	report  *report
	secrets *secrets
	literal bool   // nothing is expanded
	dir     string // the file's folder
	home    string // "": not known
	plain   bool   // the file is that of an MCP client
}

func (g *treeBuilder) value(v *hujson.Value, at *path, disabled bool) node {
	n := node{offset: v.StartOffset}
	switch value := v.Value.(type) {
	case *hujson.Object:
		n.kind = kindObject
		disabled = disabled || at.isServer() && isDisabled(value)
		n.members = g.members(value, at, disabled)
	case *hujson.Array:
		n.kind = kindArray
		for i := range value.Elements {
			n.elements = append(n.elements, g.value(&value.Elements[i], at.element(i), disabled))
		}
	case hujson.Literal:
		n.kind, n.raw = scalar(value)
		n.text = n.raw
		if n.kind == kindString {
			e, unresolved := g.expand(n.raw, n.offset, at, disabled)
			n.text, n.unresolved, n.pieces = e.text, unresolved, g.forms(e, n.offset, at, mayHaveForms(at))
		}
	}
	return n
}

func scalar(literal hujson.Literal) (kind, string) {
	switch literal.Kind() {
	case '"':
		if bytes.IndexByte(literal, '\\') < 0 {
			return kindString, string(literal[1 : len(literal)-1]) // the common case; decoding takes a third of the time
		}
		return kindString, literal.String()
	case 't', 'f':
		return kindBoolean, string(literal)
	case 'n':
		return kindNull, string(literal)
	}
	return kindInteger, string(literal)
}

// members returns the members of an object and reports names that occur twice after expansion.
func (g *treeBuilder) members(object *hujson.Object, at *path, disabled bool) []member {
	members := make([]member, 0, len(object.Members))
	first := make(map[string]int, len(object.Members))
	for i := range object.Members {
		key, value := &object.Members[i].Name, &object.Members[i].Value
		_, raw := scalar(key.Value.(hujson.Literal))
		m := member{raw: raw, offset: key.StartOffset}
		below := at.member(raw)
		e, unresolved := g.expand(raw, m.offset, below, disabled)
		m.name, m.unresolved = e.text, unresolved
		g.forms(e, m.offset, below, false)
		if offset, seen := first[m.name]; seen {
			// A duplicate server name is a mistake of the toolbox, not of either server.
			g.report.failWithin(at, m.offset, below, "Duplicate key "+quote(raw),
				fmt.Sprintf("the key is already used on line %d; rename or remove one of them", g.report.line(offset)))
		} else {
			first[m.name] = m.offset
		}
		m.value = g.value(value, below, disabled)
		members = append(members, m)
	}
	return members
}

// isDisabled looks ahead, since a variable may precede the key that makes it optional.
func isDisabled(server *hujson.Object) bool {
	for _, m := range server.Members {
		_, name := scalar(m.Name.Value.(hujson.Literal))
		value, isScalar := m.Value.Value.(hujson.Literal)
		if name == "disabled" && isScalar && value.Bool() {
			return true
		}
	}
	return false
}

// forms checks the forms of a text, and returns its pieces. Only some texts of a server may have forms.
func (g *treeBuilder) forms(e expansion, offset int, at *path, mayHave bool) []Piece {
	fail := func(reason, hint string) {
		g.report.fail(offset, at, fmt.Sprintf("A secret cannot be named here\nLocation: %s\nReason: %s", at, reason), hint)
	}
	for _, wrong := range e.wrong {
		fail(wrong, "write it as ${keyring:NAME}, ${exec:COMMAND ARGS}, ${file:PATH} or ${credential:NAME}, or $${ for a literal ${")
	}
	if len(e.wrong) > 0 {
		return nil
	}
	for _, piece := range e.pieces {
		if piece.Form == nil {
			continue
		}
		if !mayHave {
			fail("${"+string(piece.Form.Kind)+":…} is not known before a server starts", whereForms+"; write $${ for a literal ${")
			return nil
		}
		if wrong := piece.Form.locate(g.dir, g.home); wrong != "" {
			fail(piece.Form.String()+" "+wrong, "set HOME, or write the folder out")
		}
	}
	return e.pieces
}

// expand returns the expanded text, and whether it is incomplete.
func (g *treeBuilder) expand(raw string, offset int, at *path, disabled bool) (e expansion, unresolved bool) {
	if g.literal {
		return expansion{text: raw}, false
	}
	if g.plain {
		raw = plainVariables(raw)
	}
	lookup := g.lookup
	if g.outer != nil && at.up(1).server() == nil {
		lookup = g.outer
	}
	e = expandForms(raw, lookup, !g.plain)
	for _, value := range e.values {
		g.secrets.add(value)
	}
	for _, address := range e.shown {
		g.secrets.addURL(address)
	}
	if strings.ContainsRune(e.text, 0) {
		g.report.fail(offset, at, "Text must not hold a NUL character", "")
	}
	if len(e.unclosed) > 0 {
		found := e.unclosed[0]
		if found == "" {
			found = "${"
		}
		g.failExpansion(offset, at, found, "Malformed syntax: unclosed brace", "close it with }, or write $${ for a literal ${")
		return e, true
	}
	for _, shown := range e.literal {
		g.report.warn(offset, at, shown+" is not expanded and stays as it is", literalHint(raw, shown, mayHaveForms(at) && !g.plain))
	}
	if !disabled {
		for _, name := range e.unset {
			g.failExpansion(offset, at, name, "Variable is not set",
				fmt.Sprintf("export %s=value\nor put the line %s=value into %s", name, name, g.envFile))
		}
	}
	return e, len(e.unset) > 0
}

func (g *treeBuilder) failExpansion(offset int, at *path, variable, reason, hint string) {
	g.report.fail(offset, at, fmt.Sprintf("Environment variable expansion failed\nVariable: %s\nLocation: %s\nReason: %s",
		variable, at, reason), hint)
}
