// Package arguments parses the arguments of a tool from the command line, checks them against its
// schema, and completes them.
package arguments

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// maxInput is the number of bytes read from a file or from stdin.
const maxInput = 64 << 20

// Parse makes arguments from words: JSON objects, '@file' and '-' (stdin) with one, 'key=value' with the type from the
// schema, and 'key:=json'. Later words override earlier ones. The result is one JSON object on one line; it is not
// checked.
func Parse(words []string, inputSchema wire.Payload, stdin io.Reader) ([]byte, error) {
	p := parser{schema: schema{Payload: inputSchema, root: inputSchema}.follow(), stdin: stdin, given: make(map[string]bool)}
	for _, word := range words {
		if err := p.parseWord(word); err != nil {
			return nil, err
		}
	}
	return p.object.append(nil), nil
}

type parser struct {
	schema schema
	stdin  io.Reader
	object object
	given  map[string]bool // keys already set by a 'key=value'
}

func (p *parser) parseWord(word string) error {
	switch {
	case word == "-":
		return p.readInput("stdin", p.stdin)
	case strings.HasPrefix(word, "@"):
		file, err := os.Open(word[1:])
		if err != nil {
			return invalid("The file of the arguments cannot be read: "+err.Error(), "'@' is followed by the path of a file with a JSON object.", err)
		}
		defer file.Close()
		return p.readInput(word[1:], file)
	case strings.HasPrefix(strings.TrimSpace(word), "{"):
		return p.parseObject("The arguments", []byte(word))
	}
	key, value, found := strings.Cut(word, "=")
	if !found || strings.TrimSuffix(key, ":") == "" {
		return invalid(fmt.Sprintf("'%s' is no argument", word),
			`Arguments are key=value, key:=JSON, a JSON object such as '{"key": "value"}', @file, or - for stdin.`, nil)
	}
	if raw, ok := strings.CutSuffix(key, ":"); ok {
		if _, named := p.schema.property(key); !named {
			return p.set(raw, value, true)
		}
	}
	return p.set(key, value, false)
}

func (p *parser) readInput(name string, in io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return invalid(fmt.Sprintf("The arguments from %s cannot be read: %v", name, err), "", err)
	case len(data) > maxInput:
		return invalid(fmt.Sprintf("The arguments from %s are larger than %d MiB", name, maxInput>>20), "", nil)
	}
	return p.parseObject("The content of "+name, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
}

func (p *parser) parseObject(what string, data []byte) error {
	value, err := wire.ParseValue(data)
	if err != nil {
		return invalid(fmt.Sprintf("%s cannot be read as JSON: %v", what, err), `An object is expected, such as '{"key": "value"}'.`, err)
	}
	if value.Kind() != "object" {
		return invalid(fmt.Sprintf("%s: an object is expected, not %s", what, withArticle(value.Kind())), `For example: '{"key": "value"}'.`, nil)
	}
	for key, member := range value.Members() {
		p.object.set(string(key), compact(member.Bytes()))
	}
	return nil
}

// set sets the value of a 'key=value'; raw marks it as JSON.
func (p *parser) set(key, value string, raw bool) error {
	path, s := p.schema.resolve(key)
	parsed, isElement, err := parseValue(key, value, raw, s)
	if err != nil {
		return err
	}
	at := &p.object
	for _, name := range path[:len(path)-1] {
		next, ok := at.inner(name)
		if !ok {
			return invalid(fmt.Sprintf("'%s' cannot be set: '%s' has a value that is not an object", key, name), "", nil)
		}
		at = next
	}
	last := path[len(path)-1]
	again := p.given[key]
	p.given[key] = true
	switch {
	case again && !raw && slices.Contains(s.types(), "array"):
		at.set(last, joined(at.get(last), parsed))
	case again:
		return invalid(fmt.Sprintf("'%s' is given more than once", key), "Several values are for parameters that take a list.", nil)
	case isElement:
		at.set(last, joined([]byte("[]"), parsed))
	default:
		at.set(last, parsed)
	}
	return nil
}

// joined appends a value to the existing ones, as a list.
func joined(before, value []byte) []byte {
	if wire.Raw(before).Kind() != "array" {
		before = slices.Concat([]byte("["), before, []byte("]"))
	}
	head := before[:len(before)-1]
	if len(head) > 1 {
		head = slices.Concat(head, []byte(","))
	}
	return slices.Concat(head, value, []byte("]"))
}

// resolve splits a key at its dots, unless a member has that very name.
func (s schema) resolve(key string) (path []string, of schema) {
	rest := key
	for {
		if found, ok := s.property(rest); ok {
			return append(path, rest), found
		}
		name, more, nested := strings.Cut(rest, ".")
		if !nested || name == "" || more == "" {
			return append(path, rest), schema{root: s.root}
		}
		path, rest = append(path, name), more
		s, _ = s.property(name)
	}
}

func compact(value []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return value // unreachable: it was validated
	}
	return out.Bytes()
}

func withArticle(kind string) string {
	switch kind {
	case "array", "object", "integer":
		return "an " + kind
	case "null":
		return "null"
	}
	return "a " + kind
}

func invalid(message, hint string, cause error) error {
	return &toolbox.Error{Code: toolbox.ArgumentsInvalid, Message: message, Hint: hint, Cause: cause}
}
