package trust

import (
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Command returns the line that runs a command of this program on the same configuration, wherever it is typed.
func Command(cfg *config.Config, words ...string) string {
	words = append([]string{"mcp-workbench"}, words...)
	if cfg != nil && cfg.Named {
		words = append(words, "--config", cfg.Path)
	}
	return Quote(words...)
}

// Quote returns words as one command line that a person can paste into a shell. Unprintable characters are escaped, so
// that nothing in it can control a terminal or hide.
func Quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(runtime.GOOS, word)
	}
	return strings.Join(quoted, " ")
}

func quote(goos, word string) string {
	const plain = "@%+=:,./-_"
	isPlain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune(plain, r) || goos == "windows" && r == '\\'
	}
	switch {
	case word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !isPlain(r) }):
		return word
	case !isPrintable(word):
		return "$'" + escape(word) + "'"
	case goos == "windows":
		return `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func isPrintable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// escape formats text for $'…' in bash, zsh and ksh.
func escape(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '\'' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case unicode.IsPrint(r) && (r != utf8.RuneError || size > 1):
			out.WriteRune(r)
		default:
			// Always three digits, so that a following digit is not part of it.
			for _, b := range []byte(text[:size]) {
				fmt.Fprintf(&out, `\%03o`, b)
			}
		}
		text = text[size:]
	}
	return out.String()
}

// display formats a path for a sentence.
func display(path string) string {
	if isPrintable(path) {
		return path
	}
	return Quote(path)
}

// QuoteList quotes names from a file that may be untrusted, separated by commas.
func QuoteList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = Quote(name)
	}
	return strings.Join(quoted, ", ")
}
