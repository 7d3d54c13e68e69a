package webclient

import (
	"net/url"
	"strings"
)

// Well-known paths of an authorization server's metadata.
const (
	oauthWellKnown  = "/.well-known/oauth-authorization-server"
	openIDWellKnown = "/.well-known/openid-configuration"
)

// MetadataOf returns where the metadata of an authorization server may be (RFC 8414 and OpenID Connect Discovery), in the order of the
// MCP specification.
func MetadataOf(issuer *url.URL) []string {
	root, path := Origin(issuer), strings.TrimSuffix(issuer.EscapedPath(), "/")
	if path == "" {
		return []string{root + oauthWellKnown, root + openIDWellKnown}
	}
	return []string{root + oauthWellKnown + path, root + openIDWellKnown + path, root + path + openIDWellKnown}
}

// Origin returns the beginning of an address up to its path, without the default port.
func Origin(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch scheme {
	case "https":
		host = strings.TrimSuffix(host, ":443")
	case "http":
		host = strings.TrimSuffix(host, ":80")
	}
	return scheme + "://" + host
}
