package configedit

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// replace puts a value in the place of another.
func (d *document) replace(old, value *hujson.Value) {
	text := d.style.line(value)
	start := d.lineStart(old.StartOffset)
	if !d.style.oneLine && (!d.isLine(old) || old.StartOffset-start+len(text) > maxLine) {
		text = d.style.layout(value, d.indent(old.StartOffset))
	}
	d.splice(old.StartOffset, old.EndOffset, text)
}

// isLine reports that a value is an object or array that holds something, on one line.
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

// insert puts a member behind the others of an object. Comments that stand behind the last
// one stay behind the new one, unless they are on the last one's line.
func (d *document) insert(at *hujson.Value, object *hujson.Object, m hujson.ObjectMember) {
	if len(object.Members) == 0 {
		d.insertFirst(at, &m)
		return
	}
	last := &object.Members[len(object.Members)-1]
	comma, hasComma := d.commaAfter(&last.Value)
	from, end := last.Value.EndOffset, ""
	if hasComma {
		from, end = comma+1, ","
	}
	tail, _, lineComment := d.tail(from)
	ownLine := d.beginsLine(last.Name.StartOffset)
	if !ownLine && !lineComment {
		text := d.style.key(&m) + d.inline(&m.Value, last.Name.StartOffset)
		if hasComma {
			d.splice(from, from, d.style.gap+text+end)
		} else {
			d.splice(tail, tail, ","+d.style.gap+text)
		}
		return
	}
	indent := d.indent(last.Name.StartOffset)
	if !ownLine {
		indent += d.style.unit
	}
	if !hasComma {
		d.splice(from, from, ",")
	}
	key := d.style.key(&m)
	text := d.style.line(&m.Value)
	if !d.isLine(&last.Value) || len(indent)+len(key)+len(text) > maxLine {
		text = d.style.layout(&m.Value, indent)
	}
	d.splice(tail, tail, d.style.newline+indent+key+text+end)
}

// inline lays a value out that follows another on its line.
func (d *document) inline(value *hujson.Value, at int) string {
	text := d.style.line(value)
	if d.style.oneLine || at-d.lineStart(at)+len(text) <= maxLine {
		return text
	}
	return d.style.layout(value, d.indent(at))
}

// insertFirst puts a member into an object that has none.
func (d *document) insertFirst(at *hujson.Value, m *hujson.ObjectMember) {
	open, closing := at.StartOffset+1, at.EndOffset-1
	if d.style.oneLine {
		d.splice(open, open, d.style.key(m)+d.style.line(&m.Value))
		return
	}
	outer := d.indent(at.StartOffset)
	indent := outer + d.style.unit
	text := d.style.newline + indent + d.style.key(m) + d.style.layout(&m.Value, indent)
	if d.style.trailing {
		text += ","
	}
	tail, _, _ := d.tail(open)
	tail = min(tail, closing)
	if strings.Contains(string(d.text[tail:closing]), "\n") {
		d.splice(tail, tail, text)
		return
	}
	d.splice(tail, closing, text+d.style.newline+outer)
}
