package oauth

import (
	"net/http"
	"slices"
	"strings"
)

// Limits of what a challenge may hold.
const (
	maxChallenges    = 16       // challenges of a response that are read; further ones are ignored
	maxChallengeSize = 16 << 10 // bytes of all WWW-Authenticate headers that are read; the rest is ignored
	maxScopes        = 200      // scopes that are requested, and that are kept of a list
	maxScope         = 1 << 10  // bytes of a scope; a longer one is ignored
)

// The schemes that ask for a token of OAuth, in lower case.
const (
	schemeBearer = "bearer"
	schemeDPoP   = "dpop"
)

// challenge is what a server says in WWW-Authenticate about the credentials it wants. All of it is foreign text.
type challenge struct {
	scheme           string // in lower case
	realm            string
	resourceMetadata string
	scope            string
	code             string // the parameter error
	description      string // the parameter error_description
	algorithms       string // the parameter algs, of DPoP
}

// isToken reports whether the challenge asks for a token of OAuth.
func (c *challenge) isToken() bool { return c.scheme == schemeBearer || c.scheme == schemeDPoP }

// tokenChallenge returns the challenge that says most about how to get a token; ok is false if none asks for one.
func tokenChallenge(all []challenge) (best challenge, ok bool) {
	for _, c := range all {
		if c.isToken() && (!ok || best.resourceMetadata == "" && c.resourceMetadata != "") {
			best, ok = c, true
		}
	}
	return best, ok
}

// scopes returns the scopes that the challenge names.
func (c *challenge) scopes() []string { return scopeList(strings.Fields(c.scope)) }

// scopeList returns the scopes of a list that can be requested (RFC 6749, section 3.3), each once.
func scopeList(list []string) []string {
	var scopes []string
	for _, scope := range list {
		if isScope(scope) && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
		if len(scopes) > maxScopes {
			break // the caller sees that there are too many, and a long list costs no more time
		}
	}
	return scopes
}

func isScope(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c == '"' || c == '\\' || c > '~' {
			return false
		}
	}
	return text != "" && len(text) <= maxScope
}

// parseChallenges returns the challenges of a response (RFC 9110, section 11.6.1): several may be in one header, and in
// several headers. Servers get the grammar wrong, and what they mean is clear all the same: parameters without a comma
// between them, without a value, or with a URL that is not quoted. What cannot be understood is skipped up to the next
// comma.
func parseChallenges(header http.Header) []challenge {
	var all []challenge
	left := maxChallengeSize
	for _, value := range header.Values("Www-Authenticate") {
		value = value[:min(len(value), left)]
		left -= len(value)
		p := challengeParser{text: value, first: len(all), all: all}
		p.parse()
		all = p.all
	}
	return all
}

// challengeParser reads one header.
type challengeParser struct {
	text  string
	first int // of this header in all: a parameter before it belongs to no challenge
	all   []challenge
}

func (p *challengeParser) parse() {
	for {
		p.text = strings.TrimLeft(p.text, " \t,")
		if p.text == "" {
			return
		}
		name := p.token()
		switch rest := strings.TrimLeft(p.text, " \t"); {
		case name != "" && strings.HasPrefix(rest, "="):
			p.text = rest[1:]
			p.parameter(name)
		case name != "" && (p.text == "" || strings.ContainsRune(" \t,", rune(p.text[0]))):
			if len(p.all) == maxChallenges {
				return
			}
			p.all = append(p.all, challenge{scheme: strings.ToLower(name)})
			p.skipToken68()
		default:
			p.skipElement()
		}
	}
}

// parameter reads the value of a parameter, and sets it if it is known. The first of several counts.
func (p *challengeParser) parameter(name string) {
	value := p.value()
	if len(p.all) == p.first {
		return
	}
	c := &p.all[len(p.all)-1]
	field := map[string]*string{
		"realm": &c.realm, "resource_metadata": &c.resourceMetadata, "scope": &c.scope,
		"error": &c.code, "error_description": &c.description, "algs": &c.algorithms,
	}[strings.ToLower(name)]
	if field != nil && *field == "" {
		*field = value
	}
}

// value reads a quoted string, or all up to a comma or a blank.
func (p *challengeParser) value() string {
	p.text = strings.TrimLeft(p.text, " \t")
	if !strings.HasPrefix(p.text, `"`) {
		end := strings.IndexAny(p.text, " \t,")
		if end < 0 {
			end = len(p.text)
		}
		value := p.text[:end]
		p.text = p.text[end:]
		return value
	}
	var value strings.Builder
	for i := 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			p.text = p.text[i+1:]
			return value.String()
		case c == '\\' && i+1 < len(p.text):
			i++
			value.WriteByte(p.text[i])
		default:
			value.WriteByte(c)
		}
	}
	p.text = ""
	return value.String()
}

// token reads the longest token, which may be empty.
func (p *challengeParser) token() string {
	end := 0
	for end < len(p.text) && isTokenByte(p.text[end]) {
		end++
	}
	token := p.text[:end]
	p.text = p.text[end:]
	return token
}

// skipToken68 skips the credentials of a scheme that has no parameters, such as Negotiate. They fill the element of the
// list, which tells them from a parameter; a parameter without a value looks the same, and says as little.
func (p *challengeParser) skipToken68() {
	rest := strings.TrimLeft(p.text, " \t")
	end := 0
	for end < len(rest) && (isTokenByte(rest[end]) || rest[end] == '/') {
		end++
	}
	after := strings.TrimLeft(strings.TrimLeft(rest[end:], "="), " \t")
	if end > 0 && (after == "" || after[0] == ',') {
		p.text = after
	}
}

// skipElement skips up to the next comma that is not quoted.
func (p *challengeParser) skipElement() {
	quoted := false
	for i := 0; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			p.text = p.text[i:]
			return
		}
	}
	p.text = ""
}

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
