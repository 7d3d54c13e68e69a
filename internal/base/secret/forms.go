package secret

import (
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
)

// issuerForm is the form of the tokens of one issuer.
type issuerForm struct {
	kind   string
	begin  string   // a regular expression
	starts []string // what a token begins with, as it is
	body   string   // the characters that follow
	whole  string   // how many of them a whole value has, to be taken for a token
	within string   // the same in other text, where a token stands between other words
	holds  func(token string) bool
}

// issuerForms are the token formats of known issuers.
var issuerForms = []issuerForm{
	{kind: "API key", begin: `sk-`, starts: []string{"sk-"}, body: `[\w-]`, whole: "{16,}", within: "{16,}", holds: hasRandomPart},
	{kind: "Stripe key", begin: `[srp]k_(?:live|test)_`, starts: []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_"}, body: `\w`, whole: "{10,}", within: "{10,}"},
	{kind: "GitHub token", begin: `gh[pousr]_`, starts: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, body: `\w`, whole: "{20,}", within: "{12,}"},
	{kind: "GitHub token", begin: `github_pat_`, starts: []string{"github_pat_"}, body: `\w`, whole: "{20,}", within: "{12,}"},
	{kind: "GitLab token", begin: `glpat-`, starts: []string{"glpat-"}, body: `[\w-]`, whole: "{16,}", within: "{12,}"},
	{kind: "Slack token", begin: `xox[abeoprs]-`, starts: []string{"xox"}, body: `[\w-]`, whole: "{10,}", within: "{10,}"},
	{kind: "Slack token", begin: `xapp-`, starts: []string{"xapp-"}, body: `[\w-]`, whole: "{10,}", within: "{10,}", holds: hasDigit},
	{kind: "AWS access key", begin: `A[KS]IA`, starts: []string{"AKIA", "ASIA"}, body: `[0-9A-Z]`, whole: "{16}", within: `{16}\b`},
	{kind: "Google API key", begin: `AIza`, starts: []string{"AIza"}, body: `[\w-]`, whole: "{30,}", within: "{30,}"},
	{kind: "Google token", begin: `ya29\.`, starts: []string{"ya29."}, body: `[\w-]`, whole: "{20,}", within: "{12,}"},
	{kind: "npm token", begin: `npm_`, starts: []string{"npm_"}, body: `\w`, whole: "{30,}", within: "{16,}", holds: hasRandomPart},
	{kind: "PyPI token", begin: `pypi-`, starts: []string{"pypi-"}, body: `[\w-]`, whole: "{30,}", within: "{30,}", holds: hasRandomPart},
	{kind: "Hugging Face token", begin: `hf_`, starts: []string{"hf_"}, body: `\w`, whole: "{20,}", within: "{16,}", holds: hasRandomPart},
	{kind: "DigitalOcean token", begin: `do[opr]_v1_`, starts: []string{"doo_v1_", "dop_v1_", "dor_v1_"}, body: `\w`, whole: "{30,}", within: "{12,}"},
	{kind: "Shopify token", begin: `shp(?:at|ca|pa|ss)_`, starts: []string{"shp"}, body: `\w`, whole: "{20,}", within: "{12,}"},
	{kind: "SendGrid key", begin: `SG\.[\w-]{16,}\.`, starts: []string{"SG."}, body: `[\w-]`, whole: "{16,}", within: "{16,}"},
	{kind: "Linear key", begin: `lin_api_`, starts: []string{"lin_api_"}, body: `\w`, whole: "{20,}", within: "{20,}"},
	{kind: "Notion token", begin: `(?:ntn|secret)_`, starts: []string{"ntn_", "secret_"}, body: `\w`, whole: "{30,}", within: "{30,}", holds: hasRandomPart},
	{kind: "Figma token", begin: `figd_`, starts: []string{"figd_"}, body: `[\w-]`, whole: "{20,}", within: "{20,}"},
	{kind: "Tavily key", begin: `tvly-`, starts: []string{"tvly-"}, body: `[\w-]`, whole: "{16,}", within: "{16,}"},
	{kind: "Replicate token", begin: `r8_`, starts: []string{"r8_"}, body: `\w`, whole: "{20,}", within: "{20,}", holds: hasRandomPart},
	{kind: "Groq key", begin: `gsk_`, starts: []string{"gsk_"}, body: `\w`, whole: "{20,}", within: "{20,}", holds: hasRandomPart},
	{kind: "Firecrawl key", begin: `fc-`, starts: []string{"fc-"}, body: `[0-9a-f]`, whole: "{20,}", within: "{20,}"},
	{kind: "Supabase token", begin: `sbp_`, starts: []string{"sbp_"}, body: `[0-9a-f]`, whole: "{20,}", within: "{20,}"},
	{kind: "Atlassian token", begin: `ATATT`, starts: []string{"ATATT"}, body: `[\w-]`, whole: "{20,}", within: "{20,}"},
}

// jsonWebToken is the form of a token that many issuers use.
const jsonWebToken = `eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*`

// tokenForm matches a value that is a token of a known issuer. It is compiled on first use: compiling is slow, and most
// commands do not need it.
var tokenForm = sync.OnceValue(func() *regexp.Regexp {
	all := []string{jsonWebToken}
	for _, f := range issuerForms {
		all = append(all, f.begin+f.body+f.whole)
	}
	return regexp.MustCompile(`^(?:` + strings.Join(all, `|`) + `)$`)
})

// form is a form of secrets that is recognised inside other text.
type form struct {
	kind    string // for people
	starts  []string
	fold    bool                    // the starts are in lower case, and the text may have capitals
	pattern func() *regexp.Regexp   // from the start on
	holds   func(match string) bool // may be nil
	// skips: where a start is no secret, no other start in the same word is one. Without it, a text of many starts
	// would be read to the end of the word for each of them.
	skips bool
}

// forms are all forms that MaskForms knows, besides private keys.
var forms = sync.OnceValue(func() []form {
	later := func(pattern string) func() *regexp.Regexp {
		return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + pattern + `)`) })
	}
	all := []form{
		{kind: "authorization", starts: []string{"authorization"}, fold: true, pattern: later(
			`(?i)authorization\\{0,8}["']?\s{0,8}[:=]\s{0,8}\\{0,8}["']?(?:bearer|basic|token)\s{1,8}[\w.~+/=-]{8,}`)},
		{kind: "authorization", starts: []string{"bearer", "basic"}, fold: true, pattern: later(`(?i)(?:bearer|basic)[ \t]{1,8}[\w.~+/=-]{8,}`), holds: isAuthorization},
		{kind: "JSON Web Token", starts: []string{"eyJ"}, pattern: later(jsonWebToken), skips: true},
	}
	for _, f := range issuerForms {
		all = append(all, form{kind: f.kind, starts: f.starts, pattern: later(f.begin + f.body + f.within), holds: f.holds, skips: f.holds != nil && f.body == `[\w-]`})
	}
	return all
})

