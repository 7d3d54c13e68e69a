package secret

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	masker := NewMasker([]string{"hunter2hunter2", "hunter2hunter2-longer", `quo"ted\value`, "a b&c/d=e+f", ""})
	for _, test := range []struct{ name, text, want string }{
		{"plain", "login with hunter2hunter2 failed", "login with [hidden] failed"},
		{"longest wins", "hunter2hunter2-longer", "[hidden]"},
		{"several", "hunter2hunter2 hunter2hunter2", "[hidden] [hidden]"},
		{"as it is", `got quo"ted\value here`, "got [hidden] here"},
		{"inside JSON", `{"token":"quo\"ted\\value"}`, `{"token":"[hidden]"}`},
		{"in a query", "https://host/?token=a+b%26c%2Fd%3De%2Bf", "https://host/?token=[hidden]"},
		{"in a path", "https://host/a%20b&c%2Fd=e+f/x", "https://host/[hidden]/x"},
		{"nothing to hide", "hunter2", "hunter2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := masker.Mask(test.text); got != test.want {
				t.Errorf("Mask(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// Other programs print a secret in their own ways.
func TestMaskOfEncodedText(t *testing.T) {
	const value = `p/a"ss'w\ö rd&1+`
	masker := NewMasker([]string{value, "short", "sk-0123456789abcdef"})
	for _, test := range []struct{ name, text string }{
		{"JSON of Go, which escapes what HTML would read", `"p/a\"ss'w\\ö rd\u00261+"`},
		{"JSON of PHP", `"p\/a\"ss'w\\\u00f6 rd&1+"`},
		{"JSON of Python", `"p/a\"ss'w\\\u00f6 rd&1+"`},
		{"JSON in JSON", `"{\"t\":\"p/a\\\"ss'w\\\\ö rd&1+\"}"`},
		{"JSON in JSON in JSON", `"\"{\\\"t\\\":\\\"p/a\\\\\\\"ss'w\\\\\\\\ö rd&1+\\\"}\""`},
		{"repr of Python", `'p/a"ss\'w\\ö rd&1+'`},
		{"bytes of Python", `b'p/a"ss\'w\\\xc3\xb6 rd&1+'`},
		{"ascii of Python", `'p/a"ss\'w\\\xf6 rd&1+'`},
		{"JavaScript", `'p/a"ss\x27w\\\u{f6} rd\x261+'`},
		{"octal", `p/a"ss'w\\\303\266 rd&1+`},
		{"URL in capitals", `p%2Fa%22ss%27w%5C%C3%B6%20rd%261%2B`},
		{"URL in small letters", `p%2fa%22ss%27w%5c%c3%b6%20rd%261%2b`},
		{"form", `p%2Fa%22ss%27w%5C%C3%B6+rd%261%2B`},
		{"URL in a URL", `p%252Fa%2522ss%2527w%255C%25C3%25B6%2520rd%25261%252B`},
		{"Base64", base64.StdEncoding.EncodeToString([]byte(value))},
		{"Base64 of URLs", base64.URLEncoding.EncodeToString([]byte(value))},
		{"Base64 with a user of one letter", base64.StdEncoding.EncodeToString([]byte("u:" + value))},
		{"Base64 with a longer user", base64.StdEncoding.EncodeToString([]byte("me:" + value + "\n"))},
		{"Base64 in JSON of PHP", strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte("???"+value)), "/", `\/`)},
		{"cut off", `p/a"ss…`},
		{"cut off at the end", `p/a"ss'w\ö r`},
		{"cut off in JSON", `p\/a\"ss…`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := masker.Mask("Basic <" + test.text + "> failed")
			switch {
			case test.name == "cut off at the end":
				got = masker.Mask("<" + test.text)
				if got != "<[hidden]" {
					t.Errorf("%q became %q", test.text, got)
				}
			case !strings.HasPrefix(got, "Basic <") || !strings.HasSuffix(got, "> failed") || !strings.Contains(got, Mask):
				t.Errorf("%q became %q", test.text, got)
			default:
				for _, rest := range []string{"p/", "ss", "rd", "261", "cD", "1+"} {
					if strings.Contains(got, rest) {
						t.Errorf("%q became %q, which holds a part", test.text, got)
					}
				}
			}
		})
	}
	for _, plain := range []string{"100% of it", `C:\new\table`, "a+b", `\u12`, `\`, "%", "%4", `\x`, `\u{`, `\u{}`, "…", "hort…", "sk-…", "wrong sk-01234"} {
		if got := masker.Mask(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
}

// Long texts are looked at in pieces: a secret is found wherever it stands, once.
func TestMaskOfLongText(t *testing.T) {
	const value = `secret/"of mine"`
	masker := NewMasker([]string{value})
	for _, form := range []string{value, `secret\/\"of mine\"`, "secret%2f%22of%20mine%22"} {
		for _, before := range []int{windowSize - len(form) - 1, windowSize - len(form)/2, windowSize - 1, windowSize, 2*windowSize - 100, 3 * windowSize} {
			filler := strings.Repeat("x", before)
			if got, want := masker.Mask(filler+form+filler), filler+Mask+filler; got != want {
				t.Errorf("%q after %d bytes is not masked", form, before)
			}
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("0123456789", `{"t":"\u0030123456789"}`)
	f.Add(`a"b\c/d e+f`, `%22`)
	f.Fuzz(func(t *testing.T, value, text string) {
		if value == "" || strings.ContainsAny(value, "[]") || strings.Contains(Mask, value) {
			return // the mask itself may bring it back
		}
		if masked := NewMasker([]string{value}).Mask(text + value + text); strings.Contains(masked, value) {
			t.Errorf("%q is still in %q", value, masked)
		}
	})
}

func TestMaskWithoutSecrets(t *testing.T) {
	for name, masker := range map[string]*Masker{"nil": nil, "empty": NewMasker(nil), "blank": NewMasker([]string{""})} {
		if got := masker.Mask("as it is"); got != "as it is" {
			t.Errorf("%s masker changed the text to %q", name, got)
		}
	}
}
