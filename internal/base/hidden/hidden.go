// Package hidden finds and removes text that people cannot see. A model reads such text all the same: it can smuggle
// instructions past the person who approves a server, or control a terminal.
//
// Removed is everything without an honest use in prose: control characters except tab and line ends, terminal
// sequences, direction marks and bidi controls, zero-width spaces and joiners, fillers, Unicode tags, private use and
// noncharacters. Characters that writing needs are kept where they stand alone and have a meaning: a joiner within an
// emoji or a word of a script that joins letters, a variation selector after a character that has variants, a soft
// hyphen between letters.
package hidden

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// terminalSequence matches control sequences, strings for the terminal up to their end, and other escapes.
var terminalSequence = regexp.MustCompile(
	`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]` +
		`|(?:\x1b[\]PX^_]|[\x{9d}\x{90}\x{98}\x{9e}\x{9f}])[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})?` +
		`|\x1b[ -/]*[0-~]`)

// terminalIntroducers are the first characters of terminal sequences. Searching for them first is much faster than the
// expression.
const terminalIntroducers = "\x1b\u0090\u0098\u009b\u009d\u009e\u009f"

// Clean returns a text without its hidden parts.
func Clean(text string) string {
	if !Has(text) {
		return text
	}
	return Strip(WithoutSequences(text))
}

// Strip returns a text without its hidden characters. The content of terminal sequences is kept, so that people see it.
func Strip(text string) string {
	if !Has(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "\ufffd") // so that removing characters cannot create new ones
	var clean strings.Builder
	clean.Grow(len(text))
	each(text, plain[string], func(_ rune, from, to int, isHidden bool) bool {
		if !isHidden {
			clean.WriteString(text[from:to])
		}
		return true
	})
	return clean.String()
}

// WithoutSequences returns a text without terminal sequences. Other control characters are kept.
func WithoutSequences(text string) string {
	if !strings.ContainsAny(text, terminalIntroducers) {
		return text
	}
	return terminalSequence.ReplaceAllString(text, "")
}

// Has reports whether a text contains anything hidden.
func Has(text string) bool { return mayHide(text) && has(text, plain[string]) }

// InJSON reports whether strings of a JSON text contain anything hidden, raw or escaped. It reads the bytes and does
// not allocate.
func InJSON(raw []byte) bool { return jsonMayHide(raw) && has(raw, escaped) }

func has[T text](s T, decode decoder[T]) (found bool) {
	each(s, decode, func(_ rune, _, _ int, isHidden bool) bool {
		found = isHidden
		return !found
	})
	return found
}

// maxShown bounds the text that Show returns, in bytes; the rest is cut off.
const maxShown = 120

// Show returns a text on one line for people to read: hidden characters are written like U+200B, and a long text is
// cut.
func Show(text string) string {
	var shown strings.Builder
	each(text, plain[string], func(r rune, from, to int, isHidden bool) bool {
		switch {
		case shown.Len() >= maxShown:
			shown.WriteString("…")
			return false
		case isHidden, r == '\n', r == '\r', r == '\t':
			fmt.Fprintf(&shown, "<U+%04X>", r)
		default:
			shown.WriteString(text[from:to])
		}
		return true
	})
	return shown.String()
}

// Draw returns a text with everything drawn, as ⟨U+200B⟩, that people do not see or take for a plain space: hidden
// characters, spaces other than the plain one, tabs and line ends. The bracket itself is drawn, too, so that no text can
// look like a drawn character. Nothing is cut.
func Draw(text string) string {
	if !needsDrawing(text) {
		return text
	}
	var drawn strings.Builder
	each(text, plain[string], func(r rune, from, to int, isHidden bool) bool {
		switch {
		case r == utf8.RuneError && to-from == 1:
			fmt.Fprintf(&drawn, "⟨0x%02X⟩", text[from])
		case isHidden || isDrawn(r):
			fmt.Fprintf(&drawn, "⟨U+%04X⟩", r)
		default:
			drawn.WriteString(text[from:to])
		}
		return true
	})
	return drawn.String()
}

