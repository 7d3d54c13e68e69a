package httpauth

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

func tcp(address string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address)) }

func rulesOf(t *testing.T, to Rules) *rules {
	t.Helper()
	return NewGate(nil, GateOptions{Rules: to}).rules.Load()
}

// allowsHost is what the gate makes of a Host header on a connection to a local address.
func allowsHost(r *rules, text string, local net.Addr) bool {
	h, _, ok := parseHost(text)
	return ok && r.permits(h, local)
}

func TestHosts(t *testing.T) {
	loopback, network := tcp("127.0.0.1:7420"), tcp("192.168.1.5:7420")
	for _, test := range []struct {
		name  string
		local net.Addr
		host  string
		want  bool
	}{
		{"localhost", loopback, "localhost", true},
		{"localhost with the port", loopback, "localhost:7420", true},
		{"localhost through a forwarded port", loopback, "localhost:9000", true},
		{"capitals", loopback, "LocalHost:7420", true},
		{"127.0.0.1", loopback, "127.0.0.1:7420", true},
		{"all of 127.0.0.0/8", loopback, "127.9.8.7", true},
		{"::1", loopback, "[::1]:7420", true},
		{"::1 without a port", tcp("[::1]:7420"), "[::1]", true},
		{"::1 written out", loopback, "[0:0:0:0:0:0:0:1]", true},
		{"localhost over IPv6", tcp("[::1]:7420"), "localhost:7420", true},
		{"localhost on a mapped address", tcp("[::ffff:127.0.0.1]:7420"), "localhost", true},
		{"empty", loopback, "", false},
		{"only a port", loopback, ":7420", false},
		{"dot at the end", loopback, "localhost.", false},
		{"dot and port", loopback, "localhost.:7420", false},
		{"name under another", loopback, "localhost.evil.com", false},
		{"name below localhost", loopback, "evil.localhost", false},
		{"name that leads to us", loopback, "127.0.0.1.nip.io", false},
		{"rebound name", loopback, "evil.com:7420", false},
		{"letters after", loopback, "localhostx", false},
		{"user", loopback, "me@localhost", false},
		{"user and password", loopback, "localhost:80@evil.com", false},
		{"path", loopback, "localhost/evil", false},
		{"space", loopback, "localhost evil.com", false},
		{"two hosts", loopback, "localhost,evil.com", false},
		{"NUL", loopback, "localhost\x00", false},
		{"long s", loopback, "localho\u017ft", false},
		{"full width", loopback, "ｌocalhost", false},
		{"port 0", loopback, "localhost:0", false},
		{"no port", loopback, "localhost:", false},
		{"port too large", loopback, "localhost:65536", false},
		{"port with a sign", loopback, "localhost:+80", false},
		{"port with zeros", loopback, "localhost:080", false},
		{"two ports", loopback, "localhost:80:80", false},
		{"short address", loopback, "127.1", false},
		{"octal address", loopback, "0177.0.0.1", false},
		{"hexadecimal address", loopback, "0x7f.0.0.1", false},
		{"hexadecimal number", loopback, "0x7f000001", false},
		{"decimal number", loopback, "2130706433", false},
		{"all addresses", loopback, "0.0.0.0:7420", false},
		{"all addresses of IPv6", loopback, "[::]:7420", false},
		{"mapped address", loopback, "[::ffff:127.0.0.1]", false},
		{"zone", loopback, "[::1%25lo]", false},
		{"bracket not closed", loopback, "[::1", false},
		{"letters after the bracket", loopback, "[::1]evil.com", false},
		{"IPv4 in brackets", loopback, "[127.0.0.1]", false},
		{"name in brackets", loopback, "[localhost]", false},
		{"IPv6 without brackets", loopback, "::1", false},
		{"another machine's address", loopback, "192.168.1.5", false},

		{"own address", network, "192.168.1.5:7420", true},
		{"own address through a forwarded port", network, "192.168.1.5:80", true},
		{"own address on a mapped one", tcp("[::ffff:192.168.1.5]:7420"), "192.168.1.5", true},
		{"own address of IPv6", tcp("[2001:db8::5]:7420"), "[2001:db8::5]:7420", true},
		{"neighbour", network, "192.168.1.6:7420", false},
		{"localhost from outside", network, "localhost:7420", false},
		{"127.0.0.1 from outside", network, "127.0.0.1:7420", false},
		{"unknown name from outside", network, "evil.com", false},
		{"no known address", nil, "localhost", false},
		{"socket in the file system", &net.UnixAddr{Name: "/run/socket", Net: "unix"}, "localhost", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := allowsHost(&rules{}, test.host, test.local); got != test.want {
				t.Errorf("%q on %v: %v", test.host, test.local, got)
			}
		})
	}
}

func TestAllowedHosts(t *testing.T) {
	r := rulesOf(t, Rules{Hosts: []string{"MCP.example.com", "10.0.0.1", "2001:db8::1", "[2001:db8::2]", "", "no host", "a:80"}})
	for host, want := range map[string]bool{
		"mcp.example.com": true, "Mcp.Example.Com:443": true, "10.0.0.1:80": true, "[2001:db8::1]": true, "[2001:db8::2]:80": true,
		"localhost": true, "example.com": false, "x.mcp.example.com": false, "mcp.example.com.": false, "10.0.0.2": false,
		"": false, "a": false, "a:80": false, "no host": false, "[2001:db8::3]": false,
	} {
		if got := allowsHost(r, host, tcp("127.0.0.1:80")); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
	if !allowsHost(r, "mcp.example.com", nil) {
		t.Error("an allowed host depends on the connection")
	}
}

func TestParseHost(t *testing.T) {
	for _, text := range []string{"a..b", ".a", "a.", ".", strings.Repeat("a", 64), strings.Repeat("a.", 127) + "aa", "a:b", "a%b"} {
		if h, _, ok := parseHost(text); ok {
			t.Errorf("%q was taken for %+v", text, h)
		}
	}
	if h, port, ok := parseHost("My_Host-1.Example:8080"); !ok || h.name != "my_host-1.example" || port != "8080" {
		t.Errorf("%+v, %q, %v", h, port, ok)
	}
}

// Whatever is let through on a loopback listener is nothing but one of the few forms.
func FuzzHost(f *testing.F) {
	for _, seed := range []string{
		"localhost", "LOCALHOST:80", "127.0.0.1:7420", "[::1]:1", "[0::1]", "localhost.", "me@localhost", "127.0.0.1.nip.io", "[::1%lo]", "0x7f.1", ":",
	} {
		f.Add(seed)
	}
	local := tcp("127.0.0.1:7420")
	f.Fuzz(func(t *testing.T, text string) {
		h, port, ok := parseHost(text)
		if !ok {
			return
		}
		if (h.name != "") == h.addr.IsValid() {
			t.Fatalf("%q is both a name and an address, or neither", text)
		}
		if strings.ContainsAny(text, "@/\\?#%, \t\r\n\x00") || strings.HasSuffix(text, ".") {
			t.Fatalf("%q was taken for a host", text)
		}
		if !(&rules{}).permits(h, local) {
			return
		}
		name := strings.TrimSuffix(text, ":"+port)
		if inside, isBracketed := strings.CutPrefix(name, "["); isBracketed {
			name = strings.TrimSuffix(inside, "]")
		}
		addr, err := netip.ParseAddr(name)
		if !strings.EqualFold(name, "localhost") && (err != nil || !addr.IsLoopback()) {
			t.Fatalf("%q passed as %q", text, name)
		}
		for _, c := range []byte(name) {
			if c >= 0x80 {
				t.Fatalf("%q passed", text)
			}
		}
	})
}
