// Package secret keeps values that must never be shown out of text that came from
// somewhere else: what a server printed, or said in an error.
package secret

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
)

// Mask stands where a secret stood.
const Mask = "[hidden]"

const (
	// cutMark is what stands where text was cut off.
	cutMark = "…"
	// shortestPart is the least beginning of a secret that is hidden where text was cut.
	shortestPart = 4
	// shortestBase64 keeps short values from matching by chance in an encoded form.
	shortestBase64 = 8
	// windowSize is how much of a text is looked at at a time.
	windowSize = 128 << 10
	// maxGrowth is how many characters may stand for one byte of a secret.
	maxGrowth = 12
)

// Masker replaces known secrets in text. A nil Masker knows none.
type Masker struct {
	values  []string
	longest int      // of the values, in bytes
	encoded []string // what Base64 makes of each value, wherever it begins; without the characters that others share
}

// NewMasker makes a masker of the given values. They are found as they are, in text that was
// encoded for a URL or quoted by a programming language, once or several times, and in Base64.
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

// base64Forms returns what stands in Base64 for a value that begins at any byte of the encoded text.
func base64Forms(value string) []string {
	var forms []string
	for before := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + value))
			// The first and the last characters hold bits of the neighbours.
			first := (8*before + 5) / 6
			last := 8 * (before + len(value)) / 6
			if last-first >= shortestBase64 {
				forms = append(forms, text[first:last])
			}
		}
	}
	return forms
}

// span is a part of a text.
type span struct{ begin, end int }

// Mask returns the text with every secret in it replaced.
func (m *Masker) Mask(text string) string {
	if m == nil || text == "" {
		return text
	}
	var found []span
	// In pieces, since reading a text in other ways takes many times its size. They overlap by what a secret
	// may take at most when it is encoded.
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

// find returns where secrets stand in a text, in no order. isLast says that nothing follows it.
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
			// Its neighbours hold the rest of the secret's bits, and often what makes it one, such as a user.
			found = append(found, widen(text, span{begin, begin + len(form)}))
		}
	}
	return found
}

// occurrences returns where a part begins, overlapping ones included.
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

// appendCut adds beginnings of a value that was cut off: before the mark of a cut, and at the end of the
// text if more than half of it is there.
func appendCut(found []span, text, value string, isLast bool) []span {
	for at := range occurrences(text, cutMark) {
		if n := beginning(text[:at], value, shortestPart); n > 0 {
			found = append(found, span{at - n, at})
		}
	}
	if n := beginning(text, value, max(shortestPart, len(value)/2+1)); n > 0 && isLast {
		found = append(found, span{len(text) - n, len(text)})
	}
	return found
}

// beginning returns how much of a value's beginning the text ends with; 0 if that is less than least, or all of it.
func beginning(text, value string, least int) int {
	for n := min(len(value)-1, len(text)); n >= least; n-- {
		if strings.HasSuffix(text, value[:n]) {
			return n
		}
	}
	return 0
}

// widen extends a part over the Base64 around it.
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

// replace puts the mask in the place of each part; parts that overlap are one.
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
