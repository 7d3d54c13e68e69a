// Package credentials keeps the logins of remote servers: one file per login, in a folder of the state folder that only
// this user can use. It knows nothing of the protocol that a login was made with.
//
// A file is replaced as a whole, under a lock that excludes other processes, and only by whoever knows its generation.
// A process that is killed at any point leaves the old file or the new one. With a key, all but the names of a login and
// its generation is encrypted.
package credentials

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
)

// Key names a login.
type Key struct {
	Server  string `json:"server"` // as CanonicalServer returns it
	Issuer  string `json:"issuer"` // the authorization server
	Account string `json:"account,omitempty"`
}

// Credential is what is kept of a login. Its secrets are not shown when it is formatted or logged.
type Credential struct {
	Key
	Generation uint64          `json:"generation"`         // set by the store: another one with each Save, also after a Delete; 0: not saved yet
	Login      string          `json:"login,omitempty"`    // random; another one with each login by a person that is not a step-up
	Resource   string          `json:"resource,omitempty"` // "": none is sent
	Metadata   json.RawMessage `json:"metadata,omitempty"` // of the authorization server
	Client     Client          `json:"client,omitzero"`
	Scopes     []string        `json:"scopes,omitempty"`  // requested so far
	Granted    []string        `json:"granted,omitempty"` // as the authorization server said
	Wanted     []string        `json:"wanted,omitempty"`  // that a refused call asked for
	Access     string          `json:"access,omitempty"`
	Kind       string          `json:"kind,omitempty"`     // Bearer or DPoP
	Expires    time.Time       `json:"expires,omitzero"`   // zero: unknown
	Refresh    string          `json:"refresh,omitempty"`  // "": none
	Issued     time.Time       `json:"issued,omitzero"`    // when the access token was obtained
	DPoPKey    []byte          `json:"dpopKey,omitempty"`  // PKCS #8; nil: none
	Refusals   int             `json:"refusals,omitempty"` // refreshes in a row of tokens that the server refused at first sight
	Dead       string          `json:"dead,omitempty"`     // why the login is of no use any more, for people; "": alive
	Refreshing *Mark           `json:"refreshing,omitempty"`
	Updated    time.Time       `json:"updated,omitzero"` // set by the store
}

// Client is the registration of the workbench at an authorization server.
type Client struct {
	ID            string    `json:"id,omitempty"`
	Secret        string    `json:"secret,omitempty"`
	Method        string    `json:"method,omitempty"` // of authentication at the token endpoint
	RedirectURI   string    `json:"redirectUri,omitempty"`
	Source        string    `json:"source,omitempty"`       // a constant Source…
	SecretExpires time.Time `json:"secretExpires,omitzero"` // zero: never
	Registered    time.Time `json:"registered,omitzero"`
}

// Where a client id comes from.
const (
	SourceConfigured = "configured"
	SourceDocument   = "document"
	SourceDynamic    = "dynamic"
)

// Mark says that a refresh was begun, and that its end is not on disk.
type Mark struct {
	Since   time.Time `json:"since"`
	Process int       `json:"process"`
}

// isText reports whether all strings that have to survive as they are can be written as JSON.
func (c *Credential) isText() bool {
	for _, text := range []string{c.Server, c.Issuer, c.Account, c.Login, c.Resource, c.Client.ID, c.Client.Secret, c.Access, c.Refresh} {
		if !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// String describes the login without its secrets.
func (c Credential) String() string {
	state := "alive"
	switch {
	case c.Dead != "":
		state = "dead"
	case c.Access == "" && c.Refresh == "":
		state = "without tokens"
	}
	return fmt.Sprintf("login %s, generation %d, %s", c.Key, c.Generation, state)
}

// Format writes the description for every verb, so that no verb shows the secrets.
func (c Credential) Format(state fmt.State, _ rune) { _, _ = fmt.Fprint(state, c.String()) }

// LogValue returns the description.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// String describes the registration without its secret.
func (c Client) String() string { return fmt.Sprintf("client %q (%s)", c.ID, c.Source) }

// Format writes the description for every verb, so that no verb shows the secret.
func (c Client) Format(state fmt.State, _ rune) { _, _ = fmt.Fprint(state, c.String()) }

// LogValue returns the description.
func (c Client) LogValue() slog.Value { return slog.StringValue(c.String()) }

// String describes the key. The query of an address may hold a secret, so that it is left out.
func (k Key) String() string {
	server, _, _ := strings.Cut(k.Server, "?")
	text := fmt.Sprintf("at %s for %s", hidden.Clean(k.Issuer), hidden.Clean(server))
	if k.Account != "" {
		text += fmt.Sprintf(" as %q", k.Account)
	}
	return text
}

// Format writes the description for every verb.
func (k Key) Format(state fmt.State, _ rune) { _, _ = fmt.Fprint(state, k.String()) }

// LogValue returns the description.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// CanonicalServer returns the one form of a server's address that logins are kept under: scheme and host in lower case,
// without default port, fragment, user and a path that is only a slash. Other paths and the query are kept as they are.
func CanonicalServer(rawURL string) (string, error) {
	address, err := url.Parse(rawURL)
	if err != nil || !utf8.ValidString(rawURL) { // the error shows the address, with what may be secret in it
		return "", errors.New("the address of the server cannot be parsed")
	}
	ports := map[string]string{"http": "80", "https": "443"}
	port, isWeb := ports[address.Scheme]
	if !isWeb || address.Hostname() == "" {
		return "", errors.New("the address of the server must begin with http:// or https:// and name a host")
	}
	address.Host = strings.ToLower(address.Host)
	address.Host = strings.TrimSuffix(strings.TrimSuffix(address.Host, ":"+port), ":")
	address.User, address.Fragment, address.RawFragment = nil, "", ""
	if address.Path == "/" {
		address.Path, address.RawPath = "", ""
	}
	if address.RawQuery == "" {
		address.ForceQuery = false
	}
	return address.String(), nil
}
