package identity

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Limits of questions about tokens.
const (
	maxQuestions = 32              // questions to the provider at once about new tokens, and as many about others; further ones wait
	questionTime = 5 * time.Second // for an answer; then the token is not accepted
	awayPause    = time.Second     // after which a provider that could not be reached is asked again
	maxAnswer    = 64 << 10        // size of an answer; a larger one counts as none
)

// questions asks the provider about tokens that are no JWTs (RFC 7662).
type questions struct {
	settings config.Introspection
	fetcher  fetcher
	provider *provider
	log      *slog.Logger
	// Those about tokens that were good before have slots of their own: strangers, whose tokens are all new, do not keep people
	// out who are in.
	newSlots, knownSlots chan struct{}

	mu       sync.Mutex
	answered bool      // the last question was
	failure  error     // of the last question
	away     time.Time // when the provider could not be reached last
}

func newQuestions(settings config.Introspection, fetcher fetcher, provider *provider, log *slog.Logger) *questions {
	return &questions{settings: settings, fetcher: fetcher, provider: provider, log: log, newSlots: make(chan struct{}, maxQuestions), knownSlots: make(chan struct{}, maxQuestions)}
}

// areAnswered reports whether the last question was answered.
func (q *questions) areAnswered() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.answered
}

// isAway reports whether the provider could not be reached a moment ago.
func (q *questions) isAway(now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return now.Sub(q.away) < awayPause
}

// ask verifies a token by asking the provider; isNew says that the token was not good before.
func (q *questions) ask(ctx context.Context, token string, isNew bool, v *Verifier) (*verified, *Refusal) {
	slots := q.knownSlots
	if isNew {
		slots = q.newSlots
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return nil, unavailable(reasonUnavailable)
	}
	asked := time.Now()
	if q.isAway(asked) {
		return nil, unavailable(reasonUnavailable)
	}
	answer, err := q.question(ctx, token)
	q.report(ctx, err)
	if err != nil {
		return nil, unavailable(reasonUnavailable)
	}
	if string(answer["active"]) != "true" {
		return nil, refuse(reasonInactive)
	}
	if !answer.has("iss") { // which is optional here; the provider itself has answered
		answer["iss"] = []byte(quoted(v.settings.Issuer))
	}
	if refusal := answer.checkUse(); refusal != nil {
		return nil, refusal
	}
	if answer.has("nonce") || answer.has("at_hash") {
		return nil, refuse(reasonKind)
	}
	claims, refusal := readClaims(answer, v.settings.Issuer, time.Now())
	if refusal != nil {
		return nil, refusal
	}
	if refusal := v.checkAccess(claims); refusal != nil {
		return nil, refusal
	}
	return &verified{claims: claims, token: token, asked: asked}, nil
}

// question sends one question, and returns the answer.
func (q *questions) question(ctx context.Context, token string) (object, error) {
	endpoint, err := q.endpoint(ctx)
	if err != nil {
		return nil, err
	}
	// RFC 6749, section 2.3.1: both are encoded before they are put together.
	login := url.QueryEscape(q.settings.ClientID) + ":" + url.QueryEscape(q.settings.ClientSecret)
	header := http.Header{
		"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(login))},
		"Content-Type":  {"application/x-www-form-urlencoded"},
	}
	body := url.Values{"token": {token}, "token_type_hint": {"access_token"}}.Encode()
	document, err := q.fetcher.Post(ctx, endpoint, header, []byte(body), questionTime)
	if err != nil {
		return nil, err
	}
	switch {
	case document.Status == http.StatusUnauthorized, document.Status == http.StatusForbidden:
		return nil, problem("Check 'http.oauth.introspection': the client id, its secret, and whether the provider lets this client introspect tokens.",
			"%s refuses the client of the introspection: HTTP status %d", shown(endpoint), document.Status)
	case document.Status != http.StatusOK:
		return nil, fmt.Errorf("HTTP status %d from %s", document.Status, shown(endpoint))
	case len(document.Body) > maxAnswer:
		return nil, fmt.Errorf("the answer of %s is larger than %d KiB", shown(endpoint), maxAnswer>>10)
	}
	answer, err := parseObject(document.Body)
	if err != nil || answer == nil {
		return nil, fmt.Errorf("the answer of %s is not a JSON object", shown(endpoint))
	}
	return answer, nil
}

func (q *questions) endpoint(ctx context.Context) (string, error) {
	if q.settings.Endpoint != "" {
		return q.settings.Endpoint, nil
	}
	found, err := q.provider.metadata(ctx)
	if err != nil {
		return "", err
	}
	if found.IntrospectionEndpoint == "" {
		return "", problem("Set 'http.oauth.introspection.endpoint'.", "the metadata of %s has no 'introspection_endpoint'", q.provider.issuer)
	}
	return found.IntrospectionEndpoint, nil
}

// report writes to the log when things change.
func (q *questions) report(ctx context.Context, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return
	case err != nil && (q.failure == nil || q.failure.Error() != err.Error()):
		q.log.Warn("could not ask the identity provider about a token", "reason", err)
	case err == nil && q.failure != nil:
		q.log.Warn("the identity provider answers about tokens again") // at the level of the line that this one ends
	}
	q.answered, q.failure = err == nil, err
	if _, ok := errors.AsType[*webclient.UnreachableError](err); ok {
		q.away = time.Now()
	}
}
