package cli

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// endpoint is the address at which clients reach a workbench that listens so, as far as
// the configuration tells: a proxy in front of it is not known.
func endpoint(h config.HTTP) string {
	host, port, err := net.SplitHostPort(h.Listen)
	if err != nil {
		return "http://" + config.DefaultListen + "/mcp"
	}
	// A certificate is made out to a name, and all addresses are none.
	addr, err := netip.ParseAddr(host)
	isEverywhere := host == "" || err == nil && addr.IsUnspecified()
	switch {
	case len(h.AllowedHosts) > 0 && (isEverywhere || h.TLS.Cert != ""):
		host = h.AllowedHosts[0]
	case isEverywhere:
		host = "localhost"
	}
	if len(host) > 1 && host[0] == '[' {
		host = host[1 : len(host)-1] // JoinHostPort has its own brackets
	}
	scheme := "http"
	if h.TLS.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/mcp"
}

// httpSnippet is what to paste into the best-known clients.
func httpSnippet(url, token string) string {
	return fmt.Sprintf(`Claude Code:

  claude mcp add --scope user --transport http workbench %[1]s --header "Authorization: Bearer %[2]s"

VS Code, in mcp.json (command "MCP: Open User Configuration"):

  {"servers": {"workbench": {"type": "http", "url": "%[1]s",
    "headers": {"Authorization": "Bearer %[2]s"}}}}

Cursor, in ~/.cursor/mcp.json:

  {"mcpServers": {"workbench": {"url": "%[1]s",
    "headers": {"Authorization": "Bearer %[2]s"}}}}

For one toolbox alone, with its tools under their own names, the address is %[1]s/TOOLBOX.
`, url, token)
}
