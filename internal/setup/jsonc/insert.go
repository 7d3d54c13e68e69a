package jsonc

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// replace replaces a value.
func (d *document) replace(old, value *hujson.Value) {
	text := d.style.line(value)
	start := d.lineStart(old.StartOffset)
	if !d.style.oneLine && (!d.isLine(old) || old.StartOffset-start+len(text) > maxLine) {
		text = d.style.layout(value, d.indent(old.StartOffset))
	}
	d.splice(old.StartOffset, old.EndOffset, text)
}

// isLine reports whether a value is a non-empty object or array on one line.
func (d *document) isLine(value *hujson.Value) bool {
	switch composite := value.Value.(type) {
	case *hujson.Object:
		if len(composite.Members) == 0 {
			return false
		}
	case *hujson.Array:
		if len(composite.Elements) == 0 {
			return false
		}
	default:
		return false
	}
	return bytes.IndexByte(d.text[value.StartOffset:value.EndOffset], '\n') < 0
}

// insert inserts a member into an object after index others. Comments after the preceding member stay if they are on
// its line; otherwise they follow the new one.
func (d *document) insert(at *hujson.Value, object *hujson.Object, index int, m *addition) {
	switch {
	case len(object.Members) == 0:
		d.insertFirst(at, m)
	case index == 0:
		d.insertBefore(at, object, m)
	default:
		d.insertAfter(&object.Members[index-1], m)
	}
}

// addition is a member to insert, with comments for when it has lines of its own, or is moved.
type addition struct {
	hujson.ObjectMember
	isMoved bool // within the file
	above   []string
	behind  string

	written *writtenValue // the value as it was written elsewhere in the file; nil: it is formatted
}

// writtenValue is the text of a value, with the indentation of the line that it starts on.
type writtenValue struct{ text, indent string }

// at returns the text for a line with another indentation.
func (w *writtenValue) at(indent string) string {
	lines := strings.SplitAfter(w.text, "\n")
	for i := range lines[1:] {
		if rest, ok := strings.CutPrefix(lines[i+1], w.indent); ok {
			lines[i+1] = indent + rest
		}
	}
	return strings.Join(lines, "")
}

func (d *document) insertAfter(previous *hujson.ObjectMember, m *addition) {
	comma, hasComma := d.commaAfter(&previous.Value)
	from, end := previous.Value.EndOffset, ""
	if hasComma {
		from, end = comma+1, ","
	}
	tail, _, lineComment := d.tail(from)
	ownLine := d.beginsLine(previous.Name.StartOffset)
	if !ownLine && !lineComment {
		text := d.inline(m, previous.Name.StartOffset)
		if hasComma {
			d.splice(from, from, d.style.gap+text+end)
		} else {
			d.splice(tail, tail, ","+d.style.gap+text)
		}
		return
	}
	indent := d.indent(previous.Name.StartOffset)
	if !ownLine {
		indent += d.style.unit
	}
	if !hasComma {
		d.splice(from, from, ",")
	}
	d.splice(tail, tail, d.style.newline+d.spread(previous, m, indent)+end+m.behind)
}

// insertBefore inserts a member before all others. Comments above the first one stay with it.
func (d *document) insertBefore(at *hujson.Value, object *hujson.Object, m *addition) {
	first := &object.Members[0]
	if !d.beginsLine(first.Name.StartOffset) {
		start := first.Name.StartOffset
		d.splice(start, start, d.inline(m, start)+","+d.style.gap)
		return
	}
	tail, _, _ := d.tail(at.StartOffset + 1)
	d.splice(tail, tail, d.style.newline+d.spread(first, m, d.indent(first.Name.StartOffset))+","+m.behind)
}

// spread formats a member on lines of its own, or on a single one if its neighbour has one.
func (d *document) spread(neighbour *hujson.ObjectMember, m *addition, indent string) string {
	key := indent + d.style.key(&m.ObjectMember)
	above := d.above(m, indent)
	if m.written != nil {
		return above + key + m.written.at(indent)
	}
	if text := d.style.line(&m.Value); d.isLine(&neighbour.Value) && len(key)+len(text) <= maxLine {
		return above + key + text
	}
	return above + key + d.style.layout(&m.Value, indent)
}

// above formats the comments above a member on lines of their own.
func (d *document) above(m *addition, indent string) string {
	text := ""
	for _, line := range m.above {
		text += indent + line + d.style.newline
	}
	return text
}

// inline formats a member that shares its line with others. The comments of one that is moved become such that end on the
// line.
func (d *document) inline(m *addition, at int) string {
	if !m.isMoved {
		return d.style.key(&m.ObjectMember) + d.inlineValue(m, at)
	}
	above, behind := blockComments(strings.Join(m.above, "\n")), blockComments(m.behind)
	if above != "" {
		above += " "
	}
	if behind != "" {
		behind = " " + behind
	}
	return above + d.style.key(&m.ObjectMember) + d.inlineValue(m, at) + behind
}

func (d *document) inlineValue(m *addition, at int) string {
	if m.written != nil {
		return m.written.at(d.indent(at))
	}
	text := d.style.line(&m.Value)
	if d.style.oneLine || at-d.lineStart(at)+len(text) <= maxLine {
		return text
	}
	return d.style.layout(&m.Value, d.indent(at))
}

// blockComments returns the comments in a text of comments and space on one line.
func blockComments(text string) string {
	var found []string
	for at := 0; at < len(text); {
		end := commentEnd([]byte(text), at)
		if end == at {
			at++
			continue
		}
		words := strings.Join(strings.Fields(strings.TrimSuffix(text[at+2:end], "*/")), " ")
		found = append(found, "/* "+strings.ReplaceAll(words, "*/", "* /")+" */")
		at = end
	}
	return strings.Join(found, " ")
}

// insertFirst inserts a member into an empty object.
func (d *document) insertFirst(at *hujson.Value, m *addition) {
	open, closing := at.StartOffset+1, at.EndOffset-1
	if d.style.oneLine {
		d.splice(open, open, d.inline(m, open))
		return
	}
	outer := d.indent(at.StartOffset)
	indent := outer + d.style.unit
	value := d.style.layout(&m.Value, indent)
	if m.written != nil {
		value = m.written.at(indent)
	}
	text := d.style.newline + d.above(m, indent) + indent + d.style.key(&m.ObjectMember) + value
	if d.style.trailing {
		text += ","
	}
	text += m.behind
	tail, _, _ := d.tail(open)
	tail = min(tail, closing)
	if strings.Contains(string(d.text[tail:closing]), "\n") {
		d.splice(tail, tail, text)
		return
	}
	d.splice(tail, closing, text+d.style.newline+outer)
}
