package cli

import (
	"path/filepath"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestEnsureToken(t *testing.T) {
	store, err := httpauth.Open(filepath.Join(t.TempDir(), "state", httpauth.FileName))
	if err != nil {
		t.Fatal(err)
	}
	token, created, err := ensureToken(store)
	if err != nil || !created {
		t.Fatalf("created %v, %v", created, err)
	}
	if who, ok := store.Verify(token); !ok || who.Name != "default" || who.Toolboxes != nil {
		t.Errorf("the token is %+v, %v", who, ok)
	}
	if token, created, err := ensureToken(store); token != "" || created || err != nil {
		t.Errorf("a second one was made: %v, %v", created, err)
	}
}

func TestEndpoint(t *testing.T) {
	certificate := config.TLS{Cert: "cert.pem", Key: "key.pem"}
	for _, test := range []struct {
		http config.HTTP
		want string
	}{
		{config.HTTP{}, "http://127.0.0.1:7420/mcp"},
		{config.HTTP{Listen: "127.0.0.1:8080"}, "http://127.0.0.1:8080/mcp"},
		{config.HTTP{Listen: ":7420"}, "http://localhost:7420/mcp"},
		{config.HTTP{Listen: "0.0.0.0:80"}, "http://localhost:80/mcp"},
		{config.HTTP{Listen: "[::1]:7420", AllowedHosts: []string{"a.example.com"}}, "http://[::1]:7420/mcp"},
		{config.HTTP{Listen: "[::]:7420", AllowedHosts: []string{"a.example.com"}}, "http://a.example.com:7420/mcp"},
		{config.HTTP{Listen: "10.0.0.1:7420", AllowedHosts: []string{"a.example.com"}, TLS: certificate}, "https://a.example.com:7420/mcp"},
		{config.HTTP{Listen: ":7420", AllowedHosts: []string{"[2001:db8::1]"}, TLS: certificate}, "https://[2001:db8::1]:7420/mcp"},
		{config.HTTP{Listen: ":7420", AllowedHosts: []string{"2001:db8::1"}}, "http://[2001:db8::1]:7420/mcp"},
	} {
		if got := endpoint(test.http); got != test.want {
			t.Errorf("%+v: %s, want %s", test.http, got, test.want)
		}
	}
}
