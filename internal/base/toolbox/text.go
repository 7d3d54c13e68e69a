package toolbox

import (
	"fmt"
	"unicode/utf8"
)

// Count formats a number with its noun: "1 server", "2 servers".
func Count(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// Clip returns the longest prefix of a text, in whole characters, of at most size bytes.
func Clip(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}
