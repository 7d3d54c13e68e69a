package secret

import (
	"regexp"
	"strings"
	"sync"
)

// shortestToken is the least length of a token that has the form of its issuer.
const shortestToken = 14

// The forms in which other text carries a credential. They are made when they are needed.
var (
	assigned      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([\w.-]+)["']?[ \t]*[=:][ \t]*`) })
	userOfAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://([^\s/?#]*)@`) })
)

// Within reports that a text holds a credential among other things: the password or the token of an address, a setting that is
// called like a secret, a token in the form of its issuer, or a private key.
func Within(text string) bool {
	if Looks(text) || strings.Contains(text, "PRIVATE KEY-----") {
		return true
	}
	if strings.Contains(text, "://") {
		for _, found := range userOfAddress().FindAllStringSubmatch(text, -1) {
			user, password, _ := strings.Cut(found[1], ":")
			if password != "" || Looks(user) {
				return true
			}
		}
	}
	if strings.ContainsAny(text, "=:") {
		for _, at := range assigned().FindAllStringSubmatchIndex(text, -1) {
			value := beginningOfValue(text[at[1]:])
			if isNamedOrSeveral(text[at[2]:at[3]]) && MayBe(value) && !IsNumber(value) {
				return true
			}
		}
	}
	for word := range strings.FieldsFuncSeq(text, isBetweenWords) {
		if len(word) >= shortestToken && tokenForm().MatchString(word) {
			return true
		}
	}
	return false
}

// longestValue is how much of a setting's value is looked at.
const longestValue = 256

// beginningOfValue returns the value that a text begins with, without quotes. Settings may follow.
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

// isNamedOrSeveral also knows settings for several secrets, such as "access-tokens".
func isNamedOrSeveral(name string) bool {
	return IsNamed(name) || IsNamed(strings.TrimSuffix(name, "s"))
}

// isBetweenWords keeps what is a part of a path together, but for that of an address.
func isBetweenWords(r rune) bool { return r <= ' ' || strings.ContainsRune(`=,;&?"'()<>[]{}|@`, r) }
