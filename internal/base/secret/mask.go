// Package secret recognises secrets, and masks them in text from other programs, such as the output or the errors of a
// server.
package secret

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
)

// Mask replaces a secret in text.
const Mask = "[hidden]"

const (
	// cutMark marks where text was truncated.
	cutMark = "…"
	// shortestPart is the shortest beginning of a secret that is masked where text was truncated.
	shortestPart = 4
	// shortestBase64 prevents accidental matches of short values in their encoded form.
	shortestBase64 = 8
	// windowSize is the size of the pieces in which a text is searched.
	windowSize = 128 << 10
	// maxGrowth is the most characters that can encode one byte of a secret.
	maxGrowth = 12
)

// Masker masks known secrets in text. A nil Masker masks nothing.
type Masker struct {
	values  []string
	longest int      // length of the longest value, in bytes
	encoded []string // the values in Base64, at each alignment, without the characters that also encode neighbours
}

// NewMasker returns a masker for the given values. It finds them in plain form, in text that was URL-encoded or quoted
// by a programming language, once or several times, and in Base64.
func NewMasker(values []string) *Masker {
	m := &Masker{}
	for _, value := range values {
		if value != "" {
			m.values = append(m.values, value)
			m.longest = max(m.longest, len(value))
			m.encoded = append(m.encoded, base64Forms(value)...)
		}
	}
	if len(m.values) == 0 {
		return nil
	}
	for _, list := range []*[]string{&m.values, &m.encoded} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return m
}

// base64Forms returns the Base64 forms of a value at each alignment in the encoded text.
func base64Forms(value string) []string {
	var forms []string
	for before := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + value))
			// The first and the last character also encode bits of the neighbours.
			first := (8*before + 5) / 6
			last := 8 * (before + len(value)) / 6
			if last-first >= shortestBase64 {
				forms = append(forms, text[first:last])
			}
		}
	}
	return forms
}

// span is a range of a text.
type span struct{ begin, end int }

// Mask returns the text with every secret in it masked.
func (m *Masker) Mask(text string) string {
	if m == nil || text == "" {
		return text
	}
	var found []span
	// Search in pieces, since the decoded forms take many times the size of a text. The pieces overlap by the longest
	// encoded secret.
	overlap := min(m.longest*maxGrowth, windowSize/2)
	for begin := 0; ; begin += windowSize - overlap {
		end := min(begin+windowSize, len(text))
		for _, view := range views(text[begin:end]) {
			for _, part := range m.find(view.text, end == len(text)) {
				part = view.original(part)
				found = append(found, span{begin + part.begin, begin + part.end})
			}
		}
		if end == len(text) {
			return replace(text, found)
		}
	}
}

// find returns the positions of secrets in a text, unordered. isLast says that no text follows.
func (m *Masker) find(text string, isLast bool) []span {
	var found []span
	for _, value := range m.values {
		for begin := range occurrences(text, value) {
			found = append(found, span{begin, begin + len(value)})
		}
		found = appendCut(found, text, value, isLast)
	}
	for _, form := range m.encoded {
		for begin := range occurrences(text, form) {
			// The characters around it encode the rest of the secret, and often what belongs to it, such as the user
			// name.
			found = append(found, widen(text, span{begin, begin + len(form)}))
		}
	}
	return found
}

// occurrences yields the positions of a part, overlapping ones included.
func occurrences(text, part string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for at := 0; ; at++ {
			next := strings.Index(text[at:], part)
			if next < 0 || !yield(at+next) {
				return
			}
			at += next
		}
	}
}

// appendCut adds truncated values: beginnings of a value before a truncation mark, and at the end of the text if more
// than half of the value is there.
func appendCut(found []span, text, value string, isLast bool) []span {
	for at := range occurrences(text, cutMark) {
		if n := prefixAtEnd(text[:at], value, shortestPart); n > 0 {
			found = append(found, span{at - n, at})
		}
	}
	if n := prefixAtEnd(text, value, max(shortestPart, len(value)/2+1)); n > 0 && isLast {
		found = append(found, span{len(text) - n, len(text)})
	}
	return found
}

// prefixAtEnd returns how many bytes of the value's beginning the text ends with; 0 if fewer than least, or the whole
// value.
func prefixAtEnd(text, value string, least int) int {
	for n := min(len(value)-1, len(text)); n >= least; n-- {
		if strings.HasSuffix(text, value[:n]) {
			return n
		}
	}
	return 0
}

// widen extends a range over the Base64 characters around it.
func widen(text string, part span) span {
	for part.begin > 0 && isBase64(text[part.begin-1]) {
		part.begin--
	}
	for part.end < len(text) && (isBase64(text[part.end]) || text[part.end] == '=') {
		part.end++
	}
	return part
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("+/-_", c) >= 0
}

// replace masks each range; overlapping ranges are merged.
func replace(text string, parts []span) string {
	if len(parts) == 0 {
		return text
	}
	slices.SortFunc(parts, func(a, b span) int { return cmp.Or(a.begin-b.begin, b.end-a.end) })
	var masked strings.Builder
	end := 0
	for _, part := range parts {
		switch {
		case part.begin >= end:
			masked.WriteString(text[end:part.begin])
			masked.WriteString(Mask)
			end = part.end
		case part.end > end:
			end = part.end
		}
	}
	masked.WriteString(text[end:])
	return masked.String()
}
