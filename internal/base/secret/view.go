package secret

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of decoding a text.
const (
	maxDecoded = 3  // times that it may have been encoded
	maxViews   = 16 // ways to read it
)

// view is a text as it reads when it is decoded, with where each of its bytes came from.
type view struct {
	text   string
	origin []int // of each byte, and of the end; nil: the text is the original
	depth  int   // how often it was decoded
}

// original returns the part of the original text that a part of the view was made of.
func (v view) original(part span) span {
	if v.origin == nil {
		return part
	}
	return span{v.origin[part.begin], v.origin[part.end]}
}

// views returns the text, and what it is when it is decoded, in any order of decodings.
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

// decoded applies a decoder, which returns what the beginning of a text stands for and its length; 0 if
// it stands for itself.
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

// unescapePercent decodes as in the path of a URL, in capitals or not.
func unescapePercent(text string) (string, int) {
	if c, ok := number(text, "%", 2, 16); ok {
		return string([]byte{byte(c)}), 3
	}
	return "", 0
}

// unescapeForm decodes as in the query of a URL.
func unescapeForm(text string) (string, int) {
	if text[0] == '+' {
		return " ", 1
	}
	return unescapePercent(text)
}

// unescapeRune decodes what stands behind a backslash in JSON, JavaScript, Python, PHP and the like; \xE9 is a
// character.
func unescapeRune(text string) (string, int) {
	if c, ok := number(text, `\x`, 2, 16); ok {
		return string(rune(c)), 4
	}
	return unescape(text)
}

// unescapeByte does the same; \xE9 is a byte of UTF-8.
func unescapeByte(text string) (string, int) {
	if c, ok := number(text, `\x`, 2, 16); ok {
		return string([]byte{byte(c)}), 4
	}
	return unescape(text)
}

func unescape(text string) (string, int) {
	if len(text) < 2 || text[0] != '\\' {
		return "", 0
	}
	if c, ok := number(text, `\u`, 4, 16); ok {
		if low, isPair := number(text[6:], `\u`, 4, 16); isPair && utf16.IsSurrogate(rune(c)) {
			if r := utf16.DecodeRune(rune(c), rune(low)); r != utf8.RuneError {
				return string(r), 12
			}
		}
		return string(rune(c)), 6
	}
	if c, ok := number(text, `\U`, 8, 16); ok {
		return string(rune(c)), 10
	}
	if digits, ok := strings.CutPrefix(text, `\u{`); ok {
		if end := strings.IndexByte(digits, '}'); end > 0 && end <= 8 {
			if c, err := strconv.ParseUint(digits[:end], 16, 32); err == nil {
				return string(rune(c)), len(`\u{`) + end + 1
			}
		}
	}
	if c, ok := number(text, `\`, 3, 8); ok {
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

// number reads so many digits of a base behind a prefix.
func number(text, prefix string, digits, base int) (uint64, bool) {
	text, ok := strings.CutPrefix(text, prefix)
	if !ok || len(text) < digits || text[0] == '+' || text[0] == '-' || text[0] == '_' {
		return 0, false
	}
	value, err := strconv.ParseUint(text[:digits], base, 32)
	return value, err == nil
}
