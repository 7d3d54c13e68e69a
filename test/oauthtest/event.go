package oauthtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"time"
)

// The kinds of requests. A fault of a kind is for all requests of it.
const (
	ResourceMetadata = "resource-metadata"
	Metadata         = "metadata"
	Register         = "register"
	Authorize        = "authorize"
	Token            = "token"    // a code for tokens
	Refresh          = "refresh"  // a refresh token for tokens
	Machine          = "machine"  // client_credentials and jwt-bearer
	Exchange         = "exchange" // token exchange
	Revoke           = "revoke"
	Introspect       = "introspect"
	Keys             = "keys"  // the JWK set
	MCP              = "mcp"   // any request to the MCP server
	Other            = "other" // a path that is nothing
)

// Event is one request that the provider got, and what became of it.
type Event struct {
	Number    int        `json:"number"` // from 1, in the order in which they began
	Kind      string     `json:"kind"`
	Verb      string     `json:"verb"` // of HTTP
	Path      string     `json:"path"`
	Issuer    string     `json:"issuer,omitempty"` // of the authorization server that it came to
	Client    string     `json:"client,omitempty"`
	Grant     string     `json:"grant,omitempty"`
	Auth      string     `json:"auth,omitempty"`   // how the client or the caller authenticated itself
	Method    string     `json:"method,omitempty"` // of MCP
	Tool      string     `json:"tool,omitempty"`
	Form      url.Values `json:"form,omitempty"`    // query and form, with hashes instead of secrets
	Access    string     `json:"access,omitempty"`  // hash of the access token that came
	Refresh   string     `json:"refresh,omitempty"` // hash of the refresh token that came
	NewAccess string     `json:"newAccess,omitempty"`
	NewFresh  string     `json:"newRefresh,omitempty"`
	Login     string     `json:"login,omitempty"` // the login that the tokens are of: all tokens of one code share it
	Status    int        `json:"status"`          // 0: the connection was cut; for the MCP server: 200 if it was let in
	Error     string     `json:"error,omitempty"` // code of OAuth
	// Underway says how many refreshes of the same login had begun and not ended when this one began.
	Underway int `json:"underway,omitempty"`
	// Gone says that the client had closed the connection before it was answered.
	Gone  bool      `json:"gone,omitempty"`
	Begun time.Time `json:"begun"`
	Ended time.Time `json:"ended"`
}

// Hash is how the log names a token.
func Hash(token string) string {
	if token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:6])
}

// secretFields are logged as hashes.
var secretFields = []string{"code", "code_verifier", "client_secret", "refresh_token", "token", "assertion", "subject_token", "client_assertion"}

func (e *Event) setForm(form url.Values) {
	e.Form = make(url.Values, len(form))
	for name, values := range form {
		if slices.Contains(secretFields, name) {
			values = []string{Hash(values[0])}
		}
		e.Form[name] = values
	}
}

// begin numbers a request.
func (p *Provider) begin(event *Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun++
	event.Number, event.Begun = p.begun, time.Now()
}

// end keeps a request in the log.
func (p *Provider) end(event *Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	event.Ended = time.Now()
	p.events = append(p.events, *event)
	if p.options.Log != nil {
		line, _ := json.Marshal(event)                 // of strings and numbers
		_, _ = p.options.Log.Write(append(line, '\n')) // a test that needs the log misses the line
	}
}

// Events are all requests that have ended, of the kinds, or of all if there are none.
func (p *Provider) Events(kinds ...string) []Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []Event
	for _, event := range p.events {
		if len(kinds) == 0 || slices.Contains(kinds, event.Kind) {
			found = append(found, event)
		}
	}
	return found
}

// Count is how many requests of a kind have ended.
func (p *Provider) Count(kind string) int { return len(p.Events(kind)) }

// Last is the last request of a kind that has ended; the zero value if there is none.
func (p *Provider) Last(kind string) Event {
	if found := p.Events(kind); len(found) > 0 {
		return found[len(found)-1]
	}
	return Event{}
}
