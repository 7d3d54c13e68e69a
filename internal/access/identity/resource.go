package identity

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

const (
	metadataPath = "/.well-known/oauth-protected-resource" // RFC 9728
	mcpPath      = "/mcp"
	// maxSegment is the length of a toolbox's name in a path, as sent; a longer one is no resource of its own.
	maxSegment = 300
)

// resource is the workbench as its clients address it: a resource for all, one for /mcp, and one for each toolbox.
type resource struct {
	host   string // without a port, and without brackets
	origin string // scheme and host
	prefix string // of the path, before /mcp; mostly ""
	root   string // origin and prefix
	mcp    string // root and /mcp
}

func parseResource(address string) (resource, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Opaque != "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(address, "?#") {
		return resource{}, invalid("'http.oauth.resource' must be the address of /mcp as clients know it, such as https://mcp.example.com/mcp")
	}
	prefix := strings.TrimSuffix(strings.TrimRight(u.EscapedPath(), "/"), mcpPath)
	r := resource{host: u.Hostname(), origin: webclient.Origin(u), prefix: strings.TrimRight(prefix, "/")}
	r.root = r.origin + r.prefix
	r.mcp = r.root + mcpPath
	return r, nil
}

// toolbox returns the toolbox of a path as it was sent, the way that requests are routed: by its one segment after /mcp.
func (*resource) toolbox(path string) string {
	segment, ok := strings.CutPrefix(path, mcpPath+"/")
	if !ok || len(segment) > maxSegment || strings.Contains(segment, "/") {
		return ""
	}
	name, err := url.PathUnescape(segment)
	if err != nil {
		return ""
	}
	return name
}

// accepts reports whether a token for an audience may be used at a path. Without an audience in the configuration, a token is for
// the resource of the path or one above it.
func (r *resource) accepts(configured, audience []string, path string) bool {
	if configured != nil {
		return intersect(configured, audience)
	}
	toolbox := ""
	return slices.ContainsFunc(audience, func(one string) bool {
		if one = strings.TrimSuffix(one, "/"); one == r.mcp || one == r.root {
			return true
		}
		segment, ok := strings.CutPrefix(one, r.mcp+"/")
		if !ok {
			return false
		}
		if toolbox == "" {
			toolbox = r.toolbox(path)
		}
		name, err := url.PathUnescape(segment)
		return err == nil && name != "" && name == toolbox && !strings.Contains(segment, "/")
	})
}

// mayAccept reports whether a token for an audience may be used at any path.
func (r *resource) mayAccept(configured, audience []string) bool {
	if configured != nil {
		return intersect(configured, audience)
	}
	return slices.ContainsFunc(audience, func(one string) bool {
		one = strings.TrimSuffix(one, "/")
		return one == r.mcp || one == r.root || strings.HasPrefix(one, r.mcp+"/")
	})
}

func intersect(a, b []string) bool {
	return slices.ContainsFunc(b, func(one string) bool { return slices.Contains(a, one) })
}

// identifierOf returns the path of the resource that a path belongs to, without the prefix. All that is not about one toolbox
// belongs to /mcp.
func (r *resource) identifierOf(path string) string {
	if toolbox := r.toolbox(path); toolbox != "" {
		return mcpPath + "/" + url.PathEscape(toolbox)
	}
	return mcpPath
}

// metadataOf returns the address of the metadata for a path.
func (r *resource) metadataOf(path string) string {
	return r.origin + metadataPath + r.prefix + r.identifierOf(path)
}

// described returns the resource that a path of metadata describes; ok is false if it is none.
func (r *resource) described(path string) (identifier string, ok bool) {
	rest, ok := strings.CutPrefix(path, metadataPath)
	if !ok {
		return "", false
	}
	if r.prefix != "" && (rest == r.prefix || strings.HasPrefix(rest, r.prefix+"/")) { // a proxy may have removed it
		rest = rest[len(r.prefix):]
	}
	switch rest = strings.TrimSuffix(rest, "/"); {
	case rest == "":
		return r.root, true
	case rest == mcpPath:
		return r.mcp, true
	case r.toolbox(rest) != "":
		return r.root + r.identifierOf(rest), true
	}
	return "", false
}

// document is the metadata of a resource (RFC 9728, section 2).
type document struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	ScopesSupported      []string `json:"scopes_supported,omitempty"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	ResourceName         string   `json:"resource_name"`
}

// Host returns the host of the resource, without a port: the one in the requests of clients.
func (v *Verifier) Host() string { return v.resource.host }

// IsMetadata reports whether a path, as sent, is one of Metadata. They need no token, and are for pages of any origin.
func (v *Verifier) IsMetadata(path string) bool {
	rest, ok := strings.CutPrefix(path, metadataPath)
	return ok && (rest == "" || rest[0] == '/')
}

// Metadata returns the handler of the metadata of all resources. Toolboxes that do not exist have one as well: nobody learns from it
// which do.
func (v *Verifier) Metadata() http.Handler { return http.HandlerFunc(v.serveMetadata) }

func (v *Verifier) serveMetadata(w http.ResponseWriter, request *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("X-Content-Type-Options", "nosniff")
	identifier, ok := v.resource.described(request.URL.EscapedPath())
	switch {
	case request.Method == http.MethodOptions:
		header.Set("Access-Control-Allow-Methods", "GET, HEAD")
		header.Set("Access-Control-Allow-Headers", "*") // such as MCP-Protocol-Version
		header.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
		return
	case request.Method != http.MethodGet && request.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case !ok:
		header.Set("Cache-Control", "no-store")
		http.NotFound(w, request)
		return
	}
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "max-age=300")
	_ = json.NewEncoder(w).Encode(document{ // the client may be gone
		Resource: identifier, AuthorizationServers: []string{v.settings.Issuer}, ScopesSupported: v.rules.Load().scopes,
		BearerMethods: []string{"header"}, ResourceName: "MCP Workbench",
	})
}
