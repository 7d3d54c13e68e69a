package condition

import (
	"net/url"
	"strings"
	"testing"
)

func hosts(t testing.TB, texts ...string) (all []Host) {
	t.Helper()
	for _, text := range texts {
		host, err := ParseHost(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		all = append(all, host)
	}
	return all
}

func TestHosts(t *testing.T) {
	for _, test := range []struct {
		pattern string
		holding []string
		others  []string
	}{
		{"example.com", []string{
			"http://example.com", "https://example.com/", "HTTPS://EXAMPLE.COM:8443/a?b#c", "http://example.com?a=b", "http://example.com#a",
			"https://example.com/@user", "https://example.com/a:b//c", "https://example.com/ü", "http://ｅｘａｍｐｌｅ.com/", "http://example。com/",
		}, []string{
			"", "example.com", "//example.com", "http:example.com", "http:/example.com", "http:///example.com", "https://", "http://:80/",
			"ftp://example.com/", "ws://example.com/", "file://example.com/", "javascript://example.com/", "view-source:http://example.com", " http://example.com",
			"http://www.example.com", "http://example.com.evil.test", "http://example.comevil.test/", "http://evil.test/example.com", "http://evil.test?example.com", "http://evil.test#example.com",
			// User names.
			"http://example.com@evil.test/", "http://example.com:80@evil.test/", "http://evil.test@example.com/", "http://a:b@example.com/", "http://@example.com/",
			"http://example.com#@evil.test/", "http://example.com?@evil.test/", "http://example.com:80#@evil.test",
			`http://example.com\@evil.test/`, `http://evil.test\@example.com/`, `http:\\example.com/`, `http://example.com\.evil.test`, `http:/\example.com/`, `http://example.com/a\b`,
			"http://evil.test\t@example.com/", "http://exam\tple.com/", "http://example.com\n", "ht\ntp://example.com", "http://example.com /", "http://example.com/ a", "http://example.com\u00a0/",
			// Odd forms.
			"http://example.com./", "http://.example.com/", "http://example..com/", "http://example.com:/", "http://example.com:0/", "http://example.com:080/", "http://example.com:+80/",
			"http://example.com:99999/", "http://example.com:80:80/", "http://example.com:a/", "http://example.com:８０/", "http://example%2ecom/", "http://%65xample.com/", "http://example.com%00.evil.test/", "http://example.com%2f@evil.test",
			"http://example.com;evil.test/", "http://example.com,evil.test/", "http://example.com&evil.test", "http://example.com|evil.test", "http://[example.com]/", "http://example.com[/", "http://{example.com}/",
			"http://example.com\u0000/", "http://example.com\u2028", "http://ex\u0430mple.com/", "http://example.com\uff0fevil.test/", "http://example.com\u2100evil.test/", "http://example.com＠evil.test/",
		}},
		{"*.example.com", []string{"http://a.example.com", "http://a.b.example.com:81/", "http://bücher.example.com/", "http://a_b.example.com/"}, []string{
			"http://example.com", "http://.example.com", "http://aexample.com", "http://*.example.com/", "http://a.example.com.test/", "http://example.com.a/", "http://xn--a.example.com/", "http://a..example.com/",
		}},
		{"example.com:443", []string{"https://example.com/", "http://example.com:443/"}, []string{"http://example.com/", "https://example.com:444/"}},
		{"example.com:80", []string{"http://example.com/"}, []string{"https://example.com/"}},
		{"bücher.example", []string{"http://bücher.example/", "http://BÜCHER.example/", "http://xn--bcher-kva.example/", "http://XN--BCHER-KVA.example", "http://bu\u0308cher.example/"}, []string{"http://bucher.example/", "http://xn--bucher.example"}},
		{"xn--bcher-kva.example", []string{"http://bücher.example/"}, nil},
		{"fass.example", []string{"http://fass.example"}, []string{"http://faß.example/"}},
		{"xn--fa-hia.example", []string{"http://xn--fa-hia.example/"}, []string{"http://faß.example/", "http://fass.example/"}},
		{"localhost", []string{"http://localhost:3000/"}, []string{"http://127.0.0.1/", "http://[::1]/", "http://localhost.test/"}},
		{"127.0.0.1", []string{"http://127.0.0.1/", "http://127.0.0.1:8080/"}, []string{
			"http://localhost/", "http://127.1/", "http://127.0.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://127.0.0.01/", "http://127.0.0.1./",
			"http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/", "http://１２７.0.0.1/", "http://127。0。0。1/", "http://[127.0.0.1]/", "http://127.0.0.1.evil.test/", "http://a.127.0.0.1/",
		}},
		{"127.0.0.1:8080", []string{"http://127.0.0.1:8080/"}, []string{"http://127.0.0.1/"}},
		{"[::1]", []string{"http://[::1]/", "http://[0:0:0:0:0:0:0:1]:80/", "http://[0000::0001]/"}, []string{
			"http://::1/", "http://[::1%25lo]/", "http://[::1%lo]/", "http://[::2]/", "http://[::1", "http://[::1]a/", "http://[::1]:/", "http://[::1]@evil.test/", "http://[[::1]]/", "http://[v1.a]/", "http://[::1]:80:80/",
		}},
		{"::1", []string{"http://[::1]:9/"}, nil},
		{"[2001:DB8::1]:8080", []string{"http://[2001:db8:0::1]:8080"}, []string{"http://[2001:db8::1]/"}},
	} {
		patterns := hosts(t, test.pattern)
		for _, value := range test.holding {
			if why := atHosts(value, patterns); why != "" {
				t.Errorf("%q is not at %s: %s", value, test.pattern, why)
			}
		}
		for _, value := range test.others {
			if why := atHosts(value, patterns); why == "" {
				t.Errorf("%q is at %s", value, test.pattern)
			}
		}
	}
	if atHosts("http://b.test/", hosts(t, "a.test", "b.test")) != "" {
		t.Error("the second host does not count")
	}
	if atHosts("http://a/"+strings.Repeat("a", maxAddress), hosts(t, "a")) == "" {
		t.Error("an endless address holds")
	}
}

func TestParseHost(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "there is no host",
		"*":                       `"*" can only stand`,
		"**.example.com":          `"*" can only stand`,
		"*example.com":            `"*" can only stand`,
		"a.*.com":                 `"*" can only stand`,
		"*.*.com":                 `"*" can only stand`,
		"*.":                      "there is no host",
		"*.127.0.0.1":             "nothing below",
		"*.[::1]":                 "nothing below",
		"https://example.com":     "only the host",
		"example.com/":            "only the host",
		"user@example.com":        "only the host",
		"example.com:":            "the port must be",
		"example.com:http":        "the port must be",
		"example.com:0":           "the port must be",
		"example.com:65536":       "the port must be",
		"example.com.":            "not a host name",
		".example.com":            "not a host name",
		"exa mple.com":            "not a host name",
		"example.com\n":           "not a host name",
		"127.1":                   "four decimal",
		"0x7f000001":              "four decimal",
		"256.0.0.1":               "four decimal",
		"[::1":                    "bracket",
		"[::1]x":                  "only a port",
		"[::1]:":                  "the port must be",
		"[fe80::1%eth0]":          "zone",
		"fe80::1%eth0":            "zone",
		"[::ffff:1.2.3.4]":        "IPv4",
		"[1.2.3.4]":               "IPv6",
		"a:2:3":                   "the port must be",
		"faß.example":             "different ways",
		strings.Repeat("a", 64):   "not a host name",
		strings.Repeat("a.", 127): "not a host name",
	} {
		if host, err := ParseHost(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %s", text, host, err, want)
		}
	}
	if host := hosts(t, "*.Example.com:8080")[0]; host.String() != "*.Example.com:8080" || host.name != "example.com" {
		t.Errorf("%+v", host)
	}
}

