package webclient

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// kind is what an IP address leads to.
type kind string

// Kinds of addresses, in the words of errors.
const (
	public      kind = "a public address"
	loopback    kind = "an address of this machine"
	private     kind = "an address of a private network"
	linkLocal   kind = "a link-local address"
	carrier     kind = "an address of a carrier's or overlay network (100.64.0.0/10)"
	unspecified kind = "an unspecified address"
	multicast   kind = "a multicast address"
	reserved    kind = "a reserved address"
)

// special are the ranges that netip has no method for.
var special = []struct {
	prefix netip.Prefix
	kind   kind
}{
	{netip.MustParsePrefix("0.0.0.0/8"), unspecified},
	{netip.MustParsePrefix("100.64.0.0/10"), carrier},
	{netip.MustParsePrefix("192.0.0.0/24"), reserved},
	{netip.MustParsePrefix("240.0.0.0/4"), reserved},
	{netip.MustParsePrefix("64:ff9b:1::/48"), private}, // NAT64 of a local network
	{netip.MustParsePrefix("fec0::/10"), private},
	{netip.MustParsePrefix("100::/64"), reserved},
}

// embeddings are the IPv6 ranges that contain an IPv4 address, which decides: where it begins, and whether it is inverted.
var embeddings = []struct {
	prefix   netip.Prefix
	offset   int
	inverted bool
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12, false},    // NAT64
	{netip.MustParsePrefix("2002::/16"), 2, false},        // 6to4
	{netip.MustParsePrefix("2001::/32"), 12, true},        // Teredo
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12, false}, // SIIT
}

// kindOf classifies an address by what a connection to it would reach.
func kindOf(address netip.Addr) kind {
	address = address.WithZone("").Unmap()
	switch {
	case address.IsLoopback():
		return loopback
	case address.IsUnspecified():
		return unspecified
	case address.IsPrivate():
		return private
	case address.IsLinkLocalUnicast():
		return linkLocal
	case address.IsMulticast():
		return multicast
	}
	for _, s := range special {
		if s.prefix.Contains(address) {
			return s.kind
		}
	}
	if inner, ok := embedded(address); ok {
		return kindOf(inner)
	}
	return public
}

// embedded returns the IPv4 address that an IPv6 address is translated to.
func embedded(address netip.Addr) (netip.Addr, bool) {
	if !address.Is6() {
		return netip.Addr{}, false
	}
	bytes := address.As16()
	for _, e := range embeddings {
		if !e.prefix.Contains(address) {
			continue
		}
		inner := [4]byte(bytes[e.offset : e.offset+4])
		if e.inverted {
			for i := range inner {
				inner[i] ^= 0xff
			}
		}
		return netip.AddrFrom4(inner), true
	}
	if netip.MustParsePrefix("::/96").Contains(address) { // IPv4-compatible
		return netip.AddrFrom4([4]byte(bytes[12:])), true
	}
	return netip.Addr{}, false
}

// literalKind classifies a host that needs no lookup: an IP address, or a name of this machine.
func literalKind(host string) (kind, bool) {
	host = plainHost(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return loopback, true
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return "", false
	}
	return kindOf(address), true
}

// plainHost returns a host in ASCII and lower case, as net/http sends it, without a dot at its end; "" if it is no host.
func plainHost(host string) string {
	host = strings.TrimSuffix(host, ".")
	if strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) {
		var err error
		if host, err = idna.Lookup.ToASCII(host); err != nil {
			return ""
		}
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// isName reports whether a host that is not an IP address is a name. Hosts that end in a number are not: some resolvers
// take 127.1 or 0x7f000001 for addresses.
func isName(host string) bool {
	host = plainHost(host)
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok && strings.Trim(hex, "0123456789abcdef") == "" {
		return false
	}
	return strings.Trim(last, "0123456789") != ""
}
