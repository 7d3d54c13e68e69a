package oauth

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

// Token endpoints differ in the types of what they send.
func TestTokenAnswers(t *testing.T) {
	issued := time.Unix(1_000_000, 0)
	never := time.Time{}
	for _, test := range []struct {
		members string
		expires time.Time
		scopes  []string
	}{
		{``, never, nil},
		{`,"expires_in":3600`, issued.Add(time.Hour), nil},
		{`,"expires_in":"3600"`, issued.Add(time.Hour), nil},
		{`,"expires_in":3600.5`, issued.Add(time.Hour + time.Second/2), nil},
		{`,"expires_in":0`, never, nil},
		{`,"expires_in":-1`, never, nil},
		{`,"expires_in":1e300`, issued.Add(maxLifetime), nil},
		{`,"expires_in":1e400`, never, nil},
		{`,"expires_in":"Inf"`, issued.Add(maxLifetime), nil},
		{`,"expires_in":"NaN"`, never, nil},
		{`,"expires_in":null`, never, nil},
		{`,"expires_in":true`, never, nil},
		{`,"expires_in":[3600]`, never, nil},
		{`,"expires_in":{"seconds":3600}`, never, nil},
		{`,"expires_in":"soon"`, never, nil},
		{`,"scope":"a b"`, never, []string{"a", "b"}},
		{`,"scope":"a,b"`, never, []string{"a", "b"}},
		{`,"scope":["a","b"]`, never, []string{"a", "b"}},
		{`,"scope":"a a \""`, never, []string{"a"}},
		{`,"scope":null`, never, nil},
		{`,"scope":7`, never, nil},
		{`,"scope":{}`, never, nil},
		{`,"token_type":"bearer"`, never, nil},
		{`,"token_type":null,"refresh_token":null`, never, nil},
	} {
		document := &webclient.Document{Status: http.StatusOK, Body: []byte(`{"access_token":"t"` + test.members + `}`)}
		answer, err := readToken(document, issued)
		if err != nil || !answer.expires.Equal(test.expires) || !slices.Equal(answer.scopes, test.scopes) || answer.kind != kindBearer {
			t.Errorf("%s: %+v, %v", test.members, answer, err)
		}
	}
}

// What is no answer of OAuth says nothing about the login, and ends none.
func TestAnswersThatAreNone(t *testing.T) {
	for _, test := range []struct {
		status  int
		body    string
		refused bool
	}{
		{200, `{}`, false},
		{200, `[]`, false},
		{200, `null`, false},
		{200, ``, false},
		{200, `{"access_token":7}`, false},
		{200, `{"access_token":{"value":"t"}}`, false},
		{200, `{"access_token":"t\r\nX: y"}`, false},
		{200, `{"access_token":"t","refresh_token":"a b"}`, false},
		{200, `<html>Log in to the network</html>`, false},
		{400, `<html>Bad request</html>`, false},
		{400, `{"error":{"code":"invalid_grant"}}`, false},
		{403, `{"message":"blocked"}`, false},
		{429, `{"error":"invalid_grant"}`, false},
		{503, `{"error":"invalid_grant"}`, false},
		{400, `{"error":"temporarily_unavailable"}`, false},
		{302, ``, false},
		{400, `{"error":"invalid_grant"}`, true},
		{401, `{"error":"invalid_client"}`, true},
		{200, `{"error":"invalid_grant"}`, true},
	} {
		_, err := readToken(&webclient.Document{Status: test.status, Body: []byte(test.body)}, time.Now())
		_, isRefused := errors.AsType[*refusalError](err)
		if err == nil || isRefused != test.refused || isTemporary(err) == test.refused {
			t.Errorf("%d %s: %v", test.status, test.body, err)
		}
	}
}
