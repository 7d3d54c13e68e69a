//go:build unix

package page

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// runtime returns a folder for sockets, whose path is short.
func runtime(t *testing.T) runtimedir.Dir {
	t.Helper()
	folder, err := os.MkdirTemp("", "page")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	dir, err := runtimedir.Open(func(name string) string {
		return map[string]string{"XDG_RUNTIME_DIR": folder}[name]
	}, folder)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// bench is a running workbench that says what a test wants.
type bench struct {
	pid     int
	events  chan string // lines of its watch; it ends when this is closed
	old     bool        // it cannot be watched
	watches atomic.Int32
	left    chan struct{} // has a value for each watch that ended
	server  *http.Server
	ended   chan error

	mu  sync.Mutex
	got []string // requests
}

func (b *bench) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/v1/status":
		_ = json.NewEncoder(w).Encode(control.Workbench{PID: b.pid, Version: "x", Servers: []control.Server{{Key: "dev/git"}}})
	case r.URL.Path == "/v1/watch" && !b.old:
		b.watches.Add(1)
		defer func() {
			b.watches.Add(-1)
			b.left <- struct{}{}
		}()
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case line, ok := <-b.events:
				if !ok {
					return
				}
				_, _ = io.WriteString(w, line+"\n")
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	case r.URL.Path == "/v1/logs":
		_, _ = io.WriteString(w, "a line\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case r.URL.Path == "/v1/restart":
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Cookie", "a=b")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"error":"no"}`)
	case b.old:
		http.NotFound(w, r)
	default:
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		b.got = append(b.got, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.RequestURI(), body, r.Header.Get("Mcp-Workbench-Page")))
		b.mu.Unlock()
		_, _ = io.WriteString(w, `{}`)
	}
}

func (b *bench) last() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.got) == 0 {
		return ""
	}
	return b.got[len(b.got)-1]
}

// startBench makes a workbench that control.Find finds.
func startBench(t *testing.T, dir runtimedir.Dir, pid int, old bool) *bench {
	t.Helper()
	b := &bench{pid: pid, events: make(chan string), old: old, left: make(chan struct{}, 10), ended: make(chan error, 1)}
	listener, err := dir.Listen("control-" + strconv.Itoa(pid))
	if err != nil {
		t.Fatal(err)
	}
	b.server = &http.Server{Handler: b}
	go func() { b.ended <- b.server.Serve(listener) }()
	t.Cleanup(b.stop)
	return b
}

func (b *bench) stop() {
	_ = b.server.Close()
	<-b.ended
	b.ended <- nil // for another stop
}

// site is a page that a browser reaches.
type site struct {
	page  *Page
	url   string
	token string
}

func startSite(t *testing.T, dir runtimedir.Dir) *site {
	t.Helper()
	p := newTestPage(t, Options{Sessions: true, Mode: ModeUI, Find: func(ctx context.Context) ([]*control.Client, error) { return control.Find(ctx, dir) }})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &site{page: p, url: "http://" + listener.Addr().String(), token: openWith(t, p, codeOf(t, p.Link("http://127.0.0.1:1")))}
}

func (s *site) do(t *testing.T, method, path, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// text returns a whole answer.
func (s *site) text(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	response := s.do(t, method, path, body)
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, strings.TrimSpace(string(all))
}

// watching is an open watch.
type watching struct {
	t        *testing.T
	response *http.Response
	lines    *bufio.Scanner
}

func (s *site) watch(t *testing.T) *watching {
	t.Helper()
	response := s.do(t, http.MethodGet, "/ui/api/watch", "") //nolint:bodyclose // closed when the test ends
	if response.StatusCode != http.StatusOK {
		t.Fatal(response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 64<<20)
	return &watching{t, response, lines}
}

// next returns the next line that is not a keep-alive.
func (w *watching) next() line {
	w.t.Helper()
	for w.lines.Scan() {
		if w.lines.Text() == "{}" {
			continue
		}
		var l line
		if err := json.Unmarshal(w.lines.Bytes(), &l); err != nil {
			w.t.Fatal(err)
		}
		return l
	}
	w.t.Fatalf("the watch ended: %v", w.lines.Err())
	return line{}
}

// until returns the first line that is wanted.
func (w *watching) until(wanted func(line) bool) line {
	w.t.Helper()
	for {
		if l := w.next(); wanted(l) {
			return l
		}
	}
}
