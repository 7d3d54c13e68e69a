package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

const (
	clockSkew  = time.Minute  // that the clocks of the provider and of this machine may differ; a token counts for so much longer
	maxSubject = 255          // bytes of a subject (OpenID Connect Core, section 2); a token with a longer one is refused
	maxName    = 100          // characters of a person's name; the rest is cut off
	maxSeconds = 253402300799 // a time of the year 9999; a token with a later one is refused
)

// object is a JSON object. Names are exact, unlike those of a struct's fields.
type object map[string]json.RawMessage

// parseObject decodes a JSON object whose names are unique: two readers must not see different values.
func parseObject(text []byte) (object, error) {
	var members object
	if !jsontext.Value(text).IsValid() {
		return nil, errors.New("it is not valid JSON, or has a name twice")
	}
	err := webclient.DecodeJSON(text, &members)
	return members, err
}

// has reports whether there is a member that is not null.
func (o object) has(name string) bool {
	raw, ok := o[name]
	return ok && string(raw) != "null"
}

// text returns a member that is a string; "" if there is none.
func (o object) text(name string) (text string) {
	_ = json.Unmarshal(o[name], &text)
	return text
}

// seconds returns a member that is a time; zero if there is none.
func (o object) seconds(name string) (at time.Time, ok bool) {
	if !o.has(name) {
		return time.Time{}, true
	}
	var seconds float64
	if json.Unmarshal(o[name], &seconds) != nil || seconds < 1 || seconds > maxSeconds {
		return time.Time{}, false
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*float64(time.Second))), true
}

// claims are what is known of a token after all checks but those that depend on the request or the configuration's table.
type claims struct {
	person   Person // without Toolboxes and Credential
	audience []string
	members  object
}

// readClaims checks what the claims of a token say, whoever says it. Whether the issuer may be absent depends on how they came.
func readClaims(members object, issuer string, now time.Time) (*claims, *Refusal) {
	if members.text("iss") != issuer {
		return nil, refuse(reasonIssuer)
	}
	subject := members.text("sub")
	if subject == "" || len(subject) > maxSubject || hidden.Draw(subject) != subject {
		return nil, refuse(reasonSubject)
	}
	audience := members.audience()
	if len(audience) == 0 {
		return nil, refuse(reasonNoAudience)
	}
	expires, refusal := readTimes(members, now)
	if refusal != nil {
		return nil, refusal
	}
	c := &claims{audience: audience, members: members}
	c.person = Person{Issuer: issuer, Subject: subject, ID: idOf(issuer, subject), Name: nameOf(members), Scopes: members.scopes(), Client: clientOf(members), Expires: expires}
	return c, nil
}

// IsSubject reports whether a subject can name somebody in logs, rules and on screens: it is not empty, not too long, and holds
// nothing that cannot be seen.
func IsSubject(text string) bool {
	return text != "" && len(text) <= maxSubject && hidden.Draw(text) == text && strings.TrimSpace(text) == text
}

// idOf returns the ID of a person. What is hashed can be read in one way only.
func idOf(issuer, subject string) string {
	sum := sha256.Sum256([]byte(strconv.Quote(issuer) + " " + subject))
	return PersonPrefix + hex.EncodeToString(sum[:16])
}

// readTimes returns when a token expires, if it is valid now.
func readTimes(members object, now time.Time) (expires time.Time, refusal *Refusal) {
	expires, isTime := members.seconds("exp")
	notBefore, isNotBefore := members.seconds("nbf")
	issued, isIssued := members.seconds("iat")
	switch {
	case !isTime, !isNotBefore, !isIssued:
		return expires, refuse(reasonTimes)
	case expires.IsZero():
		return expires, refuse(reasonNoExpiry)
	case hasExpired(expires, now):
		return expires, refuse(reasonExpired)
	case notBefore.After(now.Add(clockSkew)), issued.After(now.Add(clockSkew)):
		return expires, refuse(reasonEarly)
	}
	return expires, nil
}

func hasExpired(expires, now time.Time) bool { return !now.Before(expires.Add(clockSkew)) }

// audience returns whom a token is for; nil unless the claim is a string, or a list of strings only.
func (o object) audience() []string {
	var list []string
	if json.Unmarshal(o["aud"], &list) == nil {
		if slices.Contains(list, "") {
			return nil
		}
		return list
	}
	if one := o.text("aud"); one != "" {
		return []string{one}
	}
	return nil
}

// checkUse refuses what is no access token, or none that whoever holds it may use.
func (o object) checkUse() *Refusal {
	use := strings.ToLower(o.text("token_use")) // Cognito, Hydra
	kind := strings.ToLower(o.text("typ"))      // Keycloak
	how := strings.ToLower(o.text("token_type"))
	switch {
	case o.has("cnf"), how == "dpop", kind == "dpop":
		return refuse(reasonBound)
	case use != "" && use != "access" && use != "access_token",
		slices.Contains([]string{"id", "refresh", "offline", "logout"}, kind),
		how != "" && how != "bearer" && how != "access_token",
		o.has("events"): // of a logout token, and other security events
		return refuse(reasonKind)
	}
	return nil
}

// nameOf returns what to call a person.
func nameOf(members object) string {
	for _, claim := range []string{"preferred_username", "name", "email", "sub"} {
		if name := plain(members.text(claim)); name != "" {
			return name
		}
	}
	return ""
}

func clientOf(members object) string {
	if client := plain(members.text("client_id")); client != "" {
		return client
	}
	return plain(members.text("azp"))
}

// plain converts a text of others to one visible line of bounded length.
func plain(text string) string { return hidden.Line(text, maxName) }
