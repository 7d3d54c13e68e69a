package config

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// secrets collects the values that must not be shown.
type secrets struct{ values map[string]bool }

// add notes a value. Output is masked line by line, so each line of a longer
// text, such as a private key, counts by itself; and where the value is an
// address, its password may well turn up without the rest.
func (s *secrets) add(value string) {
	for line := range strings.SplitSeq(value, "\n") {
		s.note(strings.TrimSpace(line))
	}
	s.addURL(value)
}

// addHeader notes a header's value and, as in "Bearer abc", what follows the scheme.
func (s *secrets) addHeader(value string) {
	s.add(value)
	if _, credentials, ok := strings.Cut(strings.TrimSpace(value), " "); ok {
		s.add(credentials)
	}
}

// addURL notes user, password and query values of an address, each as it is
// written and as it is decoded, since logs hold either.
func (s *secrets) addURL(address string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return
	}
	_, rest, _ := strings.Cut(address, "//")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	user, password, _ := strings.Cut(rest[:max(0, strings.LastIndex(rest, "@"))], ":")
	for _, part := range []string{user, password} {
		decoded, _ := url.PathUnescape(part)
		s.note(part)
		s.note(decoded)
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		_, part, _ := strings.Cut(pair, "=")
		decoded, _ := url.QueryUnescape(part)
		s.note(part)
		s.note(decoded)
	}
}

// note keeps a value unless it is too short or too plain to be a secret. A
// boolean is too short.
func (s *secrets) note(value string) {
	if utf8.RuneCountInString(value) < 8 || isPath(value) || isNumber(value) {
		return
	}
	if s.values == nil {
		s.values = map[string]bool{}
	}
	s.values[value] = true
}

// list returns the secrets but for configured names, the longest first, so that
// masking one does not leave the tail of a longer one.
func (s *secrets) list(names map[string]bool) []string {
	var list []string
	for value := range s.values {
		if !names[value] {
			list = append(list, value)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return list
}

// isPath reports that a value reads as a file name: it starts like one, or it is
// a relative one of small letters only. Base64 holds slashes too and may even
// start with one, so a value is no path if some part of it looks random, and a
// relative path with capitals or digits is taken for a token. Where in doubt,
// mask: a hidden path is a nuisance, a shown token is a leak.
func isPath(value string) bool {
	slashed := strings.ReplaceAll(value, `\`, "/")
	if strings.Contains(slashed, "://") || !strings.Contains(slashed, "/") {
		return false
	}
	for part := range strings.SplitSeq(slashed, "/") {
		if looksRandom(part) {
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

// looksRandom reports 16 or more characters that go to and fro between small
// letters, capitals and digits. In words with numbers, such as MyProject2024,
// neighbours are mostly of one class; in random text mostly not.
func looksRandom(part string) bool {
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

func isNumber(value string) bool {
	digits := strings.TrimLeft(value, "+-")
	return len(value)-len(digits) <= 1 && strings.Count(digits, ".") <= 1 && strings.Trim(digits, "0123456789.") == ""
}
