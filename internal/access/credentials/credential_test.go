package credentials

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestCanonicalServer(t *testing.T) {
	for _, test := range []struct{ address, want string }{
		{"https://mcp.example.com/mcp", "https://mcp.example.com/mcp"},
		{"HTTPS://MCP.Example.COM/Path", "https://mcp.example.com/Path"},
		{"https://mcp.example.com:443/mcp", "https://mcp.example.com/mcp"},
		{"http://mcp.example.com:80", "http://mcp.example.com"},
		{"https://mcp.example.com:80/x", "https://mcp.example.com:80/x"},
		{"https://mcp.example.com:/x", "https://mcp.example.com/x"},
		{"https://mcp.example.com/", "https://mcp.example.com"},
		{"https://mcp.example.com/mcp/", "https://mcp.example.com/mcp/"},
		{"https://user:pass@mcp.example.com/mcp#part", "https://mcp.example.com/mcp"},
		{"https://mcp.example.com/mcp?b=2&a=1#part", "https://mcp.example.com/mcp?b=2&a=1"},
		{"https://mcp.example.com/?a=1", "https://mcp.example.com?a=1"},
		{"https://mcp.example.com/mcp?", "https://mcp.example.com/mcp"},
		{"https://mcp.example.com/a%2Fb/%7e", "https://mcp.example.com/a%2Fb/%7e"},
		{"http://[::1]:8080/mcp", "http://[::1]:8080/mcp"},
		{"http://[FE80::1%25en0]:80/mcp", "http://[fe80::1%25en0]/mcp"},
		{"mcp.example.com", ""},
		{"ftp://mcp.example.com", ""},
		{"https://", ""},
		{"https://:443/x", ""},
		{"https:mcp.example.com", ""},
		{"https://mcp.example.com/\xff", ""},
		{"https://secret@mcp example.com/", ""},
		{"", ""},
	} {
		got, err := CanonicalServer(test.address)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q is %q, %v; want %q", test.address, got, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the address: %v", err)
		}
	}
}

func FuzzCanonicalServer(f *testing.F) {
	for _, address := range []string{"https://A.example:443/?#", "http://[::1%25eth0]:80/%2F", "https://u:p@h:/;x?y"} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		once, err := CanonicalServer(address)
		if err != nil {
			return
		}
		if twice, err := CanonicalServer(once); err != nil || twice != once {
			t.Errorf("%q is %q, and that is %q, %v", address, once, twice, err)
		}
	})
}

// Neither fmt nor slog shows a secret, whatever the verb, and in whatever it is contained.
func TestSecretsAreHidden(t *testing.T) {
	c := full(testKey)
	c.Server += "?key=secret-query"
	type around struct {
		Credential Credential
		Pointer    *Credential
		Client     Client
		Key        Key
	}
	values := []any{c, *c, c.Client, &c.Client, c.Key, &c.Key, []*Credential{c}, map[string]Credential{"x": *c}, around{*c, c, c.Client, c.Key}}
	var shown bytes.Buffer
	for _, value := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
			fmt.Fprintf(&shown, verb+"\n", value)
		}
		fmt.Fprintln(&shown, value)
	}
	for _, value := range values[:6] {
		slog.New(slog.NewTextHandler(&shown, nil)).Info("x", "value", value)
		slog.New(slog.NewJSONHandler(&shown, nil)).Info("x", "value", value)
	}
	text := strings.ToLower(shown.String())
	secrets := []string{c.Access, c.Refresh, c.Client.Secret, string(c.DPoPKey), "secret-query"}
	for _, secret := range secrets {
		for _, form := range []string{secret, fmt.Sprintf("%x", secret), numbers(secret)} {
			if strings.Contains(text, form) {
				t.Errorf("%q is shown as %q", secret, form)
			}
		}
	}
	for _, value := range []any{c, *c} {
		if got := fmt.Sprintf("%+v", value); got != c.String() || !strings.HasSuffix(got, `for https://mcp.example.com/mcp as "work", generation 0, dead`) {
			t.Errorf("the description is %q", got)
		}
	}
	if got := c.LogValue().String(); got != c.String() {
		t.Errorf("the log has %q", got)
	}
	if !strings.Contains(text, "https://mcp.example.com/mcp") || !strings.Contains(text, `client "client-id" (dynamic)`) {
		t.Errorf("nothing useful is shown: %.300s", text)
	}
}

// numbers returns a text as fmt shows its bytes.
func numbers(text string) string {
	data := []byte(text)
	return strings.Trim(fmt.Sprintf("%d", data), "[]")
}

func TestDescriptionIsPlainText(t *testing.T) {
	key := Key{Server: "https://mcp.example.com", Issuer: "https://auth.example.com/\x1b[31mred\u202e", Account: "a\x1b"}
	if got, want := key.String(), `at https://auth.example.com/red for https://mcp.example.com as "a\x1b"`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