// naiveHost finds the host of an address in the way of browsers, which forgive a lot.
func naiveHost(address string) string {
	address = strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(strings.Trim(address, " "))
	_, rest, _ := strings.Cut(address, ":")
	rest = strings.TrimLeft(rest, "/")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndex(rest, "@")+1:]
	if end := strings.LastIndex(rest, ":"); end > strings.LastIndex(rest, "]") {
		rest = rest[:end]
	}
	return strings.ToLower(rest)
}

// lateHost finds the host in the way of programs that look for the user name before they look for the path.
func lateHost(address string) string {
	_, rest, _ := strings.Cut(address, "//")
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		slash = len(rest)
	}
	rest = rest[:slash]
	rest = rest[strings.LastIndex(rest, "@")+1:]
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	host, _, _ := strings.Cut(rest, ":")
	return strings.ToLower(host)
}

// An address that holds is at the host for all ways to read it.
func FuzzHosts(f *testing.F) {
	for _, seed := range []string{
		"http://example.com", "https://a.example.com:80/x?y#z", "http://example.com@evil/", `http://evil\@example.com`, "http://example.com#@evil", "http://exam\tple.com",
		"http://[::1]:80/", "http://127.0.0.1", "http://evil?.example.com", "http://evil#.example.com/", "http://bücher.example.com", "http://evil%2f.example.com", "http:///a.example.com",
	} {
		f.Add(seed)
	}
	patterns := hosts(f, "*.example.com", "example.com", "127.0.0.1")
	isMeant := func(host string) bool {
		return host == "example.com" || host == "127.0.0.1" || strings.HasSuffix(host, ".example.com")
	}
	f.Fuzz(func(t *testing.T, address string) {
		if atHosts(address, patterns) != "" {
			return
		}
		parsed, err := url.Parse(address)
		if err != nil {
			if strings.Contains(err.Error(), "invalid URL escape") {
				return // in the path, of no concern
			}
			t.Fatalf("%q holds, and is not an address: %v", address, err)
		}
		for _, host := range []string{strings.ToLower(parsed.Hostname()), naiveHost(address), lateHost(address)} {
			if isASCII(host) && !isMeant(host) {
				t.Errorf("%q holds, and is at %q", address, host)
			}
		}
		if parsed.User != nil || parsed.Scheme != "http" && parsed.Scheme != "https" {
			t.Errorf("%q holds", address)
		}
	})
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}
