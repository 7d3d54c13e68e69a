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
func Within(text string) bool { return len(credentials(text)) > 0 }

// MaskWithin hides the credentials in a text, and shows the rest.
func MaskWithin(text string) string { return replace(text, credentials(text)) }

// credentials returns where they stand, in no order.
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
			if isNamedOrSeveral(text[at[2]:at[3]]) && MayBe(value) && !IsNumber(value) && !isScript(value) {
				begin := at[1] + strings.Index(text[at[1]:], value) // behind a quote
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

// isScript reports that a shell would run a part of a value. It is no secret, and hiding it would hide what it does.
func isScript(value string) bool {
	return strings.Contains(value, "$(") || strings.ContainsAny(value, "`|")
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