// looseForms match what may be a secret of a known form. They also match in words that only begin like one.
var looseForms = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|pk_live_|sk_live_|rk_live_|AKIA|ASIA|AIza|ya29\.|npm_|hf_|dop_v1_|shpat_)[A-Za-z0-9_\-]{12,}` +
		`|` + jsonWebToken +
		`|(?i:bearer|basic) +[A-Za-z0-9_\-.~+/=]{8,}` +
		`|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----`)
})

// MaskForms masks the secrets in a text that have a known form: tokens and keys of well-known services, private keys, and
// the credentials of an authorization, also where the text was quoted or URL-encoded. kind names the first one that
// was found, for people; it is "" if there is none, and the text is then unchanged.
func MaskForms(text string) (masked, kind string) {
	// What is masked can end a word, so that the next one is recognised.
	for range maxPasses {
		found := findForms(text)
		if len(found) == 0 {
			break
		}
		if kind == "" {
			kind = found[0].kind
		}
		parts := make([]span, len(found))
		for i, one := range found {
			parts[i] = one.span
		}
		text = replace(text, parts)
	}
	return text, kind
}

// MaskLoosely masks what MaskForms does, and also what only may be a secret. It is for text of which a little too much
// may be lost.
func MaskLoosely(text string) string {
	text, _ = MaskForms(looseForms().ReplaceAllString(text, Mask))
	return text
}

const (
	maxPasses = 4 // searches of one text; what only a further one would find is not masked
	// formOverlap is how much the pieces of a long text overlap that are searched for encoded secrets; a longer one
	// is found only if it is in one piece.
	formOverlap = 16 << 10
)

type foundForm struct {
	span
	kind string
}

// findForms returns the secrets of known forms in a text, unordered.
func findForms(text string) (found []foundForm) {
	found = appendForms(nil, view{text: text}, 0)
	if !mayBeEncoded(text) {
		return found
	}
	for begin := 0; ; begin += windowSize - formOverlap {
		end := min(begin+windowSize, len(text))
		for _, decoded := range views(text[begin:end])[1:] {
			found = appendForms(found, decoded, begin)
		}
		if end == len(text) {
			return found
		}
	}
}

// mayBeEncoded reports whether letters, digits or slashes of a text may be encoded.
func mayBeEncoded(text string) bool {
	for rest := text; ; rest = rest[1:] {
		at := strings.IndexByte(rest, '%')
		if at < 0 {
			break
		}
		rest = rest[at:]
		if _, ok := parseDigits(rest, "%", 2, 16); ok {
			return true
		}
	}
	for rest := text; ; rest = rest[2:] {
		at := strings.IndexByte(rest, '\\')
		if at < 0 || at+1 >= len(rest) {
			return false
		}
		rest = rest[at:]
		if strings.IndexByte(`uUx01/\`, rest[1]) >= 0 {
			return true
		}
	}
}

func appendForms(found []foundForm, v view, offset int) []foundForm {
	add := func(at span, kind string) {
		part := v.original(at)
		found = append(found, foundForm{span{offset + part.begin, offset + part.end}, kind})
	}
	for _, key := range privateKeys(v.text) {
		add(key, "private key")
	}
	for _, f := range forms() {
		for _, start := range f.starts {
			for at := f.next(v.text, start, 0); at >= 0; at = f.next(v.text, start, at) {
				if isWord(start[0]) && isInWord(v.text[:at]) {
					at++
					continue
				}
				length := f.match(v.text[at:])
				switch {
				case length > 0:
					add(span{at, at + length}, f.kind)
				case f.skips:
					length = wordLength(v.text[at:])
				}
				at += max(length, 1)
			}
		}
	}
	return found
}

// next returns where a start is next in a text, from a position on; -1 if nowhere.
func (f *form) next(text, start string, from int) int {
	index := strings.Index
	if f.fold {
		index = indexFold
	}
	at := index(text[from:], start)
	if at < 0 {
		return -1
	}
	return from + at
}

// match returns the length of the secret at the beginning of a text; 0 if there is none.
func (f *form) match(text string) int {
	at := f.pattern().FindStringIndex(text)
	if at == nil || f.holds != nil && !f.holds(text[:at[1]]) {
		return 0
	}
	return at[1]
}

// indexFold is strings.Index for a part in lower case and ASCII, and a text in any case. It looks for the part's letter
// that is rarest in texts first.
func indexFold(text, part string) int {
	rare := max(strings.IndexByte(part, 'z'), 0)
	for from := rare; from < len(text); from++ {
		at := indexLetter(text[from:], part[rare])
		if at < 0 {
			return -1
		}
		from += at
		if begin := from - rare; begin+len(part) <= len(text) && strings.EqualFold(text[begin:begin+len(part)], part) {
			return begin
		}
	}
	return -1
}

// letterStep is how far indexLetter looks for one case of a letter before it looks for the other, so that a text with
// only one of them is not read to its end again and again.
const letterStep = 256

func indexLetter(text string, lower byte) int {
	for begin := 0; begin < len(text); begin += letterStep {
		part := text[begin:min(begin+letterStep, len(text))]
		at := strings.IndexByte(part, lower)
		if at >= 0 {
			part = part[:at]
		}
		if capital := strings.IndexByte(part, lower-'a'+'A'); capital >= 0 {
			at = capital
		}
		if at >= 0 {
			return begin + at
		}
	}
	return -1
}

// wordLength returns the length of the word at the beginning of a text, with hyphens.
func wordLength(text string) int {
	for i := range len(text) {
		if !isWord(text[i]) && text[i] != '-' {
			return i
		}
	}
	return len(text)
}

// isInWord reports whether a word goes on at the end of a text. The last letter of an escape such as \n, in JSON that is
// quoted for example, and of one that colours a terminal's text, is not part of a word.
func isInWord(before string) bool {
	last := len(before) - 1
	if last < 0 || !isWord(before[last]) {
		return false
	}
	if last > 0 && before[last-1] == '\\' {
		return strings.IndexByte("abefnrtv0", before[last]) < 0
	}
	if before[last] != 'm' && before[last] != 'K' {
		return true
	}
	numbers := last
	for numbers > 0 && last-numbers < maxColours && strings.IndexByte("0123456789;:", before[numbers-1]) >= 0 {
		numbers--
	}
	return numbers == 0 || before[numbers-1] != '['
}

// maxColours bounds the numbers that colour a terminal's text, in bytes; a longer text is not taken for them.
const maxColours = 32

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

func hasDigit(text string) bool { return strings.ContainsAny(text, "0123456789") }

// shortestRandom is the length of the longest part without separators that a token has; names have shorter ones.
const shortestRandom = 12

// hasRandomPart reports whether a part of a token is longer than a word, and has digits, or letters of both cases.
func hasRandomPart(token string) bool {
	for _, part := range strings.FieldsFunc(token, func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
		if len(part) >= shortestRandom && (hasDigit(part) || strings.ToLower(part) != part && strings.ToUpper(part) != part) {
			return true
		}
	}
	return false
}

// isAuthorization tells credentials after "Bearer" or "Basic" from words of a sentence.
func isAuthorization(match string) bool {
	scheme, credentials, _ := strings.Cut(strings.ReplaceAll(match, "\t", " "), " ")
	credentials = strings.TrimLeft(credentials, " ")
	if !strings.EqualFold(scheme, "basic") {
		return len(credentials) >= shortestRandom && hasDigit(credentials)
	}
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(credentials, "=."))
	return err == nil && strings.Contains(string(decoded), ":")
}
