package jsonc

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// removal is a member to remove, with its surroundings.
type removal struct {
	*document
	index, count int
	open         int // after the opening bracket
	before       int // start of the text between the member and its predecessor
	key, end     int // the member with its comma, if any
	hasComma     bool
	prevComma    int // of the preceding member; -1 for the first
}

func (d *document) remove(at *hujson.Value, object *hujson.Object, index int) {
	r := d.removal(at, object, index)
	tail, ends, lineComment := d.tail(r.before)
	var from, to int
	if ends {
		from, to = r.rangeOfLines(tail, lineComment)
		if !r.hasComma && index > 0 {
			d.splice(r.prevComma, r.prevComma+1, "")
		}
	} else {
		from, to = r.rangeInLine()
	}
	closing := at.EndOffset - 1
	if r.count == 1 && len(bytes.TrimSpace(d.text[r.open:from])) == 0 && len(bytes.TrimSpace(d.text[to:closing])) == 0 {
		from, to = r.open, closing
	}
	d.splice(from, to, "")
}

// commentsOf returns the comments that are removed with a member: those on the lines directly above it, or before it on its
// line, and those after it on its line.
func (d *document) commentsOf(path []string) *addition {
	at, _, err := d.walk(path[:len(path)-1])
	if err != nil {
		return &addition{}
	}
	object := at.Value.(*hujson.Object) // the path leads through it
	index, err := find(object, path)
	if err != nil || index < 0 {
		return &addition{}
	}
	r := d.removal(at, object, index)
	with := &addition{}
	if tail, ends, _ := d.tail(r.before); ends {
		for line := range strings.Lines(string(d.text[r.blockStart(tail):r.key])) {
			if line = strings.TrimSpace(line); line != "" {
				with.above = append(with.above, line)
			}
		}
		if end, ends, _ := d.tail(r.end); ends {
			with.behind = string(d.text[r.end:end])
		}
		return with
	}
	if leading := blockComments(string(d.text[r.before:r.key])); leading != "" {
		with.above = []string{leading}
	}
	if tail, ends, _ := d.tail(r.end); r.index == 0 && (ends || r.count == 1) { // as rangeInLine
		with.behind = string(d.text[r.end:tail])
	}
	return with
}

func (d *document) removal(at *hujson.Value, object *hujson.Object, index int) *removal {
	m := &object.Members[index]
	r := &removal{
		document: d, index: index, count: len(object.Members), open: at.StartOffset + 1, before: at.StartOffset + 1,
		key: m.Name.StartOffset, end: m.Value.EndOffset, prevComma: -1,
	}
	if comma, ok := d.commaAfter(&m.Value); ok {
		r.hasComma, r.end = true, comma+1
	}
	if index > 0 {
		r.prevComma, _ = d.commaAfter(&object.Members[index-1].Value)
		r.before = r.prevComma + 1
	}
	return r
}

// rangeInLine removes a member that shares its line with its predecessor.
func (r *removal) rangeInLine() (from, to int) {
	isLast := r.index == r.count-1
	switch {
	case r.index > 0 && isLast && !r.hasComma:
		return r.prevComma, r.end
	case r.index > 0:
		return r.before, r.end
	}
	tail, ends, _ := r.tail(r.end)
	if isLast || ends {
		return r.before, tail
	}
	return r.skip(r.before, " \t"), r.skip(r.end, " \t") // a comment after the comma is the next member's
}

// rangeOfLines removes a member that begins a line. beforeEnd is the end of its predecessor with its comments.
func (r *removal) rangeOfLines(beforeEnd int, lineComment bool) (from, to int) {
	from = r.blockStart(beforeEnd)
	tail, ends, _ := r.tail(r.end)
	if ends {
		to = r.skip(tail, " \t\r")
		if to < len(r.text) {
			to++ // the line ending
		}
		return r.joinBlank(from, to), to
	}
	if r.index < r.count-1 { // the next member moves to its place on the line
		return r.skip(from, " \t"), r.skip(r.end, " \t")
	}
	if !lineComment && len(bytes.TrimSpace(r.text[beforeEnd:from])) == 0 {
		return beforeEnd, tail
	}
	return from, tail
}

// blockStart returns the start of the first line of the comments directly above the member, or of its own line.
func (r *removal) blockStart(beforeEnd int) int {
	at := r.skip(beforeEnd, " \t\r") + 1
	start := at
	for at < r.key {
		next := r.skip(at, " \t\r")
		switch {
		case next >= r.key:
			return start
		case r.text[next] == '\n':
			if len(bytes.TrimSpace(r.text[r.lineStart(next):next])) == 0 {
				start = next + 1 // a blank line separates them
			}
			at = next + 1
		default:
			at = commentEnd(r.text, next)
		}
	}
	return start
}

// joinBlank also removes the blank line above if another one or the end of the object follows.
func (r *removal) joinBlank(from, to int) int {
	below := r.skip(to, " \t\r")
	if below < len(r.text) && r.text[below] != '\n' && r.text[below] != '}' || from == 0 {
		return from
	}
	above := r.lineStart(from - 1)
	if above > r.before && len(bytes.TrimSpace(r.text[above:from])) == 0 {
		return above
	}
	return from
}
