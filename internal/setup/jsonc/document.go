package jsonc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// maxDepth bounds nesting: the parser is recursive.
const maxDepth = 500

var byteOrderMark = []byte("\xef\xbb\xbf")

// document is a file that is being edited. The tree is changed along with the text, and
// tells in the end whether the new text means what it should.
type document struct {
	mark    []byte // the byte order mark, if there is one
	text    []byte
	root    hujson.Value
	style   style
	splices []splice
}

// splice is a part of the old text and what comes in its place.
type splice struct {
	from, to int
	text     string
}

func parse(source []byte) (*document, error) {
	d := &document{text: bytes.TrimPrefix(source, byteOrderMark)}
	d.mark = source[:len(source)-len(d.text)]
	if tooDeep(d.text) {
		return nil, fmt.Errorf("the JSON is nested more than %d levels deep", maxDepth)
	}
	// A line comment needs its line end for the parser, also in the last line.
	root, err := hujson.Parse(append(bytes.Clone(d.text), '\n'))
	if err != nil {
		fault := &SyntaxError{Line: 1, Column: 1}
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &fault.Line, &fault.Column)
		return nil, fault
	}
	d.root = root
	d.style = d.habits()
	return d, nil
}

// tooDeep counts brackets that are neither in a string nor in a comment.
func tooDeep(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i = max(i, commentEnd(text, i)-1)
		}
	}
	return false
}

// commentEnd returns the end of the comment at an offset: before the line end, or behind
// the closing mark. What is no comment ends where it begins.
func commentEnd(text []byte, at int) int {
	rest := text[at:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			return at + len(bytes.TrimSuffix(rest[:end], []byte("\r")))
		}
		return len(text)
	case bytes.HasPrefix(rest, []byte("/*")):
		if end := bytes.Index(rest[2:], []byte("*/")); end >= 0 {
			return at + 2 + end + 2
		}
		return len(text)
	}
	return at
}

// walk follows a path for as long as it is there, and returns where it ended.
func (d *document) walk(path []string) (found *hujson.Value, depth int, err error) {
	found = &d.root
	for depth = range path {
		object, ok := found.Value.(*hujson.Object)
		if !ok {
			return nil, 0, &ShapeError{Path: path[:depth]}
		}
		index, err := find(object, path[:depth+1])
		if err != nil {
			return nil, 0, err
		}
		if index < 0 {
			return found, depth, nil
		}
		found = &object.Members[index].Value
	}
	return found, len(path), nil
}

func (d *document) splice(from, to int, text string) {
	d.splices = append(d.splices, splice{from, to, text})
}

var errUnsafe = errors.New("the file is laid out in a way that it cannot be edited safely; please edit it by hand")

// finish applies the splices, and checks that the result means what the tree says.
func (d *document) finish() ([]byte, error) {
	slices.SortStableFunc(d.splices, func(a, b splice) int { return cmp.Compare(a.from, b.from) })
	result := bytes.Clone(d.mark)
	done := 0
	for _, s := range d.splices {
		if s.from < done || s.to < s.from || s.to > len(d.text) {
			return nil, errUnsafe
		}
		result = append(result, d.text[done:s.from]...)
		result = append(result, s.text...)
		done = s.to
	}
	result = append(result, d.text[done:]...)
	after, err := parse(result)
	if err != nil || !equal(&after.root, &d.root) {
		return nil, errUnsafe
	}
	return result, nil
}

// commaAfter returns the place of the comma after a value; ok is false where there is none.
func (d *document) commaAfter(value *hujson.Value) (at int, ok bool) {
	at = value.EndOffset + len(value.AfterExtra)
	return at, at < len(d.text) && d.text[at] == ','
}

// tail looks at the rest of a line: end is behind the comments that follow, and ends says
// that nothing but the line end comes after them. A line comment always is the last.
func (d *document) tail(from int) (end int, ends, lineComment bool) {
	end = from
	for at := from; at < len(d.text); {
		switch c := d.text[at]; {
		case c == '\n':
			return end, true, lineComment
		case isSpace(c):
			at++
		default:
			past := commentEnd(d.text, at)
			if past == at {
				return end, false, false
			}
			lineComment = d.text[at+1] == '/'
			at, end = past, past
		}
	}
	return end, true, lineComment
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// lineStart returns the beginning of the line of an offset.
func (d *document) lineStart(at int) int { return bytes.LastIndexByte(d.text[:at], '\n') + 1 }

// indent returns the space at the beginning of the line of an offset.
func (d *document) indent(at int) string {
	line := d.text[d.lineStart(at):at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// beginsLine reports that only space stands before an offset on its line.
func (d *document) beginsLine(at int) bool {
	start := d.lineStart(at)
	return start > 0 && len(bytes.TrimLeft(d.text[start:at], " \t")) == 0
}

// skip returns the first offset from at on that holds none of the bytes.
func (d *document) skip(at int, set string) int {
	for at < len(d.text) && bytes.IndexByte([]byte(set), d.text[at]) >= 0 {
		at++
	}
	return at
}
