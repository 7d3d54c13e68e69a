package oauthtest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// control lets another process steer the provider, at the origin of either authorization server:
//
//	POST /control/options    changes the options that the JSON object has
//	POST /control/ACTION     expire, end, forget, nonce or rotate: see Do
//	POST /control/mint       makes a token, which is the answer: see Mint
//	POST /control/revoke?sub makes the opaque tokens of a person inactive
//	GET  /control/log        all events
//	GET  /control/addresses  {"url", "issuer", "otherIssuer"}
func (p *Provider) control(w http.ResponseWriter, r *http.Request) {
	action := strings.TrimPrefix(r.URL.Path, "/control/")
	switch {
	case r.Method == http.MethodGet && action == "log":
		writeJSON(w, http.StatusOK, p.Events())
	case r.Method == http.MethodGet && action == "addresses":
		writeJSON(w, http.StatusOK, map[string]string{"url": p.URL(), "issuer": p.Issuer(), "otherIssuer": p.OtherIssuer()})
	case r.Method == http.MethodPost && action == "options":
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err == nil {
			err = p.ChangeJSON(body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	case r.Method == http.MethodPost && action == "mint":
		var mint Mint
		err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&mint)
		token := ""
		if err == nil {
			token, err = p.Mint(mint)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, token) // the client may be gone
	case r.Method == http.MethodPost && action == "revoke":
		p.RevokeMinted(r.URL.Query().Get("sub"))
	case r.Method == http.MethodPost && p.Do(action):
	default:
		http.Error(w, "unknown: "+r.Method+" "+r.URL.Path, http.StatusNotFound)
	}
}

// Do does what a name says: "expire" access tokens, "end" logins, "forget" clients, make a new "nonce", or "rotate" the key. It
// is false for other names.
func (p *Provider) Do(action string) bool {
	do := map[string]func(){"expire": p.ExpireAccess, "end": p.EndLogins, "forget": p.ForgetClients, "nonce": p.NewNonce, "rotate": p.Rotate}[action]
	if do == nil {
		return false
	}
	do()
	return true
}
