// Package tokencost estimates how many tokens of a model's context tool definitions cost, and what the workbench saves.
package tokencost

import "unicode/utf8"

// Estimate estimates the number of tokens of a text. Real tokenizers are tables of megabytes, and each model has its
// own. The rule: a word is one token per 10 letters or part of them, a number one per 3 digits, punctuation one per 4
// characters in a row, other scripts one per 3 bytes; a single space is free, longer whitespace costs a token.
// docs/discovery.md gives the measured error.
func Estimate(text string) (tokens int) {
	for i := 0; i < len(text); {
		class := classOf(text[i])
		end := i + 1
		for end < len(text) && classOf(text[end]) == class {
			end++
		}
		if class != blank || end-i > 1 || text[i] != ' ' {
			tokens += (end - i + class.perToken - 1) / class.perToken
		}
		i = end
	}
	return tokens
}

// charClass is a kind of character. Consecutive characters of one class are counted together.
type charClass struct{ perToken int }

var (
	letters = &charClass{10}
	digits  = &charClass{3}
	signs   = &charClass{4}
	foreign = &charClass{3}
	blank   = &charClass{1 << 20}
)

func classOf(c byte) *charClass {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return letters
	case '0' <= c && c <= '9':
		return digits
	case c == ' ', c == '\n', c == '\t', c == '\r':
		return blank
	case c >= utf8.RuneSelf:
		return foreign
	}
	return signs
}
