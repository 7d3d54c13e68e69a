package diff

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// httpLink speaks Streamable HTTP with an address. Messages of all streams come out in one channel.
type httpLink struct {
	t       *testing.T
	url     string
	stop    context.CancelFunc
	life    context.Context
	work    sync.WaitGroup
	lines   chan []byte
	end     func()
	session string // set by the answer to initialize, before anything else is sent
	version string
}

// dialWorkbench starts a workbench that serves over HTTP, and connects to its toolbox.
func dialWorkbench(t *testing.T, cmd *exec.Cmd) link {
	t.Helper()
	url, end := startWorkbench(t, cmd)
	return dialHTTP(t, url, end)
}

// dialHTTP connects to an address; end is called when the link was closed.
func dialHTTP(t *testing.T, url string, end func()) link {
	t.Helper()
	life, stop := context.WithCancel(context.Background())
	return &httpLink{t: t, url: url, life: life, stop: stop, lines: make(chan []byte, 1024), end: end}
}

// startWorkbench returns the address of the toolbox of a workbench that serves over HTTP.
func startWorkbench(t *testing.T, cmd *exec.Cmd) (url string, end func()) {
	t.Helper()
	address := make(chan string, 1)
	cmd.Stderr = &told{tap: func(text string) {
		if url, ok := strings.CutPrefix(text, "mcp-workbench: listening on "); ok {
			address <- url
		}
	}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		overdue := time.AfterFunc(patience, func() {
			t.Errorf("process %d did not end", cmd.Process.Pid)
			_ = cmd.Process.Kill()
		})
		defer overdue.Stop()
		_ = cmd.Wait()
	}
	select {
	case url := <-address:
		return url + "/" + toolboxName, end
	case <-time.After(patience):
		end()
		t.Fatal("the workbench does not say where it listens")
	}
	return "", nil
}

func (l *httpLink) received() <-chan []byte { return l.lines }

// send posts a message. Only the answer to a request is not waited for: it may take long, and
// questions come before it.
func (l *httpLink) send(text string) {
	l.t.Helper()
	var m line
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		l.t.Fatal(err)
	}
	if m.Method == "" || m.ID == nil || m.Method == "initialize" {
		l.post(text, m.Method == "initialize")
		if m.Method == "notifications/initialized" {
			l.listen()
		}
		return
	}
	l.work.Go(func() { l.post(text, false) })
}

func (l *httpLink) request(method string, body io.Reader) *http.Request {
	request, err := http.NewRequestWithContext(l.life, method, l.url, body)
	if err != nil {
		l.t.Error(err)
		return nil
	}
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Content-Type", "application/json")
	if l.session != "" {
		request.Header.Set("Mcp-Session-Id", l.session)
		request.Header.Set("Mcp-Protocol-Version", l.version)
	}
	return request
}

func (l *httpLink) post(text string, begins bool) {
	response, err := http.DefaultClient.Do(l.request(http.MethodPost, strings.NewReader(text)))
	if err != nil {
		if l.life.Err() == nil {
			l.t.Errorf("POST: %v", err)
		}
		return
	}
	if begins {
		l.session, l.version = response.Header.Get("Mcp-Session-Id"), versionIn(text)
	}
	l.take(response)
}

// versionIn is the revision that initialize asks for, which is what it gets here.
func versionIn(text string) string {
	var m struct {
		Params struct {
			Version string `json:"protocolVersion"`
		} `json:"params"`
	}
	_ = json.Unmarshal([]byte(text), &m)
	return m.Params.Version
}

// listen opens the stream for what belongs to no request.
func (l *httpLink) listen() {
	response, err := http.DefaultClient.Do(l.request(http.MethodGet, nil))
	if err != nil {
		l.t.Errorf("GET: %v", err)
		return
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		l.t.Errorf("GET: %s", response.Status)
		return
	}
	l.work.Go(func() { l.take(response) })
}

// take passes on the messages of a response, whichever form it has.
func (l *httpLink) take(response *http.Response) {
	defer response.Body.Close()
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		if body, err := io.ReadAll(response.Body); err == nil && len(bytes.TrimSpace(body)) > 0 {
			l.lines <- body
		}
		return
	}
	reader := bufio.NewReaderSize(response.Body, 1<<16)
	var data []byte
	for {
		text, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		text = bytes.TrimRight(text, "\r\n")
		if value, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		} else if len(text) == 0 && len(data) > 0 {
			l.lines <- data
			data = nil
		}
	}
}

func (l *httpLink) close() {
	l.stop()
	go func() {
		l.work.Wait()
		close(l.lines)
	}()
	for range l.lines {
	}
	l.end()
}
