package app

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Only what really changed, and is read at the start alone, is said to need a restart.
func TestNeedRestart(t *testing.T) {
	before := config.HTTP{Listen: "127.0.0.1:1", Drain: config.DefaultDrain, SessionIdle: time.Hour, ClientIdle: time.Minute}
	for name, test := range map[string]struct {
		change func(*config.HTTP)
		want   []string
	}{
		"nothing": {func(*config.HTTP) {}, nil},
		"what is reloaded": {func(h *config.HTTP) {
			h.AllowedHosts, h.Limits.Calls, h.TLS.Clients = []string{"a"}, 1, make([]config.ToolboxGrant, 1)
		}, nil},
		"the address":          {func(h *config.HTTP) { h.Listen = ":2" }, []string{"http.listen"}},
		"the files":            {func(h *config.HTTP) { h.TLS = config.TLS{Cert: "c", Key: "k", ClientCA: "a"} }, []string{"http.tls.cert", "http.tls.key", "http.tls.clientCa"}},
		"proxies and idleness": {func(h *config.HTTP) { h.TrustedProxies, h.SessionIdle, h.ClientIdle = make([]netip.Prefix, 1), 1, 1 }, []string{"http.trustedProxies", "http.sessionIdle", "http.clientIdle"}},
		"the drain":            {func(h *config.HTTP) { h.Drain = config.DefaultTeamDrain }, []string{"http.drain"}},
		"its default alone":    {func(h *config.HTTP) { h.OAuth, h.Drain = new(config.HTTPOAuth), config.DefaultTeamDrain }, nil},
	} {
		now := before
		test.change(&now)
		if got := needRestart(before, now); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
