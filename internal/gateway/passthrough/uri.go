package passthrough

import (
	"net/url"
	"strings"
)

// Prefixes of the URIs that we make. A server's own URI with such a prefix is renamed like one that another server has,
// so that the prefix always names the server. Clients show only resources with the scheme ui (MCP Apps), which therefore
// keep it.
const (
	scheme   = "workbench://"
	uiScheme = "ui://"
	uiPrefix = uiScheme + "workbench/"
)

// isOwnURI reports whether a URI is one that we make.
func isOwnURI(uri string) bool {
	return strings.HasPrefix(uri, scheme) || strings.HasPrefix(uri, uiPrefix)
}

// origin identifies a server by its names, since a reload may replace the *fleet.Server.
type origin struct{ toolbox, server string }

// rename returns the URI under which the client knows a server's URI that is taken.
func (o origin) rename(uri string) string {
	if strings.HasPrefix(uri, skillScheme) {
		return o.renameTemplate(uri)
	}
	return o.prefix(uri) + escape(uri)
}

// renameTemplate is rename for a URI template and its expansions. The text is not encoded, since the variables could not
// be told from the rest once they are filled in; an empty path segment says so. The files of skills are renamed in the
// same way, since they refer to each other by relative paths.
func (o origin) renameTemplate(text string) string { return o.prefix(text) + "/" + text }

// prefix returns the part of a renamed URI that names the server.
func (o origin) prefix(uri string) string {
	begin := scheme
	if strings.HasPrefix(uri, uiScheme) {
		begin = uiPrefix
	}
	return begin + escape(o.toolbox) + "/" + escape(o.server) + "/"
}

// parseRenamed undoes rename and renameTemplate.
func parseRenamed(renamed string) (o origin, uri string, ok bool) {
	rest, ok := strings.CutPrefix(renamed, scheme)
	if !ok {
		rest, ok = strings.CutPrefix(renamed, uiPrefix)
	}
	toolbox, rest, _ := strings.Cut(rest, "/")
	server, rest, _ := strings.Cut(rest, "/")
	o = origin{unescape(toolbox), unescape(server)}
	if plain, isPlain := strings.CutPrefix(rest, "/"); isPlain {
		uri = plain
	} else if !strings.Contains(rest, "/") {
		uri = unescape(rest)
	}
	if !ok || o.toolbox == "" || o.server == "" || uri == "" {
		return origin{}, "", false
	}
	return o, uri, true
}

// unescape undoes escape; "" if the encoding is invalid.
func unescape(text string) string {
	text, err := url.PathUnescape(text)
	if err != nil {
		return ""
	}
	return text
}

// escape encodes everything but the unreserved characters of RFC 3986, which programs that normalise URIs leave alone.
func escape(text string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			out.WriteByte(c)
		default:
			out.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return out.String()
}

// uriNames are the URIs under which a client knows those of its servers. A URI belongs to the first server that listed it,
// whatever servers come and go; others are renamed.
type uriNames struct {
	isTemplates bool // they are URI templates
	owners      map[string]origin
	renamed     map[origin]map[string]struct{} // the servers' own URIs that are renamed
}

// maxURINames is how many URIs of its servers a client can have.
const maxURINames = 200_000

// assign returns the URI under which the client knows the server's from now on.
func (n *uriNames) assign(o origin, uri string) string {
	if n.owners == nil {
		n.owners, n.renamed = make(map[string]origin), make(map[origin]map[string]struct{})
	}
	if !isOwnURI(uri) {
		owner, taken := n.owners[uri]
		if !taken {
			n.owners[uri] = o
		}
		if !taken || owner == o {
			return uri
		}
	}
	if n.renamed[o] == nil {
		n.renamed[o] = make(map[string]struct{})
	}
	n.renamed[o][uri] = struct{}{}
	return n.rename(o, uri)
}

func (n *uriNames) rename(o origin, uri string) string {
	if n.isTemplates {
		return o.renameTemplate(uri)
	}
	return o.rename(uri)
}

// lookup returns the URI under which the client knows the server's, and whether it is renamed.
func (n *uriNames) lookup(o origin, uri string) (clientURI string, renamed bool) {
	if _, renamed = n.renamed[o][uri]; renamed {
		return n.rename(o, uri), true
	}
	return uri, false
}

// isFull reports whether the limit is reached.
func (n *uriNames) isFull() bool {
	count := len(n.owners)
	for _, renamed := range n.renamed {
		count += len(renamed)
	}
	return count > maxURINames
}
