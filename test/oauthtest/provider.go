// Package oauthtest has an authorization server and a protected MCP server on this machine, which behave by the RFCs
// or as oddly as told, and the person who logs in there, for tests.
//
// Nothing in it uses the product's own code, so that a mistake there cannot hide.
package oauthtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Provider is a protected MCP server and the two authorization servers that it may name; the second one is for tests
// of a change between them. Everything is at loopback addresses.
type Provider struct {
	resource net.Listener
	path     string // of the MCP server
	first    *authority
	other    *authority
	servers  []*http.Server
	network  string   // Options.Network
	secured  *secured // nil: plain http
	work     sync.WaitGroup

	mu      sync.Mutex
	options Options
	begun   int
	events  []Event
	faulted map[string]int // requests of each kind so far
	holds   map[string]chan struct{}
	held    map[string]chan struct{}
	tokens  map[string]*grant // access and refresh tokens, by themselves
	logins  map[string]*login
	nonce   int
	proofs  map[string]bool // ids of the DPoP proofs that were seen
	made    int             // codes, tokens and clients
	key     *mintingKey
	minted  map[string]map[string]any // claims of opaque tokens of Mint, by themselves
}

// Start runs a provider until the end of the test.
func Start(t testing.TB, options Options) *Provider {
	t.Helper()
	p, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// New runs a provider until it is closed.
func New(options Options) (*Provider, error) {
	server, err := options.server()
	if err != nil {
		return nil, err
	}
	p := &Provider{
		options: options, network: options.Network, path: "/mcp",
		faulted: make(map[string]int), holds: make(map[string]chan struct{}), held: make(map[string]chan struct{}),
		tokens: make(map[string]*grant), logins: make(map[string]*login), proofs: make(map[string]bool), minted: make(map[string]map[string]any),
	}
	if p.key, err = newSigningKey("key-1"); err != nil {
		return nil, err
	}
	if options.Transport == "sse" {
		p.path = "/sse"
	}
	var errs []error
	listen := func() net.Listener {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		errs = append(errs, err)
		return listener
	}
	p.resource = listen()
	p.first = newAuthority(p, listen())
	p.other = newAuthority(p, listen())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if p.network != "" {
		if err := p.secure(); err != nil {
			return nil, err
		}
	}
	for _, one := range []*authority{p.first, p.other} {
		server := &http.Server{Handler: one, ErrorLog: log.New(io.Discard, "", 0)}
		p.servers = append(p.servers, server)
		p.work.Go(func() { _ = server.Serve(one.listener) }) // until it is closed
	}
	behind := *server
	behind.Gate = p.gate
	if options.ServerLog != nil {
		behind.Log = options.ServerLog
	}
	serve := behind.ServeStreamable
	if options.Transport == "sse" {
		serve = behind.ServeSSE
	}
	p.work.Go(func() { _ = serve(p.resource) }) // until it is closed
	return p, nil
}

// Close ends the provider and all its connections.
func (p *Provider) Close() {
	p.mu.Lock()
	for kind, hold := range p.holds {
		close(hold)
		delete(p.holds, kind)
	}
	p.mu.Unlock()
	_ = p.resource.Close()
	for _, server := range p.servers {
		_ = server.Close()
	}
	p.work.Wait()
	if p.secured != nil {
		p.secured.tunnels.Wait()
	}
}

// URL is the address of the MCP server.
func (p *Provider) URL() string { return p.origin() + p.path }

func (p *Provider) origin() string { return p.originOf(p.resource, resourceHost) }

// Issuer is the identifier of the authorization server that is used now, and OtherIssuer that of the second one.
func (p *Provider) Issuer() string {
	if p.now().Migrated {
		return p.other.base()
	}
	return p.first.base()
}

// OtherIssuer is the identifier of the second authorization server.
func (p *Provider) OtherIssuer() string { return p.other.base() }

// now are the options of this moment.
func (p *Provider) now() Options {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.options
}

// Change changes how the provider behaves from now on. Faults begin to count anew.
func (p *Provider) Change(change func(*Options)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.options)
	clear(p.faulted)
}

// ChangeJSON is Change with the members of a JSON object; what it does not have stays.
func (p *Provider) ChangeJSON(text []byte) error {
	next := p.now()
	next.Faults, next.MetadataSet, next.ToolScopes, next.MethodScopes = nil, nil, nil, nil // which Decode would merge into
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&next); err != nil {
		return err
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal(text, &named); err != nil {
		return err
	}
	p.Change(func(options *Options) {
		before := *options
		*options = next
		for name, keep := range map[string]func(){
			"faults":       func() { options.Faults = before.Faults },
			"metadataSet":  func() { options.MetadataSet = before.MetadataSet },
			"toolScopes":   func() { options.ToolScopes = before.ToolScopes },
			"methodScopes": func() { options.MethodScopes = before.MethodScopes },
		} {
			if _, ok := named[name]; !ok {
				keep()
			}
		}
	})
	return nil
}

// Parse reads options from JSON.
func Parse(text []byte) (Options, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var options Options
	err := decoder.Decode(&options)
	return options, err
}

func (p *Provider) clock() time.Time {
	if now := p.options.Now; now != nil {
		return now()
	}
	return time.Now()
}

// ExpireAccess makes all access tokens that were issued expire now, without anybody being told.
func (p *Provider) ExpireAccess() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, token := range p.tokens {
		if !token.refresh {
			token.dead = "expired"
		}
	}
}

// EndLogins ends all logins, as an administrator does: neither access nor refresh tokens are good any more.
func (p *Provider) EndLogins() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, token := range p.tokens {
		token.dead = "ended"
	}
}

// ForgetClients makes all registrations unknown, as servers do that keep them for some time only.
func (p *Provider) ForgetClients() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.first.clients)
	clear(p.other.clients)
}

// NewNonce makes the nonces of DPoP proofs invalid that were given out.
func (p *Provider) NewNonce() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nonce++
}
