// Package identity verifies the access tokens of people who sign in at an identity provider, and describes the workbench to
// clients as a resource of that provider.
package identity

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Person is who sent a request, by a token of the identity provider.
type Person struct {
	Issuer, Subject string   // together who the person is; the subject holds nothing that cannot be seen
	ID              string   // of the two: unique, never reused, and beginning with PersonPrefix
	Name            string   // for people to read only: the provider may change it, and others may choose the same
	Toolboxes       []string // that the person may use, sorted and without repetition; nil: all; empty: none
	Scopes          []string // of the token
	Client          string   // the client id that the token was issued to; may be ""

	// Credential identifies the token and what it allows, without being usable as one.
	Credential string
	Expires    time.Time // of the token
}

// PersonPrefix begins the IDs of people, and no others.
const PersonPrefix = "person "

// Options configure a Verifier.
type Options struct {
	Settings config.HTTPOAuth
	Environ  []string               // names proxies and certificate authorities
	Version  string                 // of the workbench, for User-Agent
	Log      *slog.Logger           // nil: discard
	Secrets  func(values ...string) // is told what no log may show; may be nil
}

// Verifier verifies tokens of one identity provider. It is safe for concurrent use.
type Verifier struct {
	settings  config.HTTPOAuth
	resource  resource
	log       *slog.Logger
	work      *work
	provider  *provider
	questions *questions // to the introspection endpoint; nil: there is none
	tokens    *tokens
	rules     atomic.Pointer[rules]
}

// New returns a Verifier. It uses no network; what it needs of the provider is fetched by Run, and when a token comes first.
func New(options Options) (*Verifier, error) {
	settings := options.Settings
	where, err := parseResource(settings.Resource)
	if err != nil {
		return nil, err
	}
	log := options.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	guard, err := newGuard(options)
	if err != nil {
		return nil, err
	}
	if options.Secrets != nil {
		options.Secrets(secrets(settings)...)
	}
	v := &Verifier{settings: settings, resource: where, log: log, work: newWork(), tokens: newTokens()}
	v.provider = &provider{issuer: settings.Issuer, jwksURI: settings.JWKSURI, fetcher: guard, work: v.work, log: log}
	if settings.Introspection != nil {
		v.questions = newQuestions(*settings.Introspection, guard, v.provider, log)
	}
	v.rules.Store(newRules(settings))
	return v, nil
}

func secrets(settings config.HTTPOAuth) (values []string) {
	all := []string{settings.ClientSecret}
	if settings.Introspection != nil {
		all = append(all, settings.Introspection.ClientSecret)
	}
	for _, value := range all {
		if value != "" {
			values = append(values, value)
		}
	}
	return values
}

// Run fetches the provider's keys, and again until it has some. It returns when ctx has ended, and with it all that the verifier
// does in the background. Run is called once; a verifier that is not run fetches the keys with the first token.
func (v *Verifier) Run(ctx context.Context) {
	defer v.work.end()
	for pause := firstPause; v.provider.renew(ctx, true) != nil; pause = min(2*pause, longestPause) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
	<-ctx.Done()
}

// Configure takes over a changed configuration: the claim, the table of toolboxes, the audience and the scopes. The error says what else
// differs, which needs a restart; the former is in force all the same.
func (v *Verifier) Configure(settings config.HTTPOAuth) error {
	v.rules.Store(newRules(settings))
	var differs []string
	for _, key := range []struct {
		name     string
		old, now any
	}{
		{"resource", v.settings.Resource, settings.Resource},
		{"issuer", v.settings.Issuer, settings.Issuer},
		{"jwksUri", v.settings.JWKSURI, settings.JWKSURI},
		{"introspection", v.settings.Introspection, settings.Introspection},
		{"clientId", v.settings.ClientID, settings.ClientID},
		{"clientSecret", v.settings.ClientSecret, settings.ClientSecret},
	} {
		if !reflect.DeepEqual(key.old, key.now) {
			differs = append(differs, "http.oauth."+key.name)
		}
	}
	if len(differs) == 0 {
		return nil
	}
	return fmt.Errorf("%s changed, which takes effect when the workbench is started again", strings.Join(differs, ", "))
}

// Verify checks a token for a path as it was sent, such as /mcp/dev. The error is a *Refusal. With one of status 403 the person
// is known, who may use nothing. Slices of a Person must not be changed.
func (v *Verifier) Verify(ctx context.Context, token, path string) (Person, error) {
	found, refusal := v.known(ctx, token)
	if refusal != nil {
		return Person{}, refusal
	}
	rules := v.rules.Load()
	person, audience := found.under(rules)
	if !v.resource.accepts(rules.audience, audience, path) {
		refusal := refuse(reasonAudience)
		refusal.wasKnown = true // its client has to hear which resource it needs one for
		return Person{}, refusal
	}
	if person.Toolboxes != nil && len(person.Toolboxes) == 0 {
		return person, rules.unmapped()
	}
	return person, nil
}

// Holds reports whether a verified token still counts apart from its expiry: it is not known to be revoked, its key is not
// withdrawn, and the table still gives it what it gave. It is to be asked every second or so about the tokens of open streams: the
// provider is asked again about those that only it can tell of.
func (v *Verifier) Holds(credential string) bool {
	v.provider.use()
	now := time.Now()
	found := v.tokens.of(credential, now)
	if found == nil {
		return false
	}
	if set := v.provider.current(); found.key != nil && set != nil && !set.has(found.key) {
		return false
	}
	if found.isDue(now) {
		v.tokens.join(v, found.digest, found.token)
	}
	rules := v.rules.Load()
	person, audience := found.under(rules)
	return person.Credential == credential && v.resource.mayAccept(rules.audience, audience)
}

// Ready returns why nobody could be verified now; nil if people can.
func (v *Verifier) Ready() error {
	v.provider.use()
	err := v.provider.ready()
	if err != nil && v.questions != nil && v.questions.areAnswered() {
		return nil
	}
	return err
}

// Client returns an HTTP client for the provider's token endpoint, with the checks that all of its addresses get.
func (v *Verifier) Client() *http.Client { return v.provider.fetcher.Client() }

// invalid returns an error about a setting.
func invalid(format string, arguments ...any) error {
	return &toolbox.Error{Code: toolbox.ConfigInvalid, Message: fmt.Sprintf(format, arguments...), Hint: "Correct it in the configuration; docs/team.md has examples."}
}
