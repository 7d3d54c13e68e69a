package identity

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// claimScope is the claim that is used if the configuration names none. It stands for both of its names.
const claimScope = "scope"

// rules are what a reload of the configuration may change. They are never changed in place.
type rules struct {
	claim    string
	audience []string // nil: the resources themselves
	grants   []config.ToolboxGrant
	scopes   []string // that clients are told to request; empty: they are told of none
}

func newRules(settings config.HTTPOAuth) *rules {
	r := &rules{claim: cmp.Or(settings.Claim, claimScope), grants: settings.Toolboxes}
	if len(settings.Audience) > 0 {
		r.audience = settings.Audience
	}
	if settings.Scopes != nil {
		r.scopes = settings.Scopes
		return r
	}
	if !r.areScopes() {
		return r
	}
	for _, grant := range r.grants {
		if isScope(grant.Value) && !slices.Contains(r.scopes, grant.Value) {
			r.scopes = append(r.scopes, grant.Value)
		}
	}
	return r
}

// areScopes reports whether the values of the table are scopes, which clients can request.
func (r *rules) areScopes() bool { return r.claim == claimScope || r.claim == "scp" }

// isScope reports whether a text can be requested as a scope (RFC 6749, section 3.3).
func isScope(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r > '~' })
}

// toolboxes returns what the values of a token's claim allow: each toolbox once, sorted, so that a session goes on with a token
// that lists the same in another order. Nil means all, and an empty list none.
func (r *rules) toolboxes(members object) []string {
	values := members.values(r.claim)
	allowed := []string{}
	for _, grant := range r.grants {
		if !slices.Contains(values, grant.Value) {
			continue
		}
		if grant.Toolboxes == nil {
			return nil
		}
		for _, name := range grant.Toolboxes {
			if !slices.Contains(allowed, name) {
				allowed = append(allowed, name)
			}
		}
	}
	slices.Sort(allowed)
	return allowed
}

// values returns the values of a claim: the strings of a list, or a string that is the only one. A string of scopes has words.
// A name with dots is that of a claim, or else the path to one within others.
func (o object) values(claim string) []string {
	switch {
	case claim == claimScope:
		return o.scopes()
	case claim == "scp":
		return wordsOf(o[claim])
	case o.has(claim):
		return listOf(o[claim])
	}
	first, rest, nested := strings.Cut(claim, ".")
	if !nested {
		return nil
	}
	var inner object
	if json.Unmarshal(o[first], &inner) != nil {
		return nil
	}
	for {
		if first, rest, nested = strings.Cut(rest, "."); !nested {
			return listOf(inner[first])
		}
		var next object
		if json.Unmarshal(inner[first], &next) != nil {
			return nil
		}
		inner = next
	}
}

// scopes returns the scopes of a token, which some providers call scp.
func (o object) scopes() []string {
	if o.has(claimScope) {
		return wordsOf(o[claimScope])
	}
	return wordsOf(o["scp"])
}

// wordsOf returns scopes: the words of a string, or a list.
func wordsOf(raw json.RawMessage) []string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return strings.Fields(text)
	}
	return listOf(raw)
}

// listOf returns the strings of a list. Some providers write a list of one as that one, whose blanks are its own: a group that
// somebody calls "friends of admins" is not that of the admins.
func listOf(raw json.RawMessage) []string {
	var text string
	if raw != nil && string(raw) != "null" && json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil
		}
		return []string{text}
	}
	var members []json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	var list []string
	for _, member := range members {
		var one string
		if member[0] == '"' && json.Unmarshal(member, &one) == nil {
			list = append(list, one)
		}
	}
	return list
}
