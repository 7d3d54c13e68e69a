package httpauth

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// host is the part of a Host header before the port. Exactly one of the two is set.
type host struct {
	name string // in small letters
	addr netip.Addr
}

// parseHost takes a Host header apart. It accepts just what a client that means well
// sends: a name or an address, in brackets if it is one of IPv6, and at most a port.
func parseHost(text string) (h host, port string, ok bool) {
	if bracketed, isBracketed := strings.CutPrefix(text, "["); isBracketed {
		inside, after, closed := strings.Cut(bracketed, "]")
		addr, err := netip.ParseAddr(inside)
		if !closed || err != nil || !addr.Is6() || addr.Zone() != "" {
			return host{}, "", false
		}
		if after == "" {
			return host{addr: addr}, "", true
		}
		port, ok = strings.CutPrefix(after, ":")
		return host{addr: addr}, port, ok && isPort(port)
	}
	inside, port, hasPort := strings.Cut(text, ":")
	if hasPort && !isPort(port) {
		return host{}, "", false
	}
	if addr, err := netip.ParseAddr(inside); err == nil {
		return host{addr: addr}, port, true
	}
	return host{name: lower(inside)}, port, isName(inside)
}

func isPort(text string) bool {
	number, err := strconv.ParseUint(text, 10, 16)
	return err == nil && number > 0 && text[0] != '0'
}

// isName accepts the names that the DNS has. With a dot at the end a name means the same,
// but to a browser it is another site.
func isName(text string) bool {
	if len(text) > 253 {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		isOdd := func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
		}
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, isOdd) {
			return false
		}
	}
	// What ends in a number is read as an address by some, and as a name by others.
	last := text[strings.LastIndexByte(text, '.')+1:]
	return strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(lower(last), "0x")
}

// lower turns capitals of ASCII into small letters, and nothing else: to Unicode, the
// sign for Kelvin is a capital K.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// isLoopback leaves out addresses of IPv4 that are written as ones of IPv6: no client
// that means well names us so.
func (h host) isLoopback() bool {
	return h.name == "localhost" || h.addr.Is4() && h.addr.IsLoopback() || h.addr == netip.IPv6Loopback()
}

// permits says whether a request may call us by this name. A page of another site that made
// its own name lead here (DNS rebinding) shows that name; what cannot be made to lead
// here is an address, and localhost on a connection that came over the loopback device.
func (r *rules) permits(h host, local net.Addr) bool {
	if slices.Contains(r.hosts, h) {
		return true
	}
	own, ok := localAddress(local)
	switch {
	case !ok:
		return false
	case own.IsLoopback():
		return h.isLoopback()
	}
	return h.addr == own
}

// localAddress is the address that the client connected to.
func localAddress(local net.Addr) (netip.Addr, bool) {
	tcp, ok := local.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}, false
	}
	return tcp.AddrPort().Addr().Unmap().WithZone(""), true
}

// checkHost says why a request is refused for the host it names, or "".
func (r *rules) checkHost(request *http.Request) string {
	local, _ := request.Context().Value(http.LocalAddrContextKey).(net.Addr)
	named, _, ok := parseHost(request.Host)
	switch {
	case !ok:
		return "the Host header names no host"
	case request.URL.User != nil:
		return "the address holds a user"
	case slices.ContainsFunc(request.Header["Host"], func(other string) bool { return other != request.Host }):
		return "two hosts are named"
	case !r.permits(named, local):
		return "the host is not one of ours"
	}
	return ""
}
