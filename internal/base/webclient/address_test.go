package webclient

import (
	"net/netip"
	"testing"
)

func TestKindOfAddress(t *testing.T) {
	for address, want := range map[string]kind{
		"93.184.216.34":            public,
		"2606:2800:220:1::1":       public,
		"127.0.0.1":                loopback,
		"127.255.255.254":          loopback,
		"::1":                      loopback,
		"::ffff:127.0.0.1":         loopback,
		"10.1.2.3":                 private,
		"172.16.0.1":               private,
		"172.31.255.255":           private,
		"172.32.0.1":               public,
		"192.168.1.1":              private,
		"::ffff:192.168.1.1":       private,
		"fd00::1":                  private,
		"fec0::1":                  private,
		"169.254.169.254":          linkLocal,
		"::ffff:169.254.169.254":   linkLocal,
		"fe80::1":                  linkLocal,
		"fe80::1%eth0":             linkLocal,
		"100.64.0.1":               carrier,
		"100.127.255.255":          carrier,
		"::ffff:100.64.0.1":        carrier,
		"::ffff:240.0.0.1":         reserved,
		"100.128.0.1":              public,
		"0.0.0.0":                  unspecified,
		"0.1.2.3":                  unspecified,
		"::":                       unspecified,
		"224.0.0.1":                multicast,
		"ff02::1":                  multicast,
		"255.255.255.255":          reserved,
		"240.0.0.1":                reserved,
		"192.0.0.8":                reserved,
		"64:ff9b::10.0.0.1":        private,
		"64:ff9b::127.0.0.1":       loopback,
		"64:ff9b::169.254.169.254": linkLocal,
		"64:ff9b::93.184.216.34":   public,
		"64:ff9b:1::a00:1":         private,
		"2002:7f00:1::":            loopback,  // 6to4 of 127.0.0.1
		"2002:a9fe:a9fe::1":        linkLocal, // of 169.254.169.254
		"2002:5db8:d822::1":        public,
		"2001:0:1:2:3:4:f5ff:fffe": private, // Teredo of 10.0.0.1
		"::ffff:0:10.0.0.1":        private,
		"::10.0.0.1":               private,
	} {
		if got := kindOf(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
}

func TestHostThatIsNoName(t *testing.T) {
	for host, want := range map[string]bool{
		"127.1": false, "2130706433": false, "0x7f000001": false, "0x7f.1": false, "a.0X7F": false, "017700000001": false, "1.2.3.4.": false, "a.0x": false,
		"１２７.１": false, "a.１": false, "": false, ".": false, "a\u2260.example": false, "xn--a": true,
		"example.com": true, "7.example": true, "mcp1": true, "0xg": true, "x0": true, "bücher.example": true, "example.com.": true,
	} {
		if got := isName(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