// needsDrawing reports whether Draw changes a text.
func needsDrawing(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsFunc(text, isDrawn) || Has(text)
}

// isDrawn reports whether Draw replaces a character although it is not hidden.
func isDrawn(r rune) bool {
	switch r {
	case ' ':
		return false
	case '\n', '\r', '\t', '⟨', '⟩', '\u2028', '\u2029':
		return true
	}
	return r > 0x7f && unicode.IsSpace(r)
}

// AppendEscaped appends a JSON text with its hidden characters escaped, so that people see them. Its meaning is
// unchanged.
func AppendEscaped(dst, raw []byte) []byte {
	if !jsonMayHide(raw) {
		return append(dst, raw...)
	}
	each(raw, escaped, func(r rune, from, to int, isHidden bool) bool {
		if !isHidden || raw[from] == '\\' || r < ' ' {
			dst = append(dst, raw[from:to]...)
		} else {
			dst = appendEscape(dst, r)
		}
		return true
	})
	return dst
}

func appendEscape(dst []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}

type text interface{ string | []byte }

// decoder reads the character at an offset; size is 0 at the end.
type decoder[T text] func(s T, at int) (r rune, size int)

// each calls visit for every character of a text until visit returns false.
func each[T text](s T, decode decoder[T], visit func(r rune, from, to int, isHidden bool) bool) {
	var j judge
	isCounted := false
	r, size := decode(s, 0)
	for at := 0; size > 0; {
		if isIdeographicSelector(r) && !isCounted {
			j.tooManyVariants, isCounted = countSelectors(s, decode, at) > maxIdeographs, true
		}
		next, nextSize := decode(s, at+size)
		if nextSize == 0 {
			next = end
		}
		if !visit(r, at, at+size, j.hides(r, next)) {
			return
		}
		at += size
		r, size = next, nextSize
	}
}

// countSelectors counts the ideographic variants from an offset on, up to one more than are allowed.
func countSelectors[T text](s T, decode decoder[T], at int) (n int) {
	for n <= maxIdeographs {
		r, size := decode(s, at)
		if size == 0 {
			break
		}
		if isIdeographicSelector(r) {
			n++
		}
		at += size
	}
	return n
}

// plain reads a character of plain text. A byte that is not valid UTF-8 counts as a visible character.
func plain[T text](s T, at int) (rune, int) {
	if at >= len(s) {
		return end, 0
	}
	if c := s[at]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return decodeRune(s, at)
}

func decodeRune[T text](s T, at int) (rune, int) {
	var buffer [utf8.UTFMax]byte
	return utf8.DecodeRune(buffer[:copy(buffer[:], s[at:])])
}

// escaped reads a character of JSON and decodes string escapes.
func escaped(raw []byte, at int) (rune, int) {
	if at+1 >= len(raw) || raw[at] != '\\' {
		return plain(raw, at)
	}
	switch raw[at+1] {
	case 'u':
		r, ok := hex(raw, at+2)
		if !ok {
			break
		}
		if 0xd800 <= r && r < 0xdc00 && at+7 < len(raw) && raw[at+6] == '\\' && raw[at+7] == 'u' {
			if low, ok := hex(raw, at+8); ok && 0xdc00 <= low && low < 0xe000 {
				return 0x10000 + (r-0xd800)<<10 + low - 0xdc00, 12
			}
		}
		return r, 6
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	}
	return '\\', 2 // the escaped character is visible and not a letter
}

func hex(raw []byte, at int) (r rune, ok bool) {
	if at+4 > len(raw) {
		return 0, false
	}
	for _, c := range raw[at : at+4] {
		r <<= 4
		switch {
		case '0' <= c && c <= '9':
			r |= rune(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r |= rune(c|0x20-'a') + 10
		default:
			return 0, false
		}
	}
	return r, true
}

// Line returns a text of others as one visible line of at most so many characters.
func Line(text string, most int) string {
	text = strings.ToValidUTF8(text[:min(len(text), 4*most)], "")
	text = strings.Join(strings.Fields(Clean(text)), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
