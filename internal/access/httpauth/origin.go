package httpauth

import (
	"net/http"
	"slices"
	"strings"
)

const (
	corsMethods = "POST, GET, DELETE"
	corsHeaders = "Content-Type, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID, Mcp-Method, Mcp-Name"
	corsExpose  = "Mcp-Session-Id, WWW-Authenticate, Retry-After"
	corsMaxAge  = "600"

	// The names of headers with this prefix come from tool schemas.
	paramPrefix     = "mcp-param-"
	maxParamHeaders = 64 // Mcp-Param headers that a page may send; further ones are not allowed
)

// checkOrigin returns why the origin of a request is refused, or "". The host must have been checked before. For an
// allowed foreign origin, it returns that origin.
func (r *rules) checkOrigin(request *http.Request) (foreign, reason string) {
	origins := request.Header["Origin"]
	if len(origins) == 0 {
		// Pages load images and follow links without an Origin, but with Sec-Fetch-Site.
		for _, site := range request.Header["Sec-Fetch-Site"] {
			if site != "same-origin" && site != "none" {
				return "", "a page of another site sends it"
			}
		}
		return "", ""
	}
	switch origin := origins[0]; {
	case len(origins) > 1:
		return "", "two origins are named"
	case origin == ownOrigin(request):
		return "", ""
	case slices.Contains(r.origins, origin):
		return origin, ""
	}
	return "", "the origin is not allowed"
}

// ownOrigin returns the origin of pages from the same host, as browsers write it.
func ownOrigin(request *http.Request) string {
	scheme, standard := "http", ":80"
	if request.TLS != nil {
		scheme, standard = "https", ":443"
	}
	return scheme + "://" + strings.TrimSuffix(lower(request.Host), standard)
}

// allowForeign sets the headers that let the page read the response.
func allowForeign(header http.Header, origin string) {
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", corsExpose)
	header.Add("Vary", "Origin")
}

// isPreflight reports whether a request is a CORS preflight, which browsers send without a token.
func isPreflight(request *http.Request) bool {
	return request.Method == http.MethodOptions && request.Header.Get("Access-Control-Request-Method") != ""
}

// answerPreflight responds with what an allowed page may send.
func answerPreflight(w http.ResponseWriter, request *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", corsMethods)
	header.Set("Access-Control-Allow-Headers", corsHeaders+paramHeaders(request))
	header.Set("Access-Control-Max-Age", corsMaxAge)
	header.Add("Vary", "Access-Control-Request-Headers")
	w.WriteHeader(http.StatusNoContent)
}

// paramHeaders returns the requested headers for arguments, which are allowed.
func paramHeaders(request *http.Request) string {
	var allowed strings.Builder
	count := 0
	for name := range strings.SplitSeq(request.Header.Get("Access-Control-Request-Headers"), ",") {
		name = lower(strings.TrimSpace(name))
		if strings.HasPrefix(name, paramPrefix) && isName(name) && count < maxParamHeaders {
			allowed.WriteString(", " + name)
			count++
		}
	}
	return allowed.String()
}
