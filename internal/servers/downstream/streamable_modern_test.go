package downstream

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestStreamableModern(t *testing.T) {
	f := newWeb(t)
	changed := make(chan struct{}, 10)
	ended := make(chan struct{})
	f.before = func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case strings.Contains(body, "server/discover"):
			jsonAnswer(w, 200, `{"jsonrpc":"2.0","id":"discover","result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}}`)
		case strings.Contains(body, "subscriptions/listen"):
			events(w)("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
			<-r.Context().Done()
		case strings.Contains(body, `"name":"stuck"`):
			<-r.Context().Done()
			close(ended)
		default:
			return false
		}
		return true
	}
	session := f.mustConnect(Options{Modern: true, ToolsChanged: func() { changed <- struct{}{} }})
	<-changed
	for _, name := range []string{"plain name", "grüße", " padded", "=?base64?x?="} {
		mustCall(t, session, ToolCall{Name: name})
	}
	id, err := session.CallTool(ToolCall{Name: "stuck"}, newInbox())
	if err != nil {
		t.Fatal(err)
	}
	for len(f.seen("POST tools/call")) < 5 {
		<-f.arrived
	}
	if !session.Cancel(id, nil) {
		t.Error("the call could not be cancelled")
	}
	<-ended
	session.Close()
	const common = "POST tools/call Accept=application/json, text/event-stream Mcp-Protocol-Version=2026-07-28 Mcp-Method=tools/call Mcp-Name="
	want := []string{common + "plain name", common + "=?base64?Z3LDvMOfZQ==?=", common + "=?base64?IHBhZGRlZA==?=", common + "=?base64?PT9iYXNlNjQ/eD89?=", common + "stuck"}
	if got := f.seen("POST tools/call"); !slices.Equal(got, want) {
		t.Errorf("the calls were\n%s", strings.Join(got, "\n"))
	}
	if others := slices.Concat(f.seen("GET"), f.seen("DELETE"), f.seen("POST notifications")); len(others) > 0 {
		t.Errorf("this era has no %q", others)
	}
}

func TestSubscriptionIsRenewed(t *testing.T) {
	for _, test := range []struct {
		name    string
		listen  func(w http.ResponseWriter, id string)
		want    []time.Duration // when it is asked for, within 10 s
		changes int
	}{
		{"cut", func(w http.ResponseWriter, _ string) { events(w)(":\n\n") }, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}, 3},
		{"in trouble", func(w http.ResponseWriter, _ string) {
			w.WriteHeader(http.StatusBadGateway)
		}, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}, 3},
		{"refused", func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusNotFound) }, []time.Duration{0}, 0},
		{"an error", func(w http.ResponseWriter, id string) {
			jsonAnswer(w, 200, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-1,"message":"no"}}`)
		}, []time.Duration{0}, 0},
		{"ended by the server", func(w http.ResponseWriter, id string) {
			events(w)(`data: {"jsonrpc":"2.0","id":` + id + `,"result":{}}` + "\n\n")
		}, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newWeb(t)
				began := time.Now()
				var asked []time.Duration
				f.before = func(w http.ResponseWriter, _ *http.Request, body string) bool {
					switch {
					case strings.Contains(body, "server/discover"):
						jsonAnswer(w, 200, `{"jsonrpc":"2.0","id":"discover","result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}}`)
					case strings.Contains(body, "subscriptions/listen"):
						asked = append(asked, time.Since(began))
						test.listen(w, fmt.Sprint(len(asked)))
					default:
						return false
					}
					return true
				}
				var changes atomic.Int32
				f.mustConnect(Options{Modern: true, ToolsChanged: func() { changes.Add(1) }})
				<-time.After(10 * time.Second)
				synctest.Wait()
				if !slices.Equal(asked, test.want) || int(changes.Load()) != test.changes {
					t.Errorf("asked at %v with %d changes, want %v with %d", asked, changes.Load(), test.want, test.changes)
				}
			})
		})
	}
}

// Over HTTP a legacy client gets a legacy session where initialize gives one. Otherwise the
// modern era is better: only in that can such a server ask.
func TestEraOverHTTP(t *testing.T) {
	const offer = `{"jsonrpc":"2.0","id":"discover","result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`
	plain := func(status int) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) { http.Error(w, "no", status) }
	}
	accepts := func(session string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			if session != "" {
				w.Header().Set("Mcp-Session-Id", session)
			}
			jsonAnswer(w, 200, ready)
		}
	}
	closes := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	for _, test := range []struct {
		name       string
		initialize func(w http.ResponseWriter)
		legacyOnly bool
		modern     bool
		eras       Eras // with initialize first
	}{
		{name: "dual-era with sessions", initialize: accepts("s")},
		{name: "dual-era without sessions", initialize: accepts(""), modern: true, eras: OnlyModern},
		{name: "legacy without sessions", initialize: accepts(""), legacyOnly: true, eras: OnlyLegacy},
		{name: "modern, with an error", initialize: func(w http.ResponseWriter) { jsonAnswer(w, 400, refused) }, modern: true, eras: OnlyModern},
		{name: "modern, with a status", initialize: plain(405), modern: true, eras: OnlyModern},
		{name: "modern, and broken for a moment", initialize: plain(503), modern: true},
		{name: "modern, and closes the connection", initialize: closes, modern: true},
	} {
		for _, opening := range []Opening{ProbeFirst, InitializeFirst} {
			t.Run(fmt.Sprint(test.name, opening), func(t *testing.T) {
				f := newWeb(t)
				f.before = func(w http.ResponseWriter, _ *http.Request, body string) bool {
					switch {
					case strings.Contains(body, `"initialize"`):
						test.initialize(w)
					case strings.Contains(body, "server/discover") && test.legacyOnly:
						jsonAnswer(w, 200, noProbe)
					case strings.Contains(body, "server/discover"):
						jsonAnswer(w, 200, offer)
					default:
						return false
					}
					return true
				}
				session := f.mustConnect(Options{Opening: opening})
				if session.Modern() != test.modern {
					t.Errorf("modern session %t", session.Modern())
				}
				if opening == InitializeFirst && session.Eras() != test.eras {
					t.Errorf("eras %d, want %d", session.Eras(), test.eras)
				}
			})
		}
	}
}

func TestIgnoredInitializeOverHTTP(t *testing.T) {
	for _, opening := range []Opening{ProbeFirst, InitializeFirst} {
		synctest.Test(t, func(t *testing.T) {
			f := newWeb(t)
			f.before = func(w http.ResponseWriter, r *http.Request, body string) bool {
				switch {
				case strings.Contains(body, `"initialize"`):
					<-r.Context().Done()
				case strings.Contains(body, "server/discover"):
					jsonAnswer(w, 200, discovered)
				default:
					return false
				}
				return true
			}
			if session := f.mustConnect(Options{Opening: opening}); !session.Modern() {
				t.Error("the session is not modern")
			}
		})
	}
}

// Who is denied is not asked another time.
func TestDeniedHandshakeEnds(t *testing.T) {
	f := newWeb(t)
	f.before = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	_, err := f.connect(Options{Opening: InitializeFirst})
	if status, ok := errors.AsType[*StatusError](err); !ok || status.Code != http.StatusUnauthorized || len(f.seen("POST")) != 1 {
		t.Errorf("error is %v after %q", err, f.seen("POST"))
	}
}
