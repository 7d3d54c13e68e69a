package oauthtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// registration is a request of RFC 7591, and a client metadata document.
type registration struct {
	ClientID     string   `json:"client_id"`
	ClientName   string   `json:"client_name"`
	RedirectURIs []string `json:"redirect_uris"`
	Method       string   `json:"token_endpoint_auth_method"`
	GrantTypes   []string `json:"grant_types"`
}

func (a *authority) register(w http.ResponseWriter, r *http.Request) {
	event := &Event{Kind: Register, Issuer: a.base()}
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	event.Form = url.Values{"body": {string(body)}}
	a.provider.handle(w, r, event, func(w http.ResponseWriter) int {
		var request registration
		if err := json.Unmarshal(body, &request); err != nil || r.Method != http.MethodPost {
			return refusal("invalid_client_metadata", "a POST with JSON is wanted").write(w, event)
		}
		return a.registerClient(w, event, request)
	})
}

func (a *authority) registerClient(w http.ResponseWriter, event *Event, request registration) int {
	p := a.provider
	options := p.now()
	if len(request.RedirectURIs) == 0 {
		return refusal("invalid_redirect_uri", "redirect_uris is empty").write(w, event)
	}
	if options.AllowedNames != nil && !slices.Contains(options.AllowedNames, request.ClientName) {
		return (&oauthError{status: http.StatusForbidden, code: "invalid_client_metadata", description: "this client is not on the list"}).write(w, event)
	}
	p.mu.Lock()
	client := &Client{ID: p.next("client"), RedirectURIs: request.RedirectURIs, Name: request.ClientName, Method: request.Method}
	if options.RegisterMethod != "" {
		client.Method = options.RegisterMethod
	}
	if client.Method == "" {
		client.Method = "client_secret_basic" // the default of RFC 7591
	}
	answer := map[string]any{
		"client_id": client.ID, "client_id_issued_at": p.clock().Unix(), "client_name": client.Name,
		"redirect_uris": client.RedirectURIs, "grant_types": request.GrantTypes, "token_endpoint_auth_method": client.Method,
	}
	if options.SaysNone {
		client.Method, answer["token_endpoint_auth_method"] = "client_secret_post", "none"
	}
	if client.Method != "none" {
		client.Secret = p.next("secret")
		answer["client_secret"], answer["client_secret_expires_at"] = client.Secret, 0
		if options.SecretSeconds != 0 {
			client.SecretExpires = p.clock().Add(time.Duration(options.SecretSeconds) * time.Second)
			answer["client_secret_expires_at"] = client.SecretExpires.Unix()
		}
	}
	a.clients[client.ID] = client
	p.mu.Unlock()
	event.Client = client.ID
	return writeJSON(w, http.StatusCreated, answer)
}

// client finds a client by its id: one that is known, has registered, or whose id is the URL of its document.
func (a *authority) client(id string) *Client {
	p := a.provider
	options := p.now()
	for _, one := range options.Clients {
		if one.ID == id {
			if one.Method == "" && one.Secret != "" {
				one.Method = "client_secret_basic"
			}
			return &one
		}
	}
	p.mu.Lock()
	found := a.clients[id]
	p.mu.Unlock()
	if found != nil || !options.ClientDocuments || !strings.Contains(id, "://") {
		return found
	}
	text, ok := options.Documents[id]
	if !ok {
		var err error
		if text, err = fetch(id); err != nil {
			return nil
		}
	}
	var document registration
	if err := json.Unmarshal(text, &document); err != nil || document.ClientID != id {
		return nil
	}
	return &Client{ID: id, RedirectURIs: document.RedirectURIs, Method: "none", Name: document.ClientName}
}

func fetch(address string) ([]byte, error) {
	response, err := (&http.Client{Timeout: 5 * time.Second}).Get(address)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(io.LimitReader(response.Body, 1<<20))
}

// allows reports whether a client may be redirected to: what it registered, with any port for a loopback address.
func (c *Client) allows(redirect string, exact bool) bool {
	wanted, err := url.Parse(redirect)
	if err != nil {
		return false
	}
	for _, one := range c.RedirectURIs {
		if one == redirect {
			return true
		}
		known, err := url.Parse(one)
		if err != nil || exact {
			continue
		}
		if host := known.Hostname(); (host == "127.0.0.1" || host == "::1" || host == "localhost") &&
			known.Scheme == "http" && wanted.Scheme == "http" && wanted.Hostname() == host && wanted.Path == known.Path && wanted.RawQuery == known.RawQuery {
			return true
		}
	}
	return false
}
