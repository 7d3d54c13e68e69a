package config

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
)

// secrets collects values that must not be shown.
type secrets struct {
	values    map[string]bool
	isCertain bool // all values are secrets, whatever they look like
}

// add records a value. Output is masked line by line, so each line of a longer text, such as a private key, is a secret
// of its own. The password of an address may also appear alone.
func (s *secrets) add(value string) {
	for line := range strings.SplitSeq(value, "\n") {
		s.addValue(strings.TrimSpace(line))
	}
	s.addURL(value)
}

// addHeader records the value of a header and the part after the scheme, as in "Bearer abc".
func (s *secrets) addHeader(value string) {
	s.add(value)
	if _, credentials, ok := strings.Cut(strings.TrimSpace(value), " "); ok {
		s.add(credentials)
	}
}

// addURL records the user, password and query values of an address, each as written and decoded, since logs may contain
// either.
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

// addValue records a value unless it is too short or too common to be a secret. Booleans are too short.
func (s *secrets) addValue(value string) {
	if utf8.RuneCountInString(value) < 8 || !s.isCertain && (secret.IsPath(value) || secret.IsNumber(value)) {
		return
	}
	if s.values == nil {
		s.values = map[string]bool{}
	}
	s.values[value] = true
}

// list returns the secrets except configured names, longest first, so that masking one does not leave the tail of a
// longer one.
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
