package httpauth

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// host is the part of a Host header before the port. Exactly one field is set.
type host struct {
	name string // in lower case
	addr netip.Addr
}

// parseHost splits a Host header. It accepts only what an honest client sends: a name or an address, in brackets for
// IPv6, and an optional port.
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

// isName accepts valid DNS names. A name with a dot at the end means the same in DNS, but is a different site to a
// browser.
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
	// Programs disagree on whether a text that ends in a number is an address or a name.
	last := text[strings.LastIndexByte(text, '.')+1:]
	return strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(lower(last), "0x")
}

// lower converts only ASCII letters to lower case: in Unicode, the Kelvin sign is an upper-case K.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// isLoopback excludes IPv4 addresses in IPv6 notation: no honest client uses them.
func (h host) isLoopback() bool {
	return h.name == "localhost" || h.addr.Is4() && h.addr.IsLoopback() || h.addr == netip.IPv6Loopback()
}

// permits reports whether a request may use this host. With DNS rebinding, a page of another site makes its own name
// resolve to this machine, and that name is in the header. It cannot do that with an address, or with localhost on a
// connection over the loopback device.
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

// localAddress returns the address that the client connected to.
func localAddress(local net.Addr) (netip.Addr, bool) {
	tcp, ok := local.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}, false
	}
	return tcp.AddrPort().Addr().Unmap().WithZone(""), true
}

// checkHost returns why the host of a request is refused, or "".
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
