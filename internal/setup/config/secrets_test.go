package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSecrets(t *testing.T) {
	for _, test := range []struct {
		name, server string
		want         []string
	}{
		{"env", `{"command": "x", "env": {"A": "literal-token", "B": "short", "C": "Grüße12"}}`, []string{"literal-token"}},
		{"eight characters, not bytes", `{"command": "x", "env": {"A": "Grüße123"}}`, []string{"Grüße123"}},
		{"variable anywhere", `{"command": "x", "args": ["--token=${TOKEN}"]}`, []string{"tok_123456789"}},
		{"variable and the whole", `{"command": "x", "env": {"A": "pre-${TOKEN}"}}`, []string{"pre-tok_123456789", "tok_123456789"}},
		{"default when used", `{"command": "x", "args": ["${NO:-fallback-1}", "${TOKEN:-fallback-2}"]}`, []string{"tok_123456789", "fallback-1"}},
		{"default that is an address", `{"url": "${NO:-https://shop.example/mcp?a=longvalue1}"}`, []string{"longvalue1"}},
		{"default that is an address with a password", `{"url": "${NO:-https://u:pw@shop.example/mcp}"}`, []string{"https://u:pw@shop.example/mcp"}},
		{"default of a secret", `{"url": "https://x/${API_KEY:-https://shop.example}"}`, []string{"https://shop.example"}},
		{"literal args are shown", `{"command": "x", "args": ["some-long-argument"]}`, nil},
		{"header", `{"url": "http://x", "headers": {"Authorization": "Bearer abcdefgh12"}}`, []string{"Bearer abcdefgh12", "abcdefgh12"}},
		{
			"url", `{"url": "https://username:p%40ssw0rd1@example.com/mcp?key=k%2Fey123456&v=1&long=abcdefghi#f"}`,
			[]string{"k%2Fey123456", "p%40ssw0rd1", "k/ey123456", "abcdefghi", "p@ssw0rd1", "username"},
		},
		{"user like the host", `{"url": "https://example1@example1"}`, []string{"example1"}},
		{"address in env", `{"command": "x", "env": {"DB": "postgres://u:longpassword@db/x"}}`, []string{"postgres://u:longpassword@db/x", "longpassword"}},
		{"key over several lines", `{"command": "x", "env": {"KEY": "first-line\nsecond-line\nx\n"}}`, []string{"second-line", "first-line"}},
		{"numbers", `{"command": "x", "env": {"A": "1234567890", "B": "-12345.678", "C": "12345e678"}}`, []string{"12345e678"}},
		{"names", `{"command": "x", "args": ["${TOOLBOX}", "${SERVER}"], "env": {"A": "read_a_file"}, "toolFilters": ["read_a_file"]}`, nil},
		{"deduplicated, longest first", `{"command": "x", "env": {"A": "bbbbbbbb", "B": "aaaaaaaa", "C": "cccccccccc", "D": "aaaaaaaa"}}`, []string{"cccccccccc", "aaaaaaaa", "bbbbbbbb"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := `{"toolboxes": {"development": {"description": "d", "mcpServers": {"file-server": ` + test.server + `}}}}`
			cfg := parse(t, file, "TOKEN=tok_123456789", "TOOLBOX=development", "SERVER=file-server")
			if diff := cmp.Diff(test.want, cfg.Secrets); diff != "" {
				t.Errorf("secrets (-want +got):\n%s", diff)
			}
		})
	}
}
