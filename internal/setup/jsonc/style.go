package jsonc

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// maxLine is the length of a line, in bytes; longer values are spread over several lines.
const maxLine = 110

// style is the layout of a file.
type style struct {
	newline  string
	unit     string // one level of indentation
	gap      string // between a colon or comma and what follows on the line
	oneLine  bool   // the whole file
	trailing bool   // objects of several lines end with a comma
	tall     bool   // arrays have an element on each line
	padded   bool   // objects on one line have space inside their brackets
}

// detectStyle detects the style of the file. The default is the most common style.
func (d *document) detectStyle() style {
	s := style{newline: "\n", gap: " "}
	if at := bytes.IndexByte(d.text, '\n'); at > 0 && d.text[at-1] == '\r' {
		s.newline = "\r\n"
	}
	trailing, tall, padded, seen := 0, 0, 0, false
	for value := range d.root.All() {
		var first, last *hujson.Value
		switch composite := value.Value.(type) {
		case *hujson.Object:
			if len(composite.Members) == 0 {
				continue
			}
			if !seen {
				seen = true
				if len(composite.Members[0].Value.BeforeExtra) == 0 {
					s.gap = ""
				}
			}
			first, last = &composite.Members[0].Name, &composite.Members[len(composite.Members)-1].Value
		case *hujson.Array:
			if len(composite.Elements) == 0 {
				continue
			}
			first, last = &composite.Elements[0], &composite.Elements[len(composite.Elements)-1]
			tall += vote(d.beginsLine(first.StartOffset))
		default:
			continue
		}
		if !d.beginsLine(first.StartOffset) {
			if value.Value.Kind() == '{' {
				padded += vote(len(first.BeforeExtra) > 0)
			}
			continue
		}
		_, comma := d.commaAfter(last)
		trailing += vote(comma)
		deeper, ok := strings.CutPrefix(d.indent(first.StartOffset), d.indent(value.StartOffset))
		if s.unit == "" && ok {
			s.unit = deeper
		}
	}
	if s.unit == "" {
		s.unit = "  "
	}
	s.trailing, s.tall, s.padded = trailing > 0, tall > 0, padded > 0
	s.oneLine = seen && bytes.IndexByte(d.text[d.root.StartOffset:d.root.EndOffset], '\n') < 0
	return s
}

func vote(yes bool) int {
	if yes {
		return 1
	}
	return -1
}

// layout formats a value on several lines; all but the first are indented.
func (s style) layout(value *hujson.Value, indent string) string {
	deeper := indent + s.unit
	var parts []string
	brackets := "{}"
	switch composite := value.Value.(type) {
	case hujson.Literal:
		return string(composite)
	case *hujson.Array:
		brackets = "[]"
		line := s.line(value)
		if !s.tall && !hasComposite(composite) && len(indent)+len(line) <= maxLine {
			return line
		}
		for i := range composite.Elements {
			parts = append(parts, s.layout(&composite.Elements[i], deeper))
		}
	case *hujson.Object:
		for i := range composite.Members {
			m := &composite.Members[i]
			parts = append(parts, s.key(m)+s.layout(&m.Value, deeper))
		}
	}
	if len(parts) == 0 {
		return brackets
	}
	end := ""
	if s.trailing {
		end = ","
	}
	between := s.newline + deeper
	return brackets[:1] + between + strings.Join(parts, ","+between) + end + s.newline + indent + brackets[1:]
}

// line formats a value on one line.
func (s style) line(value *hujson.Value) string {
	var parts []string
	brackets := "{}"
	switch composite := value.Value.(type) {
	case hujson.Literal:
		return string(composite)
	case *hujson.Array:
		brackets = "[]"
		for i := range composite.Elements {
			parts = append(parts, s.line(&composite.Elements[i]))
		}
	case *hujson.Object:
		for i := range composite.Members {
			m := &composite.Members[i]
			parts = append(parts, s.key(m)+s.line(&m.Value))
		}
	}
	space := ""
	if s.padded && brackets == "{}" && len(parts) > 0 {
		space = " "
	}
	return brackets[:1] + space + strings.Join(parts, ","+s.gap) + space + brackets[1:]
}

func (s style) key(m *hujson.ObjectMember) string {
	return string(m.Name.Value.(hujson.Literal)) + ":" + s.gap
}

func hasComposite(array *hujson.Array) bool {
	for i := range array.Elements {
		if _, isLiteral := array.Elements[i].Value.(hujson.Literal); !isLiteral {
			return true
		}
	}
	return false
}
