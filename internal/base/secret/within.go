package secret

import (
	"regexp"
	"strings"
	"sync"
)

// shortestToken is the minimum length of a token in a form of its issuer.
const shortestToken = 14

// Patterns of credentials inside other text. They are compiled on first use.
var (
	assigned      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([\w.-]+)["']?[ \t]*[=:][ \t]*`) })
	userOfAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://([^\s/?#]*)@`) })
)

// Within reports whether a text contains a credential: the password or token of a URL, a setting with the name of a
// secret, a token in the form of its issuer, or a private key.
func Within(text string) bool { return len(credentials(text)) > 0 }

// MaskWithin masks the credentials in a text and keeps the rest.
func MaskWithin(text string) string { return replace(text, credentials(text)) }

// credentials returns the positions of the credentials in a text, unordered.
func credentials(text string) (found []span) {
	if Looks(text) || strings.Contains(text, "PRIVATE KEY-----") {
		return []span{{0, len(text)}}
	}
	if strings.Contains(text, "://") {
		for _, at := range userOfAddress().FindAllStringSubmatchIndex(text, -1) {
			user, password, _ := strings.Cut(text[at[2]:at[3]], ":")
			switch {
			case password != "" && !isScript(password):
				found = append(found, span{at[3] - len(password), at[3]})
			case Looks(user):
				found = append(found, span{at[2], at[3]})
			}
		}
	}
	if strings.ContainsAny(text, "=:") {
		for _, at := range assigned().FindAllStringSubmatchIndex(text, -1) {
			value := beginningOfValue(text[at[1]:])
			if isNamedInPlural(text[at[2]:at[3]]) && MayBe(value) && !IsNumber(value) && !isScript(value) {
				begin := at[1] + strings.Index(text[at[1]:], value) // after a quote
				found = append(found, span{begin, begin + len(value)})
			}
		}
	}
	begin := -1
	for i, r := range text + " " {
		switch {
		case !isBetweenWords(r) && begin < 0:
			begin = i
		case isBetweenWords(r) && begin >= 0:
			if i-begin >= shortestToken && tokenForm().MatchString(text[begin:i]) {
				found = append(found, span{begin, i})
			}
			begin = -1
		}
	}
	return found
}

// isScript reports whether a shell would run a part of a value. Such a value is not a secret, and masking it would hide
// what it does.
func isScript(value string) bool {
	return strings.Contains(value, "$(") || strings.ContainsAny(value, "`|")
}

// longestValue bounds how much of a setting's value is examined, in bytes; the rest is ignored.
const longestValue = 256

// beginningOfValue returns the value at the beginning of a text, without quotes. Other settings may follow it.
func beginningOfValue(text string) string {
	text = text[:min(len(text), longestValue)]
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		value, _, _ := strings.Cut(text[1:], text[:1])
		return value
	}
	if end := strings.IndexAny(text, " \t\r\n&;,"); end >= 0 {
		text = text[:end]
	}
	return text
}

// isNamedInPlural also accepts plural names, such as "access-tokens".
func isNamedInPlural(name string) bool {
	return IsNamed(name) || IsNamed(strings.TrimSuffix(name, "s"))
}

// isBetweenWords reports whether a character separates words. It keeps paths in one piece, but splits the parts of
// URLs.
func isBetweenWords(r rune) bool { return r <= ' ' || strings.ContainsRune(`=,;&?"'()<>[]{}|@`, r) }
