package config

import (
	"net"
	"net/netip"
)

// Endpoint returns the URL at which clients reach the workbench according to the configuration. It knows of no proxy in
// front, unless the configuration says how clients know it.
func (h HTTP) Endpoint() string {
	if h.OAuth != nil {
		return h.OAuth.Resource
	}
	host, port, err := net.SplitHostPort(h.Listen)
	if err != nil {
		return "http://" + DefaultListen + "/mcp"
	}
	// A certificate names a host, and the unspecified address has no name.
	addr, err := netip.ParseAddr(host)
	isEverywhere := host == "" || err == nil && addr.IsUnspecified()
	switch {
	case len(h.AllowedHosts) > 0 && (isEverywhere || h.TLS.Cert != ""):
		host = h.AllowedHosts[0]
	case isEverywhere:
		host = "localhost"
	}
	if len(host) > 1 && host[0] == '[' {
		host = host[1 : len(host)-1] // JoinHostPort adds its own brackets
	}
	scheme := "http"
	if h.TLS.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/mcp"
}
