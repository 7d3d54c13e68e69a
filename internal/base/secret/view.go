package secret

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of decoding a text; beyond them, further encodings are not searched.
const (
	maxDecoded = 3  // nested encodings of a text that are decoded
	maxViews   = 16 // decoded forms of one text that are searched
)

// view is a decoded form of a text, with the origin of each of its bytes.
type view struct {
	text   string
	origin []int // offset in the original of each byte, and of the end; nil if the text is the original
	depth  int   // how many times it was decoded
}

// original returns the part of the original text that a part of the view was decoded from.
func (v view) original(part span) span {
	if v.origin == nil {
		return part
	}
	return span{v.origin[part.begin], v.origin[part.end]}
}

// views returns the text and its decoded forms, with decoders applied in any order.
func views(text string) []view {
	all := []view{{text: text}}
	if !strings.ContainsAny(text, `\%+`) {
		return all
	}
	known := map[string]bool{text: true}
	for i := 0; i < len(all) && len(all) < maxViews; i++ {
		if all[i].depth == maxDecoded {
			continue
		}
		for _, decode := range []func(string) (string, int){unescapeRune, unescapeByte, unescapePercent, unescapeForm} {
			next := all[i].decoded(decode)
			if !known[next.text] && len(all) < maxViews {
				known[next.text] = true
				all = append(all, next)
			}
		}
	}
	return all
}

// decoded applies a decoder at each position. A decoder returns the decoded form of the beginning of a text and its
// encoded length, or 0 if nothing is encoded there.
func (v view) decoded(decode func(string) (string, int)) view {
	var text strings.Builder
	text.Grow(len(v.text))
	origin := make([]int, 0, len(v.text)+1)
	for at := 0; at < len(v.text); {
		plain, length := v.text[at:at+1], 1
		if c := v.text[at]; c == '\\' || c == '%' || c == '+' {
			if stands, n := decode(v.text[at:]); n > 0 {
				plain, length = stands, n
			}
		}
		begin := v.original(span{at, at}).begin
		for range len(plain) {
			origin = append(origin, begin)
		}
		text.WriteString(plain)
		at += length
	}
	return view{text: text.String(), origin: append(origin, v.original(span{len(v.text), len(v.text)}).begin), depth: v.depth + 1}
}

// unescapePercent decodes URL path encoding, in upper or lower case.
func unescapePercent(text string) (string, int) {
	if c, ok := parseDigits(text, "%", 2, 16); ok {
		return string([]byte{byte(c)}), 3
	}
	return "", 0
}

// unescapeForm decodes URL query encoding.
func unescapeForm(text string) (string, int) {
	if text[0] == '+' {
		return " ", 1
	}
	return unescapePercent(text)
}

// unescapeRune decodes backslash escapes of JSON, JavaScript, Python, PHP and similar languages; \xE9 is a character.
func unescapeRune(text string) (string, int) {
	if c, ok := parseDigits(text, `\x`, 2, 16); ok {
		return string(rune(c)), 4
	}
	return unescape(text)
}

// unescapeByte does the same, but \xE9 is a byte of UTF-8.
func unescapeByte(text string) (string, int) {
	if c, ok := parseDigits(text, `\x`, 2, 16); ok {
		return string([]byte{byte(c)}), 4
	}
	return unescape(text)
}

func unescape(text string) (string, int) {
	if len(text) < 2 || text[0] != '\\' {
		return "", 0
	}
	if c, ok := parseDigits(text, `\u`, 4, 16); ok {
		if low, isPair := parseDigits(text[6:], `\u`, 4, 16); isPair && utf16.IsSurrogate(rune(c)) {
			if r := utf16.DecodeRune(rune(c), rune(low)); r != utf8.RuneError {
				return string(r), 12
			}
		}
		return string(rune(c)), 6
	}
	if c, ok := parseDigits(text, `\U`, 8, 16); ok {
		return string(rune(c)), 10
	}
	if digits, ok := strings.CutPrefix(text, `\u{`); ok {
		if end := strings.IndexByte(digits, '}'); end > 0 && end <= 8 {
			if c, err := strconv.ParseUint(digits[:end], 16, 32); err == nil {
				return string(rune(c)), len(`\u{`) + end + 1
			}
		}
	}
	if c, ok := parseDigits(text, `\`, 3, 8); ok {
		return string([]byte{byte(c)}), 4
	}
	if at := strings.IndexByte("abfnrtve0", text[1]); at >= 0 {
		return "\a\b\f\n\r\t\v\x1b\x00"[at : at+1], 2
	}
	if strings.IndexByte("\\/'\"`$ ?#&=:;,.<>()[]{}|!@%*+-^~", text[1]) >= 0 {
		return text[1:2], 2
	}
	return "", 0
}

// parseDigits reads a fixed number of digits after a prefix.
func parseDigits(text, prefix string, digits, base int) (uint64, bool) {
	text, ok := strings.CutPrefix(text, prefix)
	if !ok || len(text) < digits || text[0] == '+' || text[0] == '-' || text[0] == '_' {
		return 0, false
	}
	value, err := strconv.ParseUint(text[:digits], base, 32)
	return value, err == nil
}
