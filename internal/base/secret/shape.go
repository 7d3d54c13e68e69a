package secret

import (
	"strings"
	"unicode"
)

// IsPath reports whether a value looks like a file name: it begins like one, or it is a relative path in lower case.
// Base64 also contains slashes and may even begin with one. So a value with a random-looking part is not a path, and a
// relative path with capitals or digits counts as a token. In doubt, mask: a hidden path is a nuisance, a shown token
// is a leak.
func IsPath(value string) bool {
	slashed := strings.ReplaceAll(value, `\`, "/")
	if strings.Contains(slashed, "://") || !strings.Contains(slashed, "/") {
		return false
	}
	for part := range strings.SplitSeq(slashed, "/") {
		if LooksRandom(part) {
			return false
		}
	}
	first, _, _ := strings.Cut(slashed, "/")
	isDrive := len(first) == 2 && first[1] == ':' && unicode.IsLetter(rune(first[0]))
	if isDrive || first == "" || first == "~" || first == "." || first == ".." {
		return true
	}
	return !strings.ContainsFunc(value, func(r rune) bool {
		return !unicode.IsLower(r) && !strings.ContainsRune(`/\._-`, r)
	})
}

// LooksRandom reports whether a text has at least 16 characters that often switch between lower case, upper case and
// digits. In words with numbers, such as MyProject2024, most neighbours are of the same class; in random text they are
// not.
func LooksRandom(part string) bool {
	class := func(c byte) int {
		switch {
		case 'a' <= c && c <= 'z':
			return 1
		case 'A' <= c && c <= 'Z':
			return 2
		case '0' <= c && c <= '9':
			return 3
		}
		return 0
	}
	changes := 0
	for i := range len(part) - 1 {
		if a, b := class(part[i]), class(part[i+1]); a != b && a != 0 && b != 0 {
			changes++
		}
	}
	return len(part) >= 16 && 3*changes >= len(part)
}

// IsNumber reports whether a value is a decimal number, with or without a sign.
func IsNumber(value string) bool {
	digits := strings.TrimLeft(value, "+-")
	return len(value)-len(digits) <= 1 && strings.Count(digits, ".") <= 1 && strings.Trim(digits, "0123456789.") == ""
}
