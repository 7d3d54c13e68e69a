package httpauth

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// forwardedHeader lists the addresses that a request came by; every proxy adds the address that connected to it.
const forwardedHeader = "X-Forwarded-For"

// Proxies are the reverse proxies that are trusted to say where a request came from. Nil trusts none.
type Proxies struct{ trusted []netip.Prefix }

// NewProxies returns the proxies with these addresses.
func NewProxies(trusted []netip.Prefix) *Proxies { return &Proxies{trusted} }

// Wrap has next see the address of the client as RemoteAddr, for a request that a trusted proxy passed on. Headers of
// others are ignored. Host and origin are still those of the request, and its connection that of the proxy.
func (p *Proxies) Wrap(next http.Handler) http.Handler {
	if p == nil || len(p.trusted) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if client, ok := p.client(r); ok {
			r = r.WithContext(context.WithValue(r.Context(), peerKey{}, r.RemoteAddr)) // a copy
			r.RemoteAddr = net.JoinHostPort(client.String(), "0")                      // the port is not known
		}
		next.ServeHTTP(w, r)
	})
}

// shownAddress returns an address for the log: without the port if that is not known.
func shownAddress(remote string) string {
	if at, err := netip.ParseAddrPort(remote); err == nil && at.Port() == 0 {
		return at.Addr().String()
	}
	return remote
}

type peerKey struct{}

// Peer returns the address at the other end of a request's connection, which no header changes: that of the client, or of a proxy
// that is trusted.
func Peer(r *http.Request) string {
	if peer, ok := r.Context().Value(peerKey{}).(string); ok {
		return peer
	}
	return r.RemoteAddr
}

// client returns the address of the client: the last one in the header that is not a trusted proxy, since what stands
// before it is what the client says. What is no address ends the search at the proxy that passed it on. ok is false if
// the connection itself is the client's.
func (p *Proxies) client(r *http.Request) (client netip.Addr, ok bool) {
	if !p.connects(r.RemoteAddr) {
		return netip.Addr{}, false
	}
	rest := strings.Join(r.Header[forwardedHeader], ",")
	for more := rest != ""; more; {
		var last string
		at := strings.LastIndexByte(rest, ',')
		last, rest, more = rest[at+1:], rest[:max(at, 0)], at >= 0
		address, isAddress := forwardedAddress(strings.Trim(last, " \t"))
		if !isAddress {
			return client, ok
		}
		if client, ok = address, true; !p.trusts(address) {
			return client, ok
		}
	}
	return client, ok
}

// forwardedAddress parses an address as proxies write it, some with a port.
func forwardedAddress(text string) (netip.Addr, bool) {
	if inside, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inside, "]") {
		text = strings.TrimSuffix(inside, "]")
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		withPort, portErr := netip.ParseAddrPort(text)
		address, err = withPort.Addr(), portErr
	}
	return address.Unmap(), err == nil && address.Zone() == ""
}

func (p *Proxies) trusts(address netip.Addr) bool {
	if p == nil {
		return false
	}
	address = address.Unmap().WithZone("")
	for _, prefix := range p.trusted {
		if prefix.Contains(address) {
			return true
		}
	}
	return false
}

// connects reports whether a remote address is that of a trusted proxy.
func (p *Proxies) connects(remote string) bool {
	address, err := netip.ParseAddrPort(remote)
	return err == nil && p.trusts(address.Addr())
}
