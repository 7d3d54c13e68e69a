package config

import "testing"

func TestEndpoint(t *testing.T) {
	certificate := TLS{Cert: "cert.pem", Key: "key.pem"}
	for _, test := range []struct {
		http HTTP
		want string
	}{
		{HTTP{}, "http://127.0.0.1:7420/mcp"},
		{HTTP{Listen: "127.0.0.1:8080"}, "http://127.0.0.1:8080/mcp"},
		{HTTP{Listen: ":7420"}, "http://localhost:7420/mcp"},
		{HTTP{Listen: "0.0.0.0:80"}, "http://localhost:80/mcp"},
		{HTTP{Listen: "[::1]:7420", AllowedHosts: []string{"a.example.com"}}, "http://[::1]:7420/mcp"},
		{HTTP{Listen: "[::]:7420", AllowedHosts: []string{"a.example.com"}}, "http://a.example.com:7420/mcp"},
		{HTTP{Listen: "10.0.0.1:7420", AllowedHosts: []string{"a.example.com"}, TLS: certificate}, "https://a.example.com:7420/mcp"},
		{HTTP{Listen: ":7420", AllowedHosts: []string{"[2001:db8::1]"}, TLS: certificate}, "https://[2001:db8::1]:7420/mcp"},
		{HTTP{Listen: ":7420", AllowedHosts: []string{"2001:db8::1"}}, "http://[2001:db8::1]:7420/mcp"},
		{HTTP{Listen: "127.0.0.1:7420", AllowedHosts: []string{"a.example.com"}, OAuth: &HTTPOAuth{Resource: "https://mcp.example.com/tools/mcp"}}, "https://mcp.example.com/tools/mcp"},
	} {
		if got := test.http.Endpoint(); got != test.want {
			t.Errorf("%+v: %s, want %s", test.http, got, test.want)
		}
	}
}
