package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

// maxServers is how many authorization servers of a server are looked at; further ones are ignored.
const maxServers = 20

const (
	resourceTitle     = "protected resource metadata"
	resourceWellKnown = "/.well-known/oauth-protected-resource"
)

// resourceMetadata is what a server says about the tokens it accepts (RFC 9728).
type resourceMetadata struct {
	Resource             oneString `json:"resource"`
	AuthorizationServers []string  `json:"authorization_servers"`
	Scopes               []string  `json:"scopes_supported"`

	address string // where it was found
}

// oneString is a string, which some servers put into an array.
type oneString string

func (s *oneString) UnmarshalJSON(text []byte) error {
	var list []string
	if json.Unmarshal(text, &list) == nil {
		if len(list) > 1 {
			return errors.New("the array in 'resource' has several members, where a string is expected")
		}
		*s = oneString(strings.Join(list, ""))
		return nil
	}
	var one string
	if json.Unmarshal(text, &one) != nil {
		return errors.New("'resource' is not a string")
	}
	*s = oneString(one)
	return nil
}

// resourceCandidates returns where the metadata of a server may be, in the order of the specification. What the challenge
// names comes first.
func (d *discoverer) resourceCandidates(from challenge) []string {
	var candidates []string
	add := func(address string) {
		if address != "" && !slices.Contains(candidates, address) {
			candidates = append(candidates, address)
		}
	}
	add(from.resourceMetadata)
	root := webclient.Origin(d.server) + resourceWellKnown
	query := ""
	if d.server.RawQuery != "" {
		query = "?" + d.server.RawQuery
	}
	if path := d.server.EscapedPath(); path != "" && path != "/" {
		add(root + path + query)
		add(root + strings.TrimSuffix(path, "/") + query)
	}
	add(root)
	return candidates
}

// resource fetches the metadata of the server; nil if it has none.
func (d *discoverer) resource(ctx context.Context, from challenge) (*resourceMetadata, error) {
	for _, address := range d.resourceCandidates(from) {
		metadata := &resourceMetadata{address: address}
		found, err := d.document(ctx, resourceTitle, address, metadata)
		if err != nil {
			return nil, err
		}
		if found {
			return metadata, d.checkResource(metadata)
		}
	}
	return nil, nil
}

// checkResource checks that metadata is about the server.
func (d *discoverer) checkResource(m *resourceMetadata) error {
	const title = "The " + resourceTitle + " at %s "
	at := shown(m.address)
	switch named := string(m.Resource); {
	case d.settings.Resource != "" && (named == "" || named == d.settings.Resource): // the configuration pins it
	case named == "":
		return problem("Ask the server's operator to add it. Until then, set 'oauth.resource' to the server's address.",
			title+"has no 'resource', which RFC 9728 (section 2) requires", at)
	case !covers(named, d.server):
		return problem("Ask the server's operator to correct it. If you trust the server with tokens for that resource, set 'oauth.resource' to it.",
			title+"is for the resource '%s', not for the server at %s: 'resource' has to be the server's address, or a parent of it with the same origin (RFC 9728, section 3.3)",
			at, words(named), shown(d.server.String()))
	}
	if len(m.AuthorizationServers) == 0 {
		return problem("Ask the server's operator to add it. If you know the authorization server, set 'oauth.authorizationServer' to its issuer.",
			title+"names no authorization server: 'authorization_servers' is missing or empty, and the MCP specification requires at least one", at)
	}
	return nil
}

// covers reports whether a resource is a server's address, but for one slash at the end, or a parent of it: the same
// origin, and a path of whole segments.
func covers(resource string, server *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || r.User != nil || r.Opaque != "" || strings.Contains(resource, "#") || !webclient.SameOrigin(r, server) {
		return false
	}
	parent, path := strings.TrimSuffix(r.EscapedPath(), "/"), strings.TrimSuffix(server.EscapedPath(), "/")
	if strings.Contains(resource, "?") {
		return r.RawQuery != "" && r.RawQuery == server.RawQuery && parent == path
	}
	return parent == path || strings.HasPrefix(path, parent+"/")
}
