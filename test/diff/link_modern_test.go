package diff

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// modernLink speaks Streamable HTTP of the modern era: a request is a POST, and no more.
type modernLink struct {
	httpLink

	mu     sync.Mutex
	closes map[string]context.CancelFunc // of requests under way, by id
}

// dialModern connects to an address; end is called when the link was closed.
func dialModern(t *testing.T, url string, end func()) link {
	t.Helper()
	life, stop := context.WithCancel(context.Background())
	return &modernLink{
		httpLink: httpLink{t: t, url: url, life: life, stop: stop, lines: make(chan []byte, 1024), end: end},
		closes:   make(map[string]context.CancelFunc),
	}
}

// send posts a request. One is cancelled by closing it.
func (l *modernLink) send(text string) {
	l.t.Helper()
	var m line
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		l.t.Fatal(err)
	}
	if m.ID == nil {
		var which struct {
			ID json.RawMessage `json:"requestId"`
		}
		if err := json.Unmarshal(m.Params, &which); err != nil || m.Method != "notifications/cancelled" {
			l.t.Fatalf("there is no such message in the modern era: %s", text)
		}
		l.mu.Lock()
		closes := l.closes[string(which.ID)]
		l.mu.Unlock()
		closes()
		return
	}
	life, closes := context.WithCancel(l.life)
	l.mu.Lock()
	l.closes[string(m.ID)] = closes
	l.mu.Unlock()
	l.work.Go(func() {
		defer closes()
		request := l.request(http.MethodPost, strings.NewReader(text)).WithContext(life)
		request.Header.Set("Mcp-Protocol-Version", modernRevision)
		request.Header.Set("Mcp-Method", m.Method)
		if name := nameHeader(m); name != "" {
			request.Header.Set("Mcp-Name", name)
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			l.take(response)
		} else if life.Err() == nil {
			l.t.Errorf("POST: %v", err)
		}
	})
}

// nameHeader is what a request is about, as its header says it; "" if it needs none.
func nameHeader(m line) string {
	key := map[string]string{
		"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
		"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId",
	}[m.Method]
	var params map[string]json.RawMessage
	var name string
	if key == "" || json.Unmarshal(m.Params, &params) != nil || json.Unmarshal(params[key], &name) != nil {
		return ""
	}
	plain := strings.TrimSpace(name) == name && !strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c > '~' })
	if plain {
		return name
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
}
