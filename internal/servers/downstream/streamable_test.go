package downstream

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestStreamableHeaders(t *testing.T) {
	const json = " Accept=application/json, text/event-stream"
	const legacy = json + " Mcp-Session-Id=s1 Mcp-Protocol-Version=2025-11-25 Authorization=Bearer x"
	f := newWeb(t)
	f.session = "s1"
	session := f.mustConnect(Options{Remote: &Remote{Headers: []Header{{"Authorization", "Bearer x"}, {"Accept-Encoding", "gzip"}}}})
	if got := result(t, session); got != `{"ok":true}` {
		t.Errorf("got %s", got)
	}
	session.Close()
	for _, want := range []string{
		"POST server/discover" + json + " Mcp-Protocol-Version=2026-07-28 Mcp-Method=server/discover Authorization=Bearer x",
		"POST initialize" + json + " Authorization=Bearer x",
		"POST notifications/initialized" + legacy,
		"POST tools/call" + legacy,
		"DELETE " + legacy,
	} {
		if !slices.Contains(f.seen(""), want) {
			t.Errorf("there was no %q in\n%s", want, strings.Join(f.seen(""), "\n"))
		}
	}
}

func answerTo(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{"a": 1.0}}` }

func progressOf(id string, n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, id, n)
}

func always(status int, kind, body string) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// answers are what a server over HTTP may answer to a call, and what has to come of it.
var answers = []struct {
	name string
	call func(w http.ResponseWriter, r *http.Request, id string)
	want string
}{
	{"JSON", func(w http.ResponseWriter, _ *http.Request, id string) { jsonAnswer(w, 200, answerTo(id)+"\n") }, `{"a": 1.0}`},
	{"an error", func(w http.ResponseWriter, _ *http.Request, id string) {
		jsonAnswer(w, 200, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-1,"message":"no"}}`)
	}, "error no"},
	{"events in order", func(w http.ResponseWriter, _ *http.Request, id string) {
		send := events(w)
		for i := range 100 {
			send("event: message\ndata: " + progressOf(id, i) + "\n\n")
		}
		send("data: " + answerTo(id) + "\n\n")
	}, counted(100) + `{"a": 1.0}`},
	{"a stream that stays open", func(w http.ResponseWriter, r *http.Request, id string) {
		events(w)("data: " + answerTo(id) + "\n\n")
		<-r.Context().Done()
	}, `{"a": 1.0}`},
	{"other events and comments", func(w http.ResponseWriter, _ *http.Request, id string) {
		events(w)(": hi\n\nevent: ping\ndata: x\n\ndata: no JSON\n\ndata: " + answerTo(id) + "\n\n")
	}, `{"a": 1.0}`},
	{"a cut stream", func(w http.ResponseWriter, _ *http.Request, id string) {
		events(w)("data: " + progressOf(id, 0) + "\n\ndata: {")
	}, "0 " + errCut.Error()},
	{"a dropped connection", func(http.ResponseWriter, *http.Request, string) { panic(http.ErrAbortHandler) }, "the connection to the server broke off: EOF"},
	{"too long", func(w http.ResponseWriter, _ *http.Request, id string) {
		jsonAnswer(w, 200, strings.Replace(answerTo(id), "1.0", strings.Repeat("1", 2000), 1))
	}, "the server's answer cannot be used: message of 2041 bytes is longer than the limit of 1000 (maxMessageSize)"},
	{"an event that is too long", func(w http.ResponseWriter, _ *http.Request, _ string) {
		events(w)("data: " + strings.Repeat("1", 2000) + "\n\n")
	}, "the server's answer cannot be used: message of 2000 bytes is longer than the limit of 1000 (maxMessageSize)"},
	{"an event without end", func(w http.ResponseWriter, r *http.Request, _ string) {
		send := events(w)
		for send("data: "); r.Context().Err() == nil; {
			send(strings.Repeat("x", 1000))
		}
	}, "the server sent a message without end: more than"},
	{"no JSON-RPC", always(200, "application/json", `{"hello":1}`), "the server's answer cannot be used: 'jsonrpc' must be"},
	{"no JSON", always(200, "application/json", `oops`), "the server's answer cannot be used: "},
	{"the answer to something else", always(200, "application/json", `{"jsonrpc":"2.0","id":77,"result":{}}`), "the server's answer is for another request"},
	{"HTML", always(200, "text/html", `<html>login</html>`), "the server answered with an HTML page; is 'url'"},
	{"nothing", always(202, "", ""), "the server accepted the request with HTTP status 202, but gave no answer to it"},
	{"500", always(500, "text/plain", "boom\nboom"), "the server answered with HTTP status 500 (Internal Server Error); it said: boom boom"},
	{"502 page", always(502, "text/html", "<html>"), "the server answered with HTTP status 502 (Bad Gateway); it said: an HTML page"},
	{"500 with the answer", func(w http.ResponseWriter, _ *http.Request, id string) {
		jsonAnswer(w, 500, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-1,"message":"no"}}`)
	}, "error no"},
	{"404 without a session", always(404, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}`), "error no"},
	{"401", func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="x", resource_metadata="https://u:p@example.com/meta?secret=1"`)
		w.WriteHeader(http.StatusUnauthorized)
	}, `HTTP status 401 (Unauthorized); put a token that it accepts into the server's 'headers', such as {"Authorization": "Bearer ${TOKEN}"}; it said: resource_metadata https://example.com/meta`},
	{"403", always(403, "text/plain", "not you"), `}; it said: not you`},
	{"a redirect to the same server", func(w http.ResponseWriter, r *http.Request, id string) {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/", http.StatusPermanentRedirect)
			return
		}
		jsonAnswer(w, 200, answerTo(id))
	}, `{"a": 1.0}`},
	{"a redirect that changes the request", func(w http.ResponseWriter, r *http.Request, _ string) {
		http.Redirect(w, r, "/other", http.StatusFound)
	}, "the server redirects to another kind of request, which was not followed; if this address is right, put it into 'url': http://127.0.0.1/other"},
	{"a redirect to another server", func(w http.ResponseWriter, r *http.Request, _ string) {
		http.Redirect(w, r, "https://user:word@other.example/x?token=1", http.StatusTemporaryRedirect)
	}, "the server redirects to another server, which was not followed; if this address is right, put it into 'url': https://other.example/x"},
	{"redirects without end", func(w http.ResponseWriter, r *http.Request, _ string) {
		http.Redirect(w, r, "/mcp", http.StatusTemporaryRedirect)
	}, "one more address after many"},
}

