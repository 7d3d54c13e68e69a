package identity

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
)

// checkTime is how long all steps of Check may take; those after it fail.
const checkTime = 30 * time.Second

// Step is one thing that Check looked at.
type Step struct {
	Title  string
	Detail string
	Err    error  // what is wrong; nil: nothing
	Hint   string // what to do about it; may be ""
}

// Check asks the provider for all that people need to be let in, and returns what it found.
func (v *Verifier) Check(ctx context.Context) []Step {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	steps, address := v.checkMetadata(ctx)
	steps = append([]Step{v.told()}, steps...)
	if address != "" {
		steps = append(steps, v.checkKeys(ctx, address))
	}
	if v.questions != nil {
		steps = append(steps, v.checkQuestions(ctx))
	}
	return append(steps, v.checkRules())
}

// told says what clients hear before they sign in.
func (v *Verifier) told() Step {
	scopes := "no scopes"
	if list := v.rules.Load().scopes; len(list) > 0 {
		scopes = "scopes " + strings.Join(list, " ")
	}
	return step("clients are told", fmt.Sprintf("resource %s, metadata at %s, %s", v.resource.mcp, v.resource.metadataOf(mcpPath), scopes), nil, "")
}

// Advice for failures that have none of their own.
const (
	hintMetadata  = "Check 'http.oauth.issuer', and whether the provider runs and this machine reaches it. If it has no metadata, set 'http.oauth.jwksUri'."
	hintEndpoints = "Check the metadata of the provider. Without these addresses nobody can connect an account on the page /connect."
	hintNoKeys    = "Check the keys of the provider at this address, which its metadata names; 'http.oauth.jwksUri' would name another one."
	hintKeysURI   = "Check 'http.oauth.jwksUri', and whether the provider runs and this machine reaches it."
	hintQuestions = "Check 'http.oauth.introspection', and whether the provider runs and this machine reaches it."
)

// step returns a step with the hint that its error has, or else the given one.
func step(title, detail string, err error, hint string) Step {
	s := Step{Title: title, Detail: detail, Err: err}
	if err == nil {
		return s
	}
	s.Hint = hint
	if known, ok := errors.AsType[*problemError](err); ok && known.hint != "" {
		s.Hint = known.hint
	}
	return s
}

// checkMetadata returns where the keys are; "" if that is unknown.
func (v *Verifier) checkMetadata(ctx context.Context) (steps []Step, keys string) {
	const title = "metadata of the identity provider"
	found, at, err := v.provider.discover(ctx)
	switch {
	case err == nil:
		steps = append(steps, step(title, shown(at), nil, ""))
	case v.settings.JWKSURI != "" && v.settings.ClientID == "":
		return []Step{step(title, "none, which is not needed: 'http.oauth.jwksUri' is set", nil, "")}, v.settings.JWKSURI
	default:
		return []Step{step(title, "", err, hintMetadata)}, v.settings.JWKSURI
	}
	if v.settings.ClientID != "" {
		_, _, _, err := v.Provider(ctx)
		steps = append(steps, step("endpoints for the page /connect", shown(found.AuthorizationEndpoint)+", "+shown(found.TokenEndpoint), err, hintEndpoints))
		steps = append(steps, step("client of the page /connect", fmt.Sprintf("'%s', not tried: needs a person, so that a wrong 'clientSecret' shows at the first login", hidden.Clean(v.settings.ClientID)), nil, ""))
	}
	if v.settings.JWKSURI != "" {
		return steps, v.settings.JWKSURI
	}
	if found.JWKSURI == "" {
		return append(steps, step("keys", "", problem("Set 'http.oauth.jwksUri' to the address of its keys.", "the metadata has no 'jwks_uri'"), "")), ""
	}
	return steps, found.JWKSURI
}

func (v *Verifier) checkKeys(ctx context.Context, address string) Step {
	set, err := v.provider.fetchKeys(ctx, address)
	if err != nil {
		hint := hintNoKeys
		if v.settings.JWKSURI != "" {
			hint = hintKeysURI
		}
		return step("keys", shown(address), err, hint)
	}
	var usable []string
	for _, algorithm := range algorithms {
		if slices.ContainsFunc(set.keys, func(k *key) bool { return k.fits(algorithm) }) {
			usable = append(usable, string(algorithm))
		}
	}
	detail := fmt.Sprintf("%s: %d for %s", shown(address), len(set.keys), strings.Join(usable, ", "))
	if len(set.ignored) > 0 {
		detail += fmt.Sprintf("; %d ignored (%s)", len(set.ignored), set.ignored[0])
	}
	return step("keys", detail, nil, "")
}

// checkQuestions asks about a token that nobody has: the provider has to call it inactive.
func (v *Verifier) checkQuestions(ctx context.Context) Step {
	const title = "introspection"
	endpoint, err := v.questions.endpoint(ctx)
	if err != nil {
		return step(title, "", err, hintQuestions)
	}
	answer, err := v.questions.question(ctx, rand.Text())
	if err == nil && string(answer["active"]) != "false" {
		err = fmt.Errorf("%s does not call an unknown token inactive", shown(endpoint))
	}
	return step(title, shown(endpoint), err, hintQuestions)
}

func (v *Verifier) checkRules() Step {
	rules := v.rules.Load()
	detail := fmt.Sprintf("%d values of the claim '%s'", len(rules.grants), rules.claim)
	if len(rules.grants) == 0 {
		return step("toolboxes", detail, problem("List them in 'http.oauth.toolboxes'.", "no value of '%s' allows a toolbox, so that nobody may use any", rules.claim), "")
	}
	return step("toolboxes", detail, nil, "")
}

// quoted returns a text as JSON.
func quoted(text string) string {
	encoded, _ := json.Marshal(text) // never fails for a string
	return string(encoded)
}
