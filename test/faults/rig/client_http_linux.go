package rig

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
)

// web is the way to a workbench over Streamable HTTP: a POST for each line, and a GET for
// what the workbench says by itself.
type web struct {
	client  *Client
	address string
	token   string // "" for none
	http    *http.Client
	life    context.Context
	cancel  context.CancelFunc

	mu      sync.Mutex // guards what follows
	session string
	closed  bool
	under   sync.WaitGroup // requests; none is added once it is closed
	problem error          // the last one
}

// lastBytes is how long answers may take to be read once the workbench is gone.
const lastBytes = 5 * time.Second

var errGone = errors.New("the workbench is gone")

func newWeb(address string) *web {
	life, cancel := context.WithCancel(context.Background())
	transport := &http.Transport{MaxIdleConnsPerHost: 8, DisableCompression: true}
	return &web{address: address, http: &http.Client{Transport: transport}, life: life, cancel: cancel}
}

// enter counts a request that is about to be made; the caller counts it down.
func (l *web) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.under.Add(1)
	}
	return !l.closed
}

// send posts a line. Only what gets an answer is not waited for: it may take long.
func (l *web) send(line string) error {
	if !l.enter() {
		return errGone
	}
	id, isRequest := requestID(line)
	if !isRequest {
		defer l.under.Done()
		return l.note(l.post(line, ""))
	}
	go func() {
		defer l.under.Done()
		_ = l.note(l.post(line, id)) // whoever waits for the answer is told
	}()
	return nil
}

// requestID returns the id of a line that may be a request, as far as that can be seen
// without decoding what may be megabytes, or no JSON.
func requestID(line string) (id string, ok bool) {
	if strings.HasPrefix(line, "[") {
		return "", strings.Contains(line, `"method"`)
	}
	head := line[:min(len(line), 1000)]
	_, rest, hasID := strings.Cut(head, `"id":`)
	if !hasID || !strings.Contains(head, `"method"`) {
		return "", false
	}
	id, _, _ = strings.Cut(rest, ",")
	return id, true
}

// note remembers a problem, for those who wait in vain.
func (l *web) note(err error) error {
	if err != nil {
		l.mu.Lock()
		l.problem = err
		l.mu.Unlock()
	}
	return err
}

func (l *web) trouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.problem
}

func (l *web) request(method string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(l.life, method, l.address, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	if l.token != "" {
		request.Header.Set("Authorization", "Bearer "+l.token)
	}
	l.mu.Lock()
	if l.session != "" {
		request.Header.Set("Mcp-Session-Id", l.session)
		request.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	l.mu.Unlock()
	return l.http.Do(request)
}

func (l *web) post(line, id string) error {
	response, err := l.request(http.MethodPost, strings.NewReader(line))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if session := response.Header.Get("Mcp-Session-Id"); session != "" {
		l.mu.Lock()
		l.session = session
		l.mu.Unlock()
	}
	return l.take(response, id)
}

// take reads what a response brings. An id is that of the request which it must answer.
func (l *web) take(response *http.Response, id string) error {
	body := gated{response.Body, l.client}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")) // an unknown one is a violation
	switch {
	case response.StatusCode == http.StatusAccepted:
		text, err := io.ReadAll(body)
		if len(text) > 0 {
			l.client.protest("a body of what was accepted", text)
		}
		return err
	case kind == "application/json":
		text, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		l.messages(text, id)
		if response.StatusCode != http.StatusOK { // the line was read, and refused
			_ = l.note(fmt.Errorf("HTTP status %d: %.300s", response.StatusCode, text))
		}
		return nil
	case kind == "text/event-stream" && response.StatusCode == http.StatusOK:
		return l.events(body, id)
	}
	l.client.protest(fmt.Sprintf("HTTP status %d with content of type %q", response.StatusCode, kind), nil)
	return nil
}

// messages takes one message, or those of a batch.
func (l *web) messages(text []byte, id string) {
	batch := []json.RawMessage{text}
	if bytes.HasPrefix(text, []byte("[")) && json.Unmarshal(text, &batch) != nil {
		l.client.protest("not a batch of messages", text)
		return
	}
	for _, one := range batch {
		l.message(one, id)
	}
}

func (l *web) message(text []byte, id string) {
	line := append(bytes.TrimRight(text, "\n"), '\n')
	m := l.client.receive(line)
	if m.Method == "" && id != "" {
		l.client.belongs(m, id, line)
	}
}

func (l *web) events(body io.Reader, id string) error {
	in := bufio.NewReaderSize(body, 1<<16)
	for {
		data, err := nextEvent(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(data) > 0 {
			l.message(data, id)
		}
	}
}

// ready opens the stream of what the workbench says by itself.
func (l *web) ready() {
	if !l.enter() {
		return
	}
	go func() {
		defer l.under.Done()
		response, err := l.request(http.MethodGet, nil)
		if err == nil {
			defer response.Body.Close()
			err = l.take(response, "")
		}
		_ = l.note(err) // whoever misses something is told
	}()
}

var errStdio = errors.New("there is no session over stdio")

// Join begins a session of another client, who has this token. Close it.
func (w *Workbench) Join(token string) (*Client, error) {
	first, ok := w.link.(*web)
	if !ok {
		return nil, errStdio
	}
	way := newWeb(first.address)
	way.token = token
	way.client = newClient(way)
	if _, err := way.client.Initialize("{}", patience); err != nil {
		way.cancel()
		return nil, errors.Join(err, way.close())
	}
	return way.client, nil
}

// Close ends the session of a client that joined.
func (c *Client) Close() error {
	err := c.Leave()
	return errors.Join(err, c.link.close())
}

// Place is where a client's messages go over HTTP, and as which session.
func (c *Client) Place() (address, session string) {
	l, ok := c.link.(*web)
	if !ok {
		return "", ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.address, l.session
}

// Leave ends the client's session, as a client does that is done.
func (c *Client) Leave() error {
	l, ok := c.link.(*web)
	if !ok {
		return errStdio
	}
	response, err := l.request(http.MethodDelete, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the end of the session was answered with HTTP status %d", response.StatusCode)
	}
	return nil
}

// close is for when the workbench is gone: what it sent is read, and that is all.
func (l *web) close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	late := time.AfterFunc(lastBytes, l.cancel)
	l.under.Wait()
	late.Stop()
	l.cancel()
	l.http.CloseIdleConnections()
	return nil
}
