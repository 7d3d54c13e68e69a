package jsonc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// maxDepth is the nesting of an edited JSON file; the parser is recursive.
const maxDepth = 500

var byteOrderMark = []byte("\xef\xbb\xbf")

// document is a file that is being edited. The tree is changed along with the text, and finally verifies that the new
// text is equivalent.
type document struct {
	mark    []byte // byte order mark, if any
	text    []byte
	root    hujson.Value
	style   style
	splices []splice
}

// splice is a part of the old text with its replacement.
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
	// The parser requires a line ending after a line comment, even in the last line.
	root, err := hujson.Parse(append(bytes.Clone(d.text), '\n'))
	if err != nil {
		fault := &SyntaxError{Line: 1, Column: 1}
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &fault.Line, &fault.Column)
		return nil, fault
	}
	d.root = root
	d.style = d.detectStyle()
	return d, nil
}

// tooDeep counts brackets outside of strings and comments.
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

// commentEnd returns the end of the comment at an offset: before the line ending, or after the closing mark. It returns
// the offset itself if no comment starts there.
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

// walk follows a path as far as it exists, and returns where it ended.
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

var errUnsafe = errors.New("the layout of the file cannot be edited safely; please edit it by hand")

// finish applies the splices, and checks that the result is equivalent to the tree.
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

// commaAfter returns the position of the comma after a value; ok is false without one.
func (d *document) commaAfter(value *hujson.Value) (at int, ok bool) {
	at = value.EndOffset + len(value.AfterExtra)
	return at, at < len(d.text) && d.text[at] == ','
}

// tail scans the rest of a line: end is after the comments that follow, and ends reports whether only the line ending
// comes after them. A line comment is always the last.
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

// lineStart returns the start of the line of an offset.
func (d *document) lineStart(at int) int { return bytes.LastIndexByte(d.text[:at], '\n') + 1 }

// indent returns the indentation of the line of an offset.
func (d *document) indent(at int) string {
	line := d.text[d.lineStart(at):at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// beginsLine reports whether only space precedes an offset on its line.
func (d *document) beginsLine(at int) bool {
	start := d.lineStart(at)
	return start > 0 && len(bytes.TrimLeft(d.text[start:at], " \t")) == 0
}

// skip returns the first offset from at whose byte is not in the set.
func (d *document) skip(at int, set string) int {
	for at < len(d.text) && bytes.IndexByte([]byte(set), d.text[at]) >= 0 {
		at++
	}
	return at
}
