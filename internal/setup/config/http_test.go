package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHTTPErrors(t *testing.T) {
	const origin = `must be an origin in small letters: scheme, host and port, without a path, such as "https://app.example.com"`
	for _, test := range []struct {
		name, http string
		want       []string // without "Configuration: 'http."
	}{
		{"no object", `true`, []string{"1:27 config.http: Configuration: 'http' must be an object (found a boolean)"}},
		{"listen", `{"listen": "7420"}`, []string{`1:38 config.http.listen: Configuration: 'http.listen' must be an address and a port from 0 to 65535, such as "127.0.0.1:7420"`}},
		{"listen without a port", `{"listen": "localhost:"}`, []string{`1:38 config.http.listen: Configuration: 'http.listen' must be an address and a port from 0 to 65535, such as "127.0.0.1:7420"`}},
		{"port", `{"listen": ":65536"}`, []string{`1:38 config.http.listen: Configuration: 'http.listen' must be an address and a port from 0 to 65535, such as "127.0.0.1:7420"`}},
		{"listen on a URL", `{"listen": "http://localhost:80"}`, []string{`1:38 config.http.listen: Configuration: 'http.listen' must be an address and a port from 0 to 65535, such as "127.0.0.1:7420"`}},
		{"listen on nothing", `{"listen": "*:80"}`, []string{`1:38 config.http.listen: Configuration: 'http.listen' names no address; use one such as "127.0.0.1:7420", or ":7420" for all`}},
		{"hosts", `{"allowedHosts": ["*.example.com", "https://a", "a:80", "a.", "1.2.3", "ä", "", "ok", 1]}`, []string{
			"1:45 config.http.allowedHosts[0]: Configuration: 'http.allowedHosts[0]' cannot hold '*'; name each host",
			"1:62 config.http.allowedHosts[1]: Configuration: 'http.allowedHosts[1]' must be a host alone, without a scheme or a port",
			"1:75 config.http.allowedHosts[2]: Configuration: 'http.allowedHosts[2]' must be a host alone, without a scheme or a port",
			"1:83 config.http.allowedHosts[3]: Configuration: 'http.allowedHosts[3]' must be a host name or an IP address",
			"1:89 config.http.allowedHosts[4]: Configuration: 'http.allowedHosts[4]' must be a host name or an IP address",
			"1:98 config.http.allowedHosts[5]: Configuration: 'http.allowedHosts[5]' must be a host name or an IP address",
			"1:103 config.http.allowedHosts[6]: Configuration: 'http.allowedHosts[6]' must not be empty",
			"1:113 config.http.allowedHosts[8]: Configuration: 'http.allowedHosts[8]' must be a string (found a number)",
		}},
		{"tls without a key", `{"tls": {"cert": "c"}}`, []string{"1:35 config.http.tls: Configuration must name the file 'http.tls.key'"}},
		{"tls with a number", `{"tls": {"cert": "c", "key": 1}}`, []string{"1:56 config.http.tls.key: Configuration must name the file 'http.tls.key' (found a number)"}},
		{"tls with nothing", `{"tls": {"cert": "c", "key": ""}}`, []string{"1:56 config.http.tls.key: Configuration: 'http.tls.key' must not be empty"}},
		{"sessionIdle", `{"sessionIdle": "0"}`, []string{`1:43 config.http.sessionIdle: Configuration: 'http.sessionIdle' must be a duration above zero, such as "30s", "5m" or "1h30m"`}},
		{"origin", `{"allowedOrigins": ["app.example.com"]}`, []string{"1:47 config.http.allowedOrigins[0]: Configuration: 'http.allowedOrigins[0]' " + origin}},
		{"certificates without an authority", `{"tls": {"cert": "c", "key": "k", "clients": {"": ["a"], "b": "a", "c": [1, ""]}}}`, []string{
			"1:72 config.http.tls.clients: Configuration: 'http.tls.clientCa' must be set, because 'http.tls.clients' names client certificates",
			`1:73 config.http.tls.clients[""]: Name cannot be empty, and cannot begin or end with a blank`,
			"1:89 config.http.tls.clients.b: Configuration: 'http.tls.clients.b' must be an array (found a string)",
			"1:100 config.http.tls.clients.c[0]: Configuration: 'http.tls.clients.c[0]' must be a string (found a number)",
			"1:103 config.http.tls.clients.c[1]: Configuration: 'http.tls.clients.c[1]' must not be empty",
		}},
		{"proxies", `{"trustedProxies": ["proxy.example.com", "0.0.0.0/0", "10.1.2.3/8", "::ffff:10.0.0.0/104", "fe80::1%eth0", ""]}`, []string{
			`1:47 config.http.trustedProxies[0]: Configuration: 'http.trustedProxies[0]' must be an IP address, or a network such as "10.0.0.0/8"`,
			"1:68 config.http.trustedProxies[1]: Configuration: 'http.trustedProxies[1]' would trust every address: anybody could claim to be anybody",
			"1:81 config.http.trustedProxies[2]: Configuration: 'http.trustedProxies[2]' is no network: it begins at 10.0.0.0/8",
			`1:95 config.http.trustedProxies[3]: Configuration: 'http.trustedProxies[3]' must have the form of IPv4, such as "10.0.0.0/8"`,
			`1:118 config.http.trustedProxies[4]: Configuration: 'http.trustedProxies[4]' must be an IP address, or a network such as "10.0.0.0/8"`,
			"1:134 config.http.trustedProxies[5]: Configuration: 'http.trustedProxies[5]' must not be empty",
		}},
		{"drain", `{"drain": "2h"}`, []string{`1:37 config.http.drain: Configuration: 'http.drain' must be a duration above zero and at most "1h", such as "30s"`}},
		{"limits", `{"limits": {"sessions": 0, "calls": 1.5, "memory": "1KiB", "cals": 3}}`, []string{
			"1:51 config.http.limits.sessions: Configuration: 'http.limits.sessions' must be a whole number from 1 to 100000",
			"1:63 config.http.limits.calls: Configuration: 'http.limits.calls' must be a whole number from 1 to 100000",
			`1:78 config.http.limits.memory: Configuration: 'http.limits.memory' must be a number of bytes or a size such as "4GiB", from 1MiB to 1024GiB`,
			"1:86 config.http.limits.cals: Configuration: unknown key 'http.limits.cals'",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := problems(t, `{"toolboxes": {}, "http": `+test.http+`}`)
			if diff := cmp.Diff(test.want, summary(e.Problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckOrigin(t *testing.T) {
	for origin, want := range map[string]string{
		"https://app.example.com": "", "http://localhost:6274": "", "http://[::1]:80a": "must be an origin", "http://[::1]:8080": "",
		"vscode-webview://abc": "", "chrome-extension://abcdef": "",
		"*": "cannot hold '*'", "https://*.example.com": "cannot hold '*'", "null": "must be an origin", "": "must be an origin",
		"https://a.example.com/": "must be an origin", "https://a.example.com/x": "must be an origin", "https://me@a.example.com": "must be an origin",
		"https://a.example.com?x": "must be an origin", "https://a.example.com#x": "must be an origin", "//a.example.com": "must be an origin",
		"https://A.example.com": "small letters", "HTTPS://a.example.com": "small letters", "https://": "must be an origin", "https://:80": "must be an origin",
		"https://a.example.com:443": "usual port", "http://a.example.com:80": "usual port", "http://a.example.com:443": "", "http://a.example.com:": "usual port",
	} {
		if got := checkOrigin(origin); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", origin, got, want)
		}
	}
}

func TestCheckListenAndHost(t *testing.T) {
	for _, address := range []string{"127.0.0.1:7420", ":7420", "[::1]:7420", "[::]:0", "0.0.0.0:80", "localhost:7420", "build-7.example.com:80"} {
		if got := checkListen(address); got != "" {
			t.Errorf("listen on %q: %s", address, got)
		}
	}
	for _, host := range []string{"localhost", "10.0.0.1", "::1", "[2001:db8::1]", "MCP.example.com", "my_host", "xn--bcher-kva.example"} {
		if got := checkHost(host); got != "" {
			t.Errorf("host %q: %s", host, got)
		}
	}
	for _, host := range []string{"fe80::1%eth0", "[::1", "a b", "a/b", "me@a", "127.1", strings.Repeat("a", 64), strings.Repeat("a.", 127) + "aa"} {
		if checkHost(host) == "" {
			t.Errorf("host %q passes", host)
		}
	}
}
