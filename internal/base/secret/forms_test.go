package secret

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx0123456789abcdef\nghijklmnopqrstuvwxyz+/==\n-----END RSA PRIVATE KEY-----"

func TestMaskForms(t *testing.T) {
	for _, test := range []struct{ name, text, want, kind string }{
		{"GitHub", "use ghp_0123456789abcdefghij now", "use [hidden] now", "GitHub token"},
		{"GitHub, fine-grained", "github_pat_0123456789abcdefghij", "[hidden]", "GitHub token"},
		{"GitLab", "glpat-0123456789abcdefghij.", "[hidden].", "GitLab token"},
		{"Slack", `{"t":"xoxb-1234567890-abcdefghij"}`, `{"t":"[hidden]"}`, "Slack token"},
		{"AWS", "AKIAIOSFODNN7EXAMPLE,us", "[hidden],us", "AWS access key"},
		{"Google", "key=AIzaSyA0123456789abcdefghijklmnopqrstuv", "key=[hidden]", "Google API key"},
		{"OpenAI", "sk-proj-0123456789abcdefghij", "[hidden]", "API key"},
		{"Stripe", "sk_live_0123456789abcdef", "[hidden]", "Stripe key"},
		{"Hugging Face", "hf_AbCdEfGhIjKlMnOpQrStUvWxYz", "[hidden]", "Hugging Face token"},
		{"npm", "//registry/:_authToken=npm_0123456789abcdefghijklmnopqrstuvwxyz", "//registry/:_authToken=[hidden]", "npm token"},
		{"JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl!", "[hidden]!", "JSON Web Token"},
		{"a header", "Authorization: Bearer abcdefgh", "[hidden]", "authorization"},
		{"a header in JSON", `"authorization" : "Basic dXNlcjpwYXNz"`, `"[hidden]"`, "authorization"},
		{"bearer", "with bearer 0123456789abcdef it works", "with [hidden] it works", "authorization"},
		{"basic", "-H 'BASIC dXNlcjpwYXNz'", "-H '[hidden]'", "authorization"},
		{"a private key", "key:\n" + pem + "\nend", "key:\n[hidden]\nend", "private key"},
		{"a private key in JSON", `{"k":"` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`, `{"k":"[hidden]"}`, "private key"},
		{"a private key that is cut off", "k " + pem[:70], "k [hidden]", "private key"},
		{"several", "ghp_0123456789abcdefghij ghp_abcdefghij0123456789", "[hidden] [hidden]", "GitHub token"},
		{"escaped", `ghp_0123456789\u0061bcdefghij`, "[hidden]", "GitHub token"},
		{"escaped at the beginning", `say \u0067hp_0123456789abcdefghij, then`, "say [hidden], then", "GitHub token"},
		{"after an escaped end of a line", `{"file":"A\nghp_0123456789abcdefghij\nB"}`, `{"file":"A\n[hidden]\nB"}`, "GitHub token"},
		{"after an escaped tab", `x\tAKIAIOSFODNN7EXAMPLE`, `x\t[hidden]`, "AWS access key"},
		{"after an end of a line that is escaped twice", `x\\nghp_0123456789abcdefghij`, `x\\n[hidden]`, "GitHub token"},
		{"in colours", "\x1b[1;31mghp_0123456789abcdefghij\x1b[0m", "\x1b[1;31m[hidden]\x1b[0m", "GitHub token"},
		{"in escaped colours", `\u001b[31mghp_0123456789abcdefghij`, `\u001b[31m[hidden]`, "GitHub token"},
		{"escaped twice", `\\u0067hp_0123456789abcdefghij`, `[hidden]`, "GitHub token"},
		{"in an address", "https://host/?t=%67hp_0123456789abcdefghij&x=1", "https://host/?t=[hidden]&x=1", "GitHub token"},
		{"a long text", strings.Repeat("x ", windowSize) + "ghp_0123456789abcdefghij", strings.Repeat("x ", windowSize) + "[hidden]", "GitHub token"},
		{"a long text with escapes", strings.Repeat(`\/ `, windowSize) + `g\u0068p_0123456789abcdefghij`, strings.Repeat(`\/ `, windowSize) + "[hidden]", "GitHub token"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, kind := MaskForms(test.text); got != test.want || kind != test.kind {
				t.Errorf("%.200q became %.200q (%s), want %.200q (%s)", test.text, got, kind, test.want, test.kind)
			}
		})
	}
	for _, plain := range []string{
		"", "risk-management-framework-2024", `C:\risk-0123456789abcdefghij`, "[xghp_0123456789abcdefghij", "31mghp_0123456789abcdefghij", "sk-learn-environment-variables", "a basic introduction to it", "the bearer instruments of",
		"npm_package_config_some_long_variable_name", "secret_access_key_of_the_whole_account_2024", "-----BEGIN PRIVATE KEY-----", "ghp_short",
		"Basic authentication2024", "eyJhbGciOi", "task-0123456789abcdefghij", "commit 0123456789abcdef0123456789abcdef01234567", "100 % of it", `C:\users\x`,
	} {
		if got, kind := MaskForms(plain); got != plain || kind != "" {
			t.Errorf("%q became %q (%s)", plain, got, kind)
		}
	}
}

func TestMaskLoosely(t *testing.T) {
	for text, want := range map[string]string{
		"task-0123456789abcdefghij":              "ta[hidden]",
		"Basic authentication":                   "[hidden]",
		"SG.0123456789abcdef0.0123456789abcdef0": "[hidden]",
		"plain":                                  "plain",
	} {
		if got := MaskLoosely(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func FuzzMaskForms(f *testing.F) {
	f.Add("before ", " after")
	f.Add(`\u00`, `%67`)
	f.Add("Bearer ", "-----BEGIN PRIVATE KEY-----")
	f.Fuzz(func(t *testing.T, before, after string) {
		const token = "ghp_0123456789abcdefghij"
		masked, kind := MaskForms(before + " " + token + " " + after)
		if strings.Contains(masked, token) || kind == "" {
			t.Errorf("%q is still in %q (%s)", token, masked, kind)
		}
		if text := before + after; utf8.ValidString(text) {
			if masked, _ := MaskForms(text); !utf8.ValidString(masked) {
				t.Errorf("%q became %q, which is not UTF-8", text, masked)
			}
		}
	})
}

func BenchmarkMaskForms(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, and so does task-oriented work.\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		MaskForms(text)
	}
}

// A server can send any text: none may take much longer than others of its size.
func TestMaskFormsIsLinear(t *testing.T) {
	for _, part := range []string{
		"eyJ-", "eyJabcdefgh.", "sk-", "xapp-", "pypi-", "SG.", "SG.-", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
		"bearer\t", "BEARER", "Bearer a", "authorization: ", "Z", "%41", `\u0041`,
	} {
		began := time.Now()
		MaskForms(strings.Repeat(part, 256<<10/len(part)))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%q: %v", part, took)
		}
	}
}

func TestMaskFormsAfterOtherStarts(t *testing.T) {
	for text, want := range map[string]string{
		"sk-and-sk-too-long sk-0123456789abcdefghij":                                   "sk-and-sk-too-long [hidden]",
		"eyJ-eyJ eyJabcdefgh.abcdefgh.abc":                                             "eyJ-eyJ [hidden]",
		"xoxz-xoxb-0123456789ab":                                                       "xoxz-[hidden]",
		"-----BEGIN PRIVATE KEY----- -----BEGIN PRIVATE KEY-----\n0123456789abcdef\n-": "-----BEGIN PRIVATE KEY----- [hidden]-",
	} {
		if got, _ := MaskForms(text); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
	}
}
