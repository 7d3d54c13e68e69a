package downstream

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func lateAnswer(id string) string {
	return `data: {"jsonrpc":"2.0","id":` + id + `,"result":{"late":true}}` + "\n\n"
}

// broken are streams of a call that end before its answer.
var broken = []struct {
	name  string
	first string // what the stream of the call brings before it ends
	get   func(w http.ResponseWriter, try int, id string)
	want  string
	tries []string // the last ids of the GETs that resume
	took  time.Duration
}{
	{
		"with an id", "id: 1\ndata:\n\n",
		func(w http.ResponseWriter, _ int, id string) { events(w)(lateAnswer(id)) },
		`{"late":true}`,
		[]string{"1"},
		firstPause,
	},
	{
		"as the server asks", "id: 1\nretry: 50\ndata:\n\n",
		func(w http.ResponseWriter, try int, id string) {
			if try < 3 {
				events(w)(fmt.Sprintf("id: 1-%d\ndata:\n\n", try))
				return
			}
			events(w)(lateAnswer(id))
		},
		`{"late":true}`,
		[]string{"1", "1-1", "1-2"},
		150 * time.Millisecond,
	},
	{"without an id", "data: {}\n\n", nil, errCut.Error(), nil, 0},
	{
		"refused", "id: 1\ndata:\n\n",
		func(w http.ResponseWriter, _ int, _ string) { w.WriteHeader(http.StatusNotFound) },
		errCut.Error(),
		[]string{"1"},
		firstPause,
	},
	{
		"in trouble for a while", "id: 1\ndata:\n\n",
		func(w http.ResponseWriter, try int, id string) {
			if try == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			events(w)(lateAnswer(id))
		},
		`{"late":true}`,
		[]string{"1", "1"},
		2 * firstPause,
	},
	{
		"in vain", "id: 1\ndata:\n\n",
		func(w http.ResponseWriter, _ int, _ string) { events(w)(":\n\n") },
		errCut.Error(),
		[]string{"1", "1", "1", "1", "1"},
		maxResumes * firstPause,
	},
}

func TestBrokenStreamIsResumed(t *testing.T) {
	var callID atomic.Value
	for _, test := range broken {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newWeb(t)
				f.session = "s"
				f.call = func(w http.ResponseWriter, _ *http.Request, id string) {
					callID.Store(id)
					events(w)(test.first)
				}
				var tries []string
				f.get = func(w http.ResponseWriter, r *http.Request, _ string) {
					last := r.Header.Get("Last-Event-Id")
					if last == "" { // the stream of its own messages
						w.WriteHeader(http.StatusMethodNotAllowed)
						return
					}
					tries = append(tries, last)
					test.get(w, len(tries), callID.Load().(string))
				}
				session := f.mustConnect(Options{})
				began := time.Now()
				got := result(t, session)
				if took := time.Since(began); got != test.want || took != test.took {
					t.Errorf("got %s after %s, want %s after %s", got, took, test.want, test.took)
				}
				if !slices.Equal(tries, test.tries) || len(f.seen("POST tools/call")) != 1 {
					t.Errorf("it was resumed at %q, want %q, and called %d times", tries, test.tries, len(f.seen("POST tools/call")))
				}
			})
		})
	}
}

