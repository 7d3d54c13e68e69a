package config

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
)

// secrets collects the values that must not be shown.
type secrets struct{ values map[string]bool }

// add notes a value. Output is masked line by line, so each line of a longer
// text, such as a private key, counts by itself; and where the value is an
// address, its password may well turn up without the rest.
func (s *secrets) add(value string) {
	for line := range strings.SplitSeq(value, "\n") {
		s.addValue(strings.TrimSpace(line))
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
		s.addValue(part)
		s.addValue(decoded)
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		_, part, _ := strings.Cut(pair, "=")
		decoded, _ := url.QueryUnescape(part)
		s.addValue(part)
		s.addValue(decoded)
	}
}

// addValue keeps a value unless it is too short or too plain to be a secret. A
// boolean is too short.
func (s *secrets) addValue(value string) {
	if utf8.RuneCountInString(value) < 8 || secret.IsPath(value) || secret.IsNumber(value) {
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
