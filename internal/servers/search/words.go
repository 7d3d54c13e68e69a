package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWord is the longest word in bytes: longer ones are keys, hashes and encoded data.
const maxWord = 40

// word is one word of a text, in lower case.
type word struct {
	text     string
	at, end  int  // where it stands in the text
	compound bool // is made of the parts before it: github after git and hub
	part     bool // belongs to a compound
}

// appendWords splits a text at everything but letters and digits, and where the case changes: getHTMLPage is get,
// html, page and gethtmlpage. Scripts without spaces are split into pairs of characters.
func appendWords(list []word, text string) []word {
	start := -1
	for i, r := range text {
		inside := isInWord(r)
		if inside && start < 0 {
			start = i
		}
		if !inside && start >= 0 {
			list = appendRun(list, text, start, i)
			start = -1
		}
	}
	if start >= 0 {
		list = appendRun(list, text, start, len(text))
	}
	return list
}

func isInWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// appendRun appends the words of a run of letters and digits.
func appendRun(list []word, text string, start, end int) []word {
	first := len(list)
	from := start
	var before rune
	for i, r := range text[start:end] {
		i += start
		switch {
		case isDense(r):
			if i > from && !isDense(before) {
				list = appendWord(list, text, from, i)
			}
			size := utf8.RuneLen(r)
			if next, nextSize := utf8.DecodeRuneInString(text[i+size : end]); isDense(next) {
				list = appendWord(list, text, i, i+size+nextSize)
			} else if !isDense(before) {
				list = appendWord(list, text, i, i+size)
			}
			from = i + size
		case i > from && isHump(text[i:end], before, r):
			list = appendWord(list, text, from, i)
			from = i
		}
		before = r
	}
	if from < end {
		list = appendWord(list, text, from, end)
	}
	if len(list) > first+1 && !isDense(before) {
		for i := first; i < len(list); i++ {
			list[i].part = true
		}
		list = appendWord(list, text, start, end)
		list[len(list)-1].compound = true
	}
	return list
}

func appendWord(list []word, text string, start, end int) []word {
	if end-start > maxWord {
		return append(list, word{at: start, end: end})
	}
	return append(list, word{text: strings.ToLower(text[start:end]), at: start, end: end})
}

// isHump reports whether a part of a compound begins with r, as in readFile and HTMLPage.
func isHump(rest string, before, r rune) bool {
	if !unicode.IsUpper(r) {
		return false
	}
	if unicode.IsLower(before) {
		return true
	}
	next, _ := utf8.DecodeRuneInString(rest[utf8.RuneLen(r):])
	return unicode.IsUpper(before) && unicode.IsLower(next)
}

// isDense reports whether a script is written without spaces between words.
func isDense(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}