func TestStreamOfItsOwnMessages(t *testing.T) {
	const notice = `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n\n"
	type opened struct {
		after time.Duration
		last  string
	}
	for _, test := range []struct {
		name    string
		get     func(w http.ResponseWriter, r *http.Request, try int)
		changes int
		want    []opened // within 25 s
	}{
		{"there is none", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusMethodNotAllowed) }, 0, []opened{{0, ""}}},
		{"there is something else", func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Content-Type", "text/html")
		}, 0, []opened{{0, ""}}},
		{"it stays", func(w http.ResponseWriter, r *http.Request, _ int) {
			events(w)(notice)
			<-r.Context().Done()
		}, 1, []opened{{0, ""}}},
		{"it ends and goes on", func(w http.ResponseWriter, r *http.Request, try int) {
			events(w)(fmt.Sprintf("id: %d\n", try) + notice)
			if try == 3 {
				<-r.Context().Done()
			}
		}, 3, []opened{{0, ""}, {time.Second, "1"}, {2 * time.Second, "2"}}},
		{"it asks for a pause", func(w http.ResponseWriter, _ *http.Request, _ int) {
			events(w)("retry: 20000\n" + notice)
		}, 2, []opened{{0, ""}, {20 * time.Second, ""}}},
		{"it is in trouble", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusServiceUnavailable) }, 0, []opened{
			{0, ""}, {time.Second, ""}, {3 * time.Second, ""}, {7 * time.Second, ""}, {15 * time.Second, ""},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newWeb(t)
				f.session = "s"
				began := time.Now()
				var got []opened
				f.get = func(w http.ResponseWriter, r *http.Request, _ string) {
					got = append(got, opened{time.Since(began), r.Header.Get("Last-Event-Id")})
					test.get(w, r, len(got))
				}
				var changes atomic.Int32
				session := f.mustConnect(Options{ToolsChanged: func() { changes.Add(1) }})
				<-time.After(24 * time.Second) // the clock is that of the bubble
				synctest.Wait()
				if !slices.Equal(got, test.want) || int(changes.Load()) != test.changes {
					t.Errorf("opened %v with %d changes, want %v with %d", got, changes.Load(), test.want, test.changes)
				}
				if result(t, session) != `{"ok":true}` {
					t.Error("the session does not work any more")
				}
			})
		})
	}
}

func TestExpiredSessionIsBegunAgain(t *testing.T) {
	const speaksOfIt = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`
	for _, test := range []struct {
		name   string
		refuse func(w http.ResponseWriter, id string)
		want   string
		again  bool
	}{
		{"404", func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusNotFound) }, `{"ok":true}`, true},
		{"404 with an error", func(w http.ResponseWriter, _ string) {
			jsonAnswer(w, 404, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
		}, `{"ok":true}`, true},
		{"400 that speaks of the session", func(w http.ResponseWriter, _ string) { jsonAnswer(w, 400, speaksOfIt) }, `{"ok":true}`, true},
		{"400 for the call", func(w http.ResponseWriter, id string) {
			jsonAnswer(w, 400, strings.Replace(speaksOfIt, "null", id, 1))
		}, "error Bad Request: No valid session ID provided", false},
		{"400 of another kind", func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusBadRequest) }, "the server answered with HTTP status 400 (Bad Request)", false},
		{"404 for the method", func(w http.ResponseWriter, id string) {
			jsonAnswer(w, 404, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32601,"message":"no calls"}}`)
		}, "error no calls", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newWeb(t)
				f.session = "old"
				f.call = func(w http.ResponseWriter, r *http.Request, id string) {
					if r.Header.Get("Mcp-Session-Id") == "old" {
						test.refuse(w, id)
						return
					}
					jsonAnswer(w, 200, `{"jsonrpc":"2.0","id":`+id+`,"result":{"ok":true}}`)
				}
				var changes atomic.Int32
				session := f.mustConnect(Options{ToolsChanged: func() { changes.Add(1) }})
				synctest.Wait()
				f.session = "new"
				const calls = 20
				var inboxes []*inbox
				for range calls {
					in := newInbox()
					if _, err := session.CallTool(ToolCall{Name: "a"}, in); err != nil {
						t.Fatal(err)
					}
					inboxes = append(inboxes, in)
				}
				for _, in := range inboxes {
					if got := in.outcome(); got != test.want {
						t.Errorf("got %s, want %s", got, test.want)
					}
				}
				synctest.Wait() // for the stream of its own messages
				want := 0
				if test.again {
					want = 1
				}
				if got := len(f.seen("POST initialize")) - 1; got != want || int(changes.Load()) != want || len(f.seen("GET")) != 1+want {
					t.Errorf("a session was begun again %d times, with %d changes of tools and %d streams", got, changes.Load(), len(f.seen("GET")))
				}
			})
		})
	}
}

// A refusal of the old session may arrive when the new one is long there.
func TestSessionIsBegunAgainOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWeb(t)
		f.session = "old"
		f.call = func(w http.ResponseWriter, r *http.Request, id string) {
			if r.Header.Get("Mcp-Session-Id") == "new" {
				jsonAnswer(w, 200, `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`)
				return
			}
			seconds, _ := strconv.Atoi(id) // our own
			<-time.After(time.Duration(seconds) * time.Second)
			w.WriteHeader(http.StatusNotFound)
		}
		session := f.mustConnect(Options{})
		synctest.Wait()
		f.session = "new"
		var inboxes []*inbox
		for range 3 {
			in := newInbox()
			if _, err := session.CallTool(ToolCall{Name: "a"}, in); err != nil {
				t.Fatal(err)
			}
			inboxes = append(inboxes, in)
		}
		for _, in := range inboxes {
			if got := in.outcome(); got != "{}" {
				t.Errorf("got %s", got)
			}
		}
		if begun := len(f.seen("POST initialize")); begun != 2 {
			t.Errorf("%d sessions were begun", begun)
		}
	})
}

func TestSessionThatCannotBeBegunAgain(t *testing.T) {
	for _, test := range []struct {
		name    string
		refuses func(w http.ResponseWriter, body string) bool // what comes after the first session
		want    string
		ended   bool
	}{
		{"always expired", func(http.ResponseWriter, string) bool { return false }, "HTTP status 404", false},
		{"refused", func(w http.ResponseWriter, _ string) bool {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}, "the server's session expired, and a new one could not be started: no answer to 'initialize': the server answered with HTTP status 500", false},
		{"another revision", func(w http.ResponseWriter, body string) bool {
			if !strings.Contains(body, `"initialize"`) {
				return false
			}
			_, rest, _ := strings.Cut(body, `"id":`)
			id, _, _ := strings.Cut(rest, ",")
			jsonAnswer(w, 200, `{"jsonrpc":"2.0","id":`+id+`,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}`)
			return true
		}, ErrReplaced.Error(), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newWeb(t)
				f.session = "s"
				session := f.mustConnect(Options{})
				synctest.Wait()
				f.before = func(w http.ResponseWriter, r *http.Request, body string) bool {
					if strings.Contains(body, "tools/call") {
						w.WriteHeader(http.StatusNotFound)
						return true
					}
					return r.Method == http.MethodPost && test.refuses(w, body)
				}
				if got := result(t, session); !strings.Contains(got, test.want) {
					t.Errorf("got %s, want %s", got, test.want)
				}
				if ended := session.Err() != nil; ended != test.ended {
					t.Errorf("the session ended: %v", session.Err())
				}
				if calls := len(f.seen("POST tools/call")); calls > 2 {
					t.Errorf("it was called %d times", calls)
				}
			})
		})
	}
}

func TestCloseDoesNotWaitForTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWeb(t)
		f.session = "s"
		f.get = func(w http.ResponseWriter, r *http.Request, _ string) {
			events(w)
			<-r.Context().Done()
		}
		f.call = func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }
		session := f.mustConnect(Options{})
		synctest.Wait()
		f.before = func(_ http.ResponseWriter, r *http.Request, _ string) bool {
			if r.Method == http.MethodDelete {
				<-r.Context().Done()
			}
			return false
		}
		in := newInbox()
		if _, err := session.CallTool(ToolCall{Name: "a"}, in); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		session.Close()
		if took := time.Since(began); took != partingTime {
			t.Errorf("took %s", took)
		}
		if got := in.outcome(); got != ErrClosed.Error() {
			t.Errorf("the call ended with %s", got)
		}
	})
}
