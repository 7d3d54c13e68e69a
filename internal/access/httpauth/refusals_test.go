package httpauth

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/identity"
)

// What begins each sign-in does not hide why somebody is refused, whose name is in the log.
func TestEachReasonIsLogged(t *testing.T) {
	s, token := openStore(t)
	synctest.Test(t, func(t *testing.T) {
		p := newProvider()
		p.known["eve.hunter2.x"] = identity.Person{Issuer: issuer, Subject: "eve", Credential: "2", Toolboxes: []string{}}
		p.known["old.hunter2.x"] = personOf("ada", "1", "dev")
		p.refusals["old.hunter2.x"] = &identity.Refusal{Status: 401, Code: "invalid_token", Reason: "the token has expired"}
		var log bytes.Buffer
		g := NewGate(inside, GateOptions{
			Store: s, Verifier: p, Log: slog.New(slog.NewTextHandler(&log, nil)),
			Needs: func(path string) Right { return map[bool]Right{true: Metrics, false: Calls}[path == "/metrics"] },
		})
		lines := func(requests ...string) string {
			log.Reset()
			for _, one := range requests {
				path, token, _ := strings.Cut(one, " ")
				if token == "" {
					ask(g, request("POST", path))
				} else {
					ask(g, request("POST", path, "Authorization: Bearer "+token))
				}
			}
			text := log.String()
			if strings.Contains(text, "hunter2") || strings.Contains(text, token) {
				t.Errorf("a token is logged:\n%s", text)
			}
			return text
		}
		for range 3 {
			if got := lines("/mcp", "/mcp", "/mcp/dev"); got != "" {
				t.Errorf("the beginning of a sign-in is logged:\n%s", got)
			}
		}
		got := lines("/mcp", "/mcp eve.hunter2.x", "/mcp eve.hunter2.x", "/mcp old.hunter2.x", "/mcp eve.hunter2.x", "/metrics "+token, "/metrics")
		for _, want := range []string{
			`reason="` + reasonNoBox + `" status=403 caller=person:eve remote=`, `reason="the token has expired" status=401 caller=person:ada `,
			`reason="the token is not for metrics" status=403 caller=token:`, `reason="there is no token" status=401 remote=`,
		} {
			if strings.Count(got, want) != 1 {
				t.Errorf("%s is missing in:\n%s", want, got)
			}
		}
		if strings.Contains(got, "more=") || strings.Count(got, "\n") != 4 {
			t.Errorf("got:\n%s", got)
		}
		<-time.After(refusalPause) // of the bubble
		if got := lines("/mcp eve.hunter2.x", "/mcp old.hunter2.x"); strings.Count(got, "more=2") != 1 || strings.Count(got, "more=") != 1 || strings.Count(got, "\n") != 2 {
			t.Errorf("a second later:\n%s", got)
		}
	})
}

func TestReasonsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l refusalLog
		for i := range 3 * maxReasons {
			l.note(fmt.Sprint("reason ", i))
		}
		if len(l.reasons) > maxReasons+1 {
			t.Errorf("%d reasons are counted", len(l.reasons))
		}
		if _, isWarning := l.note("another one"); isWarning {
			t.Error("the others do not share one count")
		}
		<-time.After(refusalPause) // of the bubble
		if _, isWarning := l.note("a new one"); !isWarning || len(l.reasons) > 2 {
			t.Errorf("%d reasons are counted a second later", len(l.reasons))
		}
	})
}
