package passthrough

import (
	"net/url"
	"strings"
)

// What begins the URIs that we make. A server's own that begins so is renamed like one that
// another server has, so that such a URI always says where it leads. Clients show only resources
// with the scheme ui (MCP Apps), which therefore keep it.
const (
	scheme   = "workbench://"
	uiScheme = "ui://"
	uiPrefix = uiScheme + "workbench/"
)

// isOurs reports whether a URI is one that we make.
func isOurs(uri string) bool {
	return strings.HasPrefix(uri, scheme) || strings.HasPrefix(uri, uiPrefix)
}

// origin is a server, by its names: a reload may make another object of it.
type origin struct{ toolbox, server string }

// rename returns the URI under which the client knows a server's URI that it cannot have
// as it is.
func (o origin) rename(uri string) string {
	if strings.HasPrefix(uri, skillScheme) {
		return o.renameTemplate(uri)
	}
	return o.prefix(uri) + escape(uri)
}

// renameTemplate is rename for a template of URIs, and for what it expands to. The text is not
// encoded, since that of variables would no longer be told from the rest after it was filled in;
// an empty part says so. So it is for the files of skills, which refer to each other by paths.
func (o origin) renameTemplate(text string) string { return o.prefix(text) + "/" + text }

// prefix is what leads to the server of a URI that is renamed.
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

// unescape undoes escape; what is not encoded rightly is nothing.
func unescape(text string) string {
	text, err := url.PathUnescape(text)
	if err != nil {
		return ""
	}
	return text
}

// escape encodes everything but what RFC 3986 calls unreserved: what programs that
// normalise URIs leave alone.
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

// claims say which server a URI leads to where several have it. A URI stays with the one
// that it was given to first, whatever comes and goes.
type claims struct {
	ofTemplates bool // and not of URIs
	owners      map[string]origin
	renamed     map[origin]map[string]struct{} // URIs that a server has under another name
}

// maxClaims is how many URIs are remembered of a client's servers.
const maxClaims = 200_000

// give returns the URI under which the client knows the server's.
func (c *claims) give(o origin, uri string) string {
	if c.owners == nil {
		c.owners, c.renamed = make(map[string]origin), make(map[origin]map[string]struct{})
	}
	if !isOurs(uri) {
		owner, taken := c.owners[uri]
		if !taken {
			c.owners[uri] = o
		}
		if !taken || owner == o {
			return uri
		}
	}
	if c.renamed[o] == nil {
		c.renamed[o] = make(map[string]struct{})
	}
	c.renamed[o][uri] = struct{}{}
	return c.rename(o, uri)
}

func (c *claims) rename(o origin, uri string) string {
	if c.ofTemplates {
		return o.renameTemplate(uri)
	}
	return o.rename(uri)
}

// known returns the URI under which the client knows the server's, and whether that is
// another.
func (c *claims) known(o origin, uri string) (as string, renamed bool) {
	if _, renamed = c.renamed[o][uri]; renamed {
		return c.rename(o, uri), true
	}
	return uri, false
}

// isFull reports whether so much is remembered that it has to be forgotten.
func (c *claims) isFull() bool {
	n := len(c.owners)
	for _, renamed := range c.renamed {
		n += len(renamed)
	}
	return n > maxClaims
}
