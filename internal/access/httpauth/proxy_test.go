package httpauth

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestProxies(t *testing.T) {
	var trusted []netip.Prefix
	for _, text := range []string{"127.0.0.1/32", "10.0.0.0/8", "2001:db8::/32"} {
		trusted = append(trusted, netip.MustParsePrefix(text))
	}
	for _, test := range []struct {
		name, from string
		header     []string
		want       string
	}{
		{"no header", "127.0.0.1:5", nil, "127.0.0.1:5"},
		{"one proxy", "127.0.0.1:5", []string{"192.0.2.7"}, "192.0.2.7:0"},
		{"a proxy over IPv6", "[2001:db8::1]:5", []string{"192.0.2.7"}, "192.0.2.7:0"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:5", []string{"::ffff:192.0.2.7"}, "192.0.2.7:0"},
		{"not trusted", "192.0.2.1:5", []string{"192.0.2.7"}, "192.0.2.1:5"},
		{"a client that claims to be another", "127.0.0.1:5", []string{"198.51.100.1, 192.0.2.7"}, "192.0.2.7:0"},
		{"a client that claims to be a proxy", "192.0.2.1:5", []string{"10.0.0.1"}, "192.0.2.1:5"},
		{"a client that claims a proxy's address", "127.0.0.1:5", []string{"10.0.0.1, 192.0.2.7"}, "192.0.2.7:0"},
		{"several proxies", "127.0.0.1:5", []string{"198.51.100.1, 192.0.2.7 ,10.1.2.3,\t10.0.0.9"}, "192.0.2.7:0"},
		{"several lines", "127.0.0.1:5", []string{"198.51.100.1", "192.0.2.7", "10.0.0.9"}, "192.0.2.7:0"},
		{"proxies alone", "127.0.0.1:5", []string{"10.0.0.7, 10.0.0.9"}, "10.0.0.7:0"},
		{"garbage", "127.0.0.1:5", []string{"192.0.2.7, unknown"}, "127.0.0.1:5"},
		{"garbage behind a proxy", "127.0.0.1:5", []string{"192.0.2.7, unknown, 10.0.0.9"}, "10.0.0.9:0"},
		{"garbage before the client", "127.0.0.1:5", []string{"<script>, 192.0.2.7"}, "192.0.2.7:0"},
		{"nothing between commas", "127.0.0.1:5", []string{"192.0.2.7,,10.0.0.9"}, "10.0.0.9:0"},
		{"an empty line last", "127.0.0.1:5", []string{"192.0.2.7", ""}, "127.0.0.1:5"},
		{"empty", "127.0.0.1:5", []string{""}, "127.0.0.1:5"},
		{"with a port", "127.0.0.1:5", []string{"192.0.2.7:4711"}, "192.0.2.7:0"},
		{"IPv6 with a port", "127.0.0.1:5", []string{"[2001:db9::7]:4711"}, "[2001:db9::7]:0"},
		{"IPv6 in brackets", "127.0.0.1:5", []string{"[2001:db9::7]"}, "[2001:db9::7]:0"},
		{"a zone", "127.0.0.1:5", []string{"fe80::1%eth0"}, "127.0.0.1:5"},
		{"no address", "pipe", []string{"192.0.2.7"}, "pipe"},
	} {
		var got, peer string
		handler := NewProxies(trusted).Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got, peer = r.RemoteAddr, Peer(r) }))
		request := httptest.NewRequest(http.MethodGet, "/mcp", nil)
		request.RemoteAddr = test.from
		request.Header["X-Forwarded-For"] = test.header
		request.Header["Forwarded"] = []string{"for=203.0.113.9"}
		request.Header["X-Real-Ip"] = []string{"203.0.113.9"}
		handler.ServeHTTP(httptest.NewRecorder(), request)
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if peer != test.from {
			t.Errorf("%s: the connection is of %s", test.name, peer)
		}
		if request.RemoteAddr != test.from {
			t.Errorf("%s: the request of the server was changed", test.name)
		}
	}
	next := http.NotFoundHandler()
	var none *Proxies
	if got := none.Wrap(next); got == nil {
		t.Error("nil proxies have no handler")
	}
}

func FuzzForwarded(f *testing.F) {
	for _, text := range []string{"", "192.0.2.7", "a, 10.0.0.1", "[::1]:1,::1", ",,,", "10.0.0.1,10.0.0.2"} {
		f.Add(text)
	}
	proxies := NewProxies([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	f.Fuzz(func(t *testing.T, header string) {
		request := &http.Request{RemoteAddr: "10.0.0.1:1", Header: http.Header{"X-Forwarded-For": {header}}}
		client, ok := proxies.client(request)
		if ok && (!client.IsValid() || client.Zone() != "" || !strings.Contains(header, ".") && !strings.Contains(header, ":")) {
			t.Errorf("%q: %v", header, client)
		}
		// What a client sends before the last hop changes nothing about an untrusted last hop.
		more := &http.Request{RemoteAddr: "10.0.0.1:1", Header: http.Header{"X-Forwarded-For": {header + ", 192.0.2.7"}}}
		if got, _ := proxies.client(more); got != netip.MustParseAddr("192.0.2.7") {
			t.Errorf("%q before it: %v", header, got)
		}
	})
}

// A proxy has as many connections as its clients need: the share of one address is for others.
func TestProxyHasNoShare(t *testing.T) {
	for _, test := range []struct {
		proxies *Proxies
		isOver  bool
	}{{nil, true}, {NewProxies([]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}), false}} {
		all := newConnections(8, slog.New(slog.DiscardHandler))
		all.proxies = test.proxies
		victims := 0
		for range 4 { // of 8: the share of one address is 2
			conn := &fakeConn{from: "192.0.2.1:1"}
			if all.admit(&connection{conn: conn, from: NetworkOf(conn.from), isProxy: all.proxies.connects(conn.from)}) != nil {
				victims++
			}
		}
		if (victims > 0) != test.isOver {
			t.Errorf("%d connections of the proxy were closed", victims)
		}
	}
}

// The log has no port where none is known.
func TestAddressInTheLog(t *testing.T) {
	for remote, want := range map[string]string{"192.0.2.7:0": "192.0.2.7", "[2001:db8::1]:0": "2001:db8::1", "192.0.2.7:5": "192.0.2.7:5", "x": "x"} {
		if got := shownAddress(remote); got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
}