func TestStreamableAnswers(t *testing.T) {
	for _, test := range answers {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newWeb(t)
				f.call = test.call
				session := f.mustConnect(Options{MaxMessage: 1000, Remote: &Remote{URL: "http://name:hidden1@127.0.0.1/mcp?key=hidden2", Headers: []Header{{"X-Key", "hidden3"}}}})
				got := result(t, session)
				if !strings.Contains(got, test.want) || strings.Contains(got, "hidden") || strings.Contains(got, "word") {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				if !strings.Contains(test.name, "redirect") && len(f.seen("POST tools/call")) != 1 {
					t.Errorf("it was called %d times", len(f.seen("POST tools/call")))
				}
				f.call = nil
				if got := result(t, session); got != `{"ok":true}` {
					t.Errorf("afterwards: %s", got)
				}
			})
		})
	}
}

func TestEachCallOverHTTPGetsItsOwnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWeb(t)
		f.call = func(w http.ResponseWriter, _ *http.Request, id string) {
			seconds, _ := strconv.Atoi(id) // our own
			<-time.After(time.Duration(100-seconds%100) * time.Second)
			jsonAnswer(w, http.StatusOK, `{"jsonrpc":"2.0","id":`+id+`,"result":{"id":`+id+`}}`)
		}
		session := f.mustConnect(Options{})
		inboxes := make(map[uint64]*inbox)
		for range 300 {
			in := newInbox()
			id, err := session.CallTool(ToolCall{Name: "a"}, in)
			if err != nil {
				t.Fatal(err)
			}
			inboxes[id] = in
		}
		for id, in := range inboxes {
			if got, want := in.outcome(), fmt.Sprintf(`{"id":%d}`, id); got != want {
				t.Errorf("call %d got %s", id, got)
			}
		}
	})
}

func counted(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%d ", i)
	}
	return text.String()
}

func TestAnsweredStreamIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWeb(t)
		ended := make(chan struct{})
		f.call = func(w http.ResponseWriter, r *http.Request, id string) {
			events(w)(`data: {"jsonrpc":"2.0","id":` + id + `,"result":{}}` + "\n\n")
			<-r.Context().Done()
			close(ended)
		}
		session := f.mustConnect(Options{})
		began := time.Now()
		if got := result(t, session); got != "{}" || time.Since(began) > 0 {
			t.Errorf("got %s after %s", got, time.Since(began))
		}
		if <-ended; time.Since(began) != lingerTime {
			t.Errorf("the stream was closed after %s", time.Since(began))
		}
	})
}

func TestSilentStreamIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWeb(t)
		f.session = "s"
		f.call = func(w http.ResponseWriter, r *http.Request, _ string) {
			send := events(w)
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for send("data: "); ; send("x") {
				select {
				case <-tick.C:
				case <-r.Context().Done():
					return
				}
			}
		}
		session := f.mustConnect(Options{Patience: 10 * time.Second})
		began := time.Now()
		if got := result(t, session); !strings.Contains(got, "timeouts.call") || time.Since(began) != 10*time.Second {
			t.Errorf("got %s after %s", got, time.Since(began))
		}
		synctest.Wait()
		if cancelled := f.seen("POST notifications/cancelled"); len(cancelled) != 1 {
			t.Errorf("the server was told %q", cancelled)
		}
	})
}

func TestUnreachableServerEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWeb(t)
		f.before = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.Header().Set("Connection", "close")
			return false
		}
		session := f.mustConnect(Options{})
		f.Close()
		got := result(t, session)
		if !strings.HasPrefix(got, "cannot connect to the server: dial tcp: connection refused") {
			t.Errorf("got %s", got)
		}
		<-session.Done()
		if _, err := session.CallTool(ToolCall{Name: "a"}, newInbox()); err == nil {
			t.Error("the session lives on")
		}
	})
}

func TestHandshakeOverHTTP(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(w http.ResponseWriter, r *http.Request, body string) bool
		want   string
	}{
		{"refused", func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return true
		}, "no answer to 'initialize': the server answered with HTTP status 405 (Method Not Allowed)"},
		{"an id that is not allowed", func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.Header().Set("Mcp-Session-Id", "a b")
			return false
		}, "session id has characters that are not allowed"},
		{"an id that is too long", func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.Header().Set("Mcp-Session-Id", strings.Repeat("x", longestSession+1))
			return false
		}, "session id is longer than"},
		{"initialized is refused", func(w http.ResponseWriter, _ *http.Request, body string) bool {
			if strings.Contains(body, "initialized") {
				w.WriteHeader(http.StatusTeapot)
				return true
			}
			return false
		}, "'notifications/initialized' was not accepted: the server answered with HTTP status 418"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newWeb(t)
			f.before = test.before
			if _, err := f.connect(Options{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestNotificationThatIsAnsweredWithAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWeb(t)
		f.before = func(w http.ResponseWriter, r *http.Request, body string) bool {
			if !strings.Contains(body, "initialized") {
				return false
			}
			events(w)
			<-r.Context().Done()
			return true
		}
		began := time.Now()
		if session := f.mustConnect(Options{}); result(t, session) != `{"ok":true}` || time.Since(began) > 0 {
			t.Errorf("took %s", time.Since(began))
		}
	})
}

func TestServerRequestsOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWeb(t)
		f.call = func(w http.ResponseWriter, _ *http.Request, id string) {
			send := events(w)
			for i := range 1000 {
				send(fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":\"p%d\",\"method\":\"ping\"}\n\n", i))
			}
			send(`data: {"jsonrpc":"2.0","id":` + id + `,"result":{}}` + "\n\n")
		}
		session := f.mustConnect(Options{})
		if got := result(t, session); got != "{}" {
			t.Errorf("got %s", got)
		}
		synctest.Wait()
		answered := 0
		for _, body := range f.bodies {
			if strings.HasPrefix(body, `{"jsonrpc":"2.0","id":"p`) && strings.Contains(body, `"result":{}`) {
				answered++
			}
		}
		if answered != 1000 {
			t.Errorf("%d pings of 1000 were answered", answered)
		}
	})
}

func TestCancelOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWeb(t)
		ended := make(chan struct{})
		f.call = func(_ http.ResponseWriter, r *http.Request, _ string) {
			<-r.Context().Done()
			close(ended)
		}
		session := f.mustConnect(Options{})
		in := newInbox()
		id, err := session.CallTool(ToolCall{Name: "a", Arguments: wire.Raw([]byte("{}"))}, in)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		session.Cancel(id, []byte(`"enough"`))
		if <-ended; time.Since(began) > 0 {
			t.Errorf("the request ended only after %s", time.Since(began))
		}
		synctest.Wait()
		f.mu.Lock()
		last := f.bodies[len(f.bodies)-1]
		f.mu.Unlock()
		if want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"enough"}}`, id); strings.TrimSpace(last) != want {
			t.Errorf("the server was told %s", last)
		}
		if len(in.messages) != 0 {
			t.Error("a cancelled call was answered")
		}
	})
}
