package downstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// sseServer makes a fake server speak HTTP+SSE: what would be the response of a POST goes
// to the one stream. Its stream ends when the channel that is returned is closed.
func sseServer(f *web, endpoint string) (end chan struct{}) {
	end = make(chan struct{})
	stream := make(chan string, 100)
	f.before = func(w http.ResponseWriter, r *http.Request, body string) bool {
		if r.Method == http.MethodGet {
			send := events(w)
			send("event: endpoint\ndata: " + endpoint + "\n\n")
			for {
				select {
				case text := <-stream:
					send("event: message\ndata: " + text + "\n\n")
				case <-end:
					return true
				case <-r.Context().Done():
					return true
				}
			}
		}
		if r.URL.Path != "/messages" || r.URL.Query().Get("sessionId") != "1" {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		answer := &recorded{header: make(http.Header)}
		_, rest, _ := strings.Cut(body, `"id":`)
		id, _, _ := strings.Cut(rest, ",")
		_, rest, _ = strings.Cut(body, `"method":"`)
		method, _, _ := strings.Cut(rest, `"`)
		if strings.Contains(body, `"name":"refused"`) {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}
		f.post(answer, r, method, id)
		if text := answer.text.String(); text != "" {
			stream <- text
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "Accepted")
		return true
	}
	return end
}

// recorded keeps a response.
type recorded struct {
	header http.Header
	text   strings.Builder
}

func (r *recorded) Header() http.Header         { return r.header }
func (r *recorded) Write(p []byte) (int, error) { return r.text.Write(p) }
func (r *recorded) WriteHeader(int)             {}

func TestSSE(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWeb(t)
		end := sseServer(f, "/messages?sessionId=1")
		session := f.mustConnect(Options{Remote: &Remote{URL: "http://127.0.0.1/sse", SSE: true, Headers: []Header{{"Authorization", "Bearer x"}}}})
		if session.Modern() || len(f.seen("POST server/discover")) > 0 {
			t.Error("this transport knows one era only")
		}
		tools, _, err := session.ListTools(t.Context())
		if err != nil || len(tools) != 1 {
			t.Errorf("%d tools, error %v", len(tools), err)
		}
		if got := result(t, session); got != `{"ok":true}` {
			t.Errorf("got %s", got)
		}
		in := newInbox()
		if _, err := session.CallTool(ToolCall{Name: "refused"}, in); err != nil {
			t.Fatal(err)
		}
		if got := in.outcome(); !strings.Contains(got, "HTTP status 500") {
			t.Errorf("got %s", got)
		}
		for _, request := range f.seen("") {
			if !strings.Contains(request, "Authorization=Bearer x") {
				t.Errorf("no token in %q", request)
			}
		}
		f.call = func(http.ResponseWriter, *http.Request, string) {} // no answer
		id, err := session.CallTool(ToolCall{Name: "a"}, in)
		if err != nil {
			t.Fatal(err)
		}
		session.Cancel(id, nil)
		synctest.Wait()
		if len(f.seen("POST notifications/cancelled")) != 1 {
			t.Error("the server was not told of the cancelled call")
		}
		if _, err = session.CallTool(ToolCall{Name: "a"}, in); err != nil {
			t.Fatal(err)
		}
		close(end)
		if got := in.outcome(); got != ErrStreamEnded.Error() || !errors.Is(session.Err(), ErrStreamEnded) {
			t.Errorf("the call ended with %s, the session with %v", got, session.Err())
		}
	})
}

func TestSSEEndpoint(t *testing.T) {
	for _, test := range []struct{ name, endpoint, want string }{
		{"absolute", "http://127.0.0.1/messages?sessionId=1", ""},
		{"relative", "messages?sessionId=1", ""},
		{"another server", "http://user:word@127.0.0.2/messages?sessionId=1", "http://127.0.0.2/messages"},
		{"another scheme", "https://127.0.0.1/messages?sessionId=1", "an endpoint on another server"},
		{"no address", "http://%zz/", "not an address"},
		{"nothing there", "/elsewhere", "HTTP status 404"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newWeb(t)
			sseServer(f, test.endpoint)
			_, err := f.connect(Options{Remote: &Remote{URL: "http://127.0.0.1/sse", SSE: true}})
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "word")) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestSSEThatDoesNotBegin(t *testing.T) {
	for _, test := range []struct {
		name string
		get  func(w http.ResponseWriter, r *http.Request, id string)
		want string
	}{
		{"refused", func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusNotFound) }, "HTTP status 404"},
		{"HTML", func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", "text/html")
		}, "an HTML page"},
		{"another event", func(w http.ResponseWriter, _ *http.Request, _ string) { events(w)("data: {}\n\n") }, "does not begin with an endpoint"},
		{"an empty stream", func(w http.ResponseWriter, _ *http.Request, _ string) { events(w) }, ErrStreamEnded.Error()},
		{"silence", func(w http.ResponseWriter, r *http.Request, _ string) {
			events(w)
			<-r.Context().Done()
		}, "no event stream with an endpoint: context deadline exceeded"},
		{"no headers", func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }, "no event stream with an endpoint: context deadline exceeded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newWeb(t)
				f.get = test.get
				server := &http.Server{Handler: f}
				go func() { _ = server.Serve(f) }()
				defer server.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				session, err := Connect(ctx, Options{Remote: &Remote{URL: webAddress, SSE: true, dial: f.dial}})
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, error %v, want %q", session, err, test.want)
				}
			})
		})
	}
}

func TestSSEMessageThatIsTooLong(t *testing.T) {
	f := newWeb(t)
	sseServer(f, "/messages?sessionId=1")
	f.call = func(w http.ResponseWriter, _ *http.Request, id string) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","result":{"x":"%s"},"id":%s}`, strings.Repeat("x", 2000), id)
	}
	session := f.mustConnect(Options{MaxMessage: 1000, Remote: &Remote{URL: "http://127.0.0.1/sse", SSE: true}})
	if got := result(t, session); !strings.Contains(got, "maxMessageSize") {
		t.Errorf("got %s", got)
	}
	f.call = nil
	if got := result(t, session); got != `{"ok":true}` {
		t.Errorf("afterwards: %s", got)
	}
}
