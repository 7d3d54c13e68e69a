package identity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

// Limits of what is fetched from the provider.
const (
	maxDocument  = 1 << 20          // size of a document of the provider, such as its keys; a larger one is not read
	fetchTime    = 15 * time.Second // for the metadata and the keys together; the keys known before stay in use
	refreshTime  = 10 * time.Minute // after which the keys are fetched again, in the background, when a token comes
	unknownPause = time.Minute      // between two fetches because of tokens whose key is unknown; until then they are refused
	retryPause   = 5 * time.Second  // after a fetch that failed; until then, what needs its result fails
	firstPause   = time.Second      // before the second fetch at the start; it doubles
	longestPause = time.Minute      // likewise, at most
)

// fetcher is what is used of webclient.Guard.
type fetcher interface {
	Get(ctx context.Context, address string) (*webclient.Document, error)
	Post(ctx context.Context, address string, header http.Header, body []byte, limit time.Duration) (*webclient.Document, error)
	Check(address string) error
	Client() *http.Client
}

func newGuard(options Options) (fetcher, error) {
	settings := options.Settings
	issuer, err := url.Parse(settings.Issuer)
	if err != nil || issuer.Host == "" || issuer.Scheme != "https" && issuer.Scheme != "http" {
		return nil, invalid("'http.oauth.issuer' must be the address of the identity provider, exactly as its tokens name it")
	}
	trusted := []string{settings.JWKSURI}
	if settings.Introspection != nil {
		trusted = append(trusted, settings.Introspection.Endpoint)
	}
	return webclient.NewGuard(issuer, webclient.Options{
		Environ: options.Environ, Log: options.Log, Version: options.Version, Largest: maxDocument, Trusted: trusted, TrustedBy: "http.oauth.jwksUri",
	})
}

// provider holds what is known of the identity provider: its metadata and its keys.
type provider struct {
	issuer  string
	jwksURI string // "": the metadata says it
	fetcher fetcher
	work    *work
	log     *slog.Logger

	set      atomic.Pointer[keySet] // the last one; nil: none yet
	nextLook atomic.Int64           // when a token is to cause the next fetch in the background; 0: now

	mu      sync.Mutex // guards the following fields
	fetch   *fetch     // that is under way
	unknown time.Time  // of the last fetch because of an unknown key
	tried   time.Time  // of the last fetch
	failure error      // of the last fetch
	known   *metadata  // nil: none yet
}

// fetch is one that may have several waiters.
type fetch struct {
	done chan struct{}
	err  error // after done
}

// current returns the last keys, however old.
func (p *provider) current() *keySet { return p.set.Load() }

// usable returns the last keys unless they are too old, or nil.
func (p *provider) usable() *keySet {
	set := p.set.Load()
	if set == nil || time.Since(set.fetched) >= staleTime {
		return nil
	}
	return set
}

// ready returns why no token can be verified.
func (p *provider) ready() error {
	if p.usable() != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil {
		return p.failure
	}
	return fmt.Errorf("the keys of %s are not fetched yet", p.issuer)
}

// use fetches the keys in the background if it is time.
func (p *provider) use() {
	now := time.Now()
	if p.set.Load() == nil || now.UnixNano() < p.nextLook.Load() { // Run and those who need them fetch the first ones
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.UnixNano() >= p.nextLook.Load() {
		p.begin(now)
	}
}

// renew fetches the keys, or waits for a fetch that is under way. Soon after one that failed, it fails likewise.
func (p *provider) renew(ctx context.Context, anyway bool) error {
	p.mu.Lock()
	now := time.Now()
	if p.fetch == nil && p.failure != nil && now.Sub(p.tried) < retryPause && !anyway {
		defer p.mu.Unlock()
		return p.failure
	}
	fetch := p.begin(now)
	p.mu.Unlock()
	return fetch.wait(ctx)
}

// renewFor fetches the keys because those of a set did not do. It reports false if that was done too recently. The error is that
// of the last fetch.
func (p *provider) renewFor(ctx context.Context, set *keySet) (fetched bool, err error) {
	p.mu.Lock()
	if p.set.Load() != set { // by somebody else, meanwhile
		p.mu.Unlock()
		return true, nil
	}
	now := time.Now()
	if p.fetch == nil {
		if !p.unknown.IsZero() && now.Sub(p.unknown) < unknownPause {
			defer p.mu.Unlock()
			return false, p.failure
		}
		p.unknown = now
	}
	fetch := p.begin(now)
	p.mu.Unlock()
	err = fetch.wait(ctx)
	return err == nil, err
}

// begin starts a fetch unless there is one. The caller holds mu.
func (p *provider) begin(now time.Time) *fetch {
	if p.fetch != nil {
		return p.fetch
	}
	f := &fetch{done: make(chan struct{})}
	p.tried = now
	p.nextLook.Store(now.Add(retryPause).UnixNano())
	if !p.work.start(func(ctx context.Context) { p.run(ctx, f) }) {
		f.err = errors.New("the workbench ends")
		close(f.done)
		return f
	}
	p.fetch = f
	return f
}

func (f *fetch) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *provider) run(ctx context.Context, f *fetch) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	p.mu.Lock()
	known := p.known
	p.mu.Unlock()
	known, set, err := p.fetchAll(ctx, known)
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = known
	f.err = err
	if err == nil {
		p.set.Store(set)
		p.nextLook.Store(now.Add(refreshTime).UnixNano())
	} else {
		p.nextLook.Store(now.Add(retryPause).UnixNano())
	}
	p.report(err)
	p.failure, p.fetch, p.tried = err, nil, now
	close(f.done)
}

// report writes to the log when things change. The caller holds mu.
func (p *provider) report(err error) {
	switch {
	case err != nil && (p.failure == nil || p.failure.Error() != err.Error()) && p.work.ctx.Err() == nil:
		text := "could not fetch the keys of the identity provider; those known before stay in use for a day"
		if p.usable() == nil {
			text = "could not fetch the keys of the identity provider, and none are known: nobody can sign in until it answers"
		}
		p.log.Warn(text, "issuer", p.issuer, "reason", err)
	case err == nil && p.failure != nil: // at the level of the line that this one ends
		p.log.Warn("the identity provider is back: its keys were fetched", "issuer", p.issuer)
	}
}

// fetchAll fetches the metadata, if the keys' address is not configured, and the keys. If only the metadata cannot be had, what it
// said before is used.
func (p *provider) fetchAll(ctx context.Context, known *metadata) (*metadata, *keySet, error) {
	address := p.jwksURI
	if address == "" {
		fresh, _, err := p.discover(ctx)
		if err == nil {
			known = fresh
		} else if known == nil {
			return nil, nil, err
		}
		if address = known.JWKSURI; address == "" {
			return known, nil, problem("Set 'http.oauth.jwksUri' to the address of its keys.", "the metadata of %s has no 'jwks_uri'", p.issuer)
		}
	}
	set, err := p.fetchKeys(ctx, address)
	return known, set, err
}

func (p *provider) fetchKeys(ctx context.Context, address string) (*keySet, error) {
	document, err := p.fetcher.Get(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("the keys of %s cannot be fetched: %w", p.issuer, err)
	}
	if document.Status != http.StatusOK {
		return nil, fmt.Errorf("the keys of %s cannot be fetched: HTTP status %d from %s", p.issuer, document.Status, shown(address))
	}
	set, err := parseKeys(document.Body, time.Now())
	if err != nil {
		return nil, fmt.Errorf("the keys of %s at %s cannot be used: %w", p.issuer, shown(address), err)
	}
	return set, nil
}
