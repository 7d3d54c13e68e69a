package httpauth

import (
	"net/http"
	"slices"
	"strings"
)

const (
	corsMethods = "POST, GET, DELETE"
	corsHeaders = "Content-Type, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID, Mcp-Method, Mcp-Name"
	corsExpose  = "Mcp-Session-Id"
	corsMaxAge  = "600"

	// The names of headers with this prefix come from the tools' schemas.
	paramPrefix     = "mcp-param-"
	maxParamHeaders = 64 // Mcp-Param headers that a page may send
)

// checkOrigin says why a request is refused for the page it comes from, or "". The host
// must have been checked before. With a foreign origin that is allowed, it returns that.
func (r *rules) checkOrigin(request *http.Request) (foreign, reason string) {
	origins := request.Header["Origin"]
	if len(origins) == 0 {
		// Pages load images and follow links without an origin, but not unseen.
		for _, site := range request.Header["Sec-Fetch-Site"] {
			if site != "same-origin" && site != "none" {
				return "", "a page of another site asks"
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

// ownOrigin is how a browser names the origin of pages that come from where it asks.
func ownOrigin(request *http.Request) string {
	scheme, standard := "http", ":80"
	if request.TLS != nil {
		scheme, standard = "https", ":443"
	}
	return scheme + "://" + strings.TrimSuffix(lower(request.Host), standard)
}

// allowForeign tells the browser that the page may read the answer.
func allowForeign(header http.Header, origin string) {
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", corsExpose)
	header.Add("Vary", "Origin")
}

// isPreflight reports that a browser asks what a page may send. It does so without a token.
func isPreflight(request *http.Request) bool {
	return request.Method == http.MethodOptions && request.Header.Get("Access-Control-Request-Method") != ""
}

// answerPreflight says what an allowed page may send.
func answerPreflight(w http.ResponseWriter, request *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", corsMethods)
	header.Set("Access-Control-Allow-Headers", corsHeaders+paramHeaders(request))
	header.Set("Access-Control-Max-Age", corsMaxAge)
	header.Add("Vary", "Access-Control-Request-Headers")
	w.WriteHeader(http.StatusNoContent)
}

// paramHeaders repeats the headers for arguments that the browser asked for.
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
