package rig

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Client speaks with a workbench, and notes everything that no workbench may ever send.
type Client struct {
	link link

	gate sync.RWMutex // locked while the client does not read

	mu         sync.Mutex
	capable    string // what was declared, as JSON
	loose      bool   // see Loosen
	lastID     int
	pending    map[string][]chan Answer // who waits for the next answers with an id
	answered   map[string]bool
	notices    map[string]int
	asks       int // requests of the workbench, but pings
	violations []string
	ended      chan struct{} // closed when nothing more can come
}

// link carries lines to the workbench.
type link interface {
	send(line string) error
	ready()         // the session has begun
	trouble() error // that explains why an answer does not come; nil without any
	close() error
}

// Answer is a response.
type Answer struct {
	Line    []byte
	Result  json.RawMessage
	Code    int    // of an error
	Text    string // the first text block, or an error's message
	IsError bool   // of either kind
}

func newClient(way link) *Client {
	return &Client{
		link: way, capable: "{}", pending: make(map[string][]chan Answer), answered: make(map[string]bool),
		notices: make(map[string]int), ended: make(chan struct{}),
	}
}

// pipe is the way to a workbench over stdio.
type pipe struct {
	mu sync.Mutex
	in io.WriteCloser
}

func (p *pipe) send(line string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := io.WriteString(p.in, line+"\n")
	return err
}

func (*pipe) ready()         {}
func (*pipe) trouble() error { return nil }
func (p *pipe) close() error { return p.in.Close() }

// read passes lines to take until the workbench is gone.
func (c *Client) read(out io.Reader, take func(line []byte)) {
	lines := bufio.NewReaderSize(out, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			take(line)
		}
		if err != nil {
			return
		}
	}
}

// pass holds a line back while the client does not read.
func (c *Client) pass(line []byte) {
	c.gate.RLock()
	defer c.gate.RUnlock()
	c.receive(line)
}

// Pause stops reading, after one more line at most.
func (c *Client) Pause() { c.gate.Lock() }

// Resume goes on after Pause.
func (c *Client) Resume() { c.gate.Unlock() }

type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (c *Client) receive(line []byte) (m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !utf8.Valid(line):
		c.violate("not UTF-8", line)
	case line[len(line)-1] != '\n':
		c.violate("no line end", line)
	case json.Unmarshal(line, &m) != nil || m.Version != "2.0":
		c.violate("not a JSON-RPC 2.0 object", line)
	case m.Method != "" && m.ID != nil:
		c.asked(m, line)
	case m.Method != "":
		c.notices[m.Method]++
	default:
		c.answer(m, line)
	}
	return m
}

// asked refuses a request of the workbench, which may be one only for what was declared.
func (c *Client) asked(m message, line []byte) {
	kind, _, _ := strings.Cut(m.Method, "/")
	if m.Method != "ping" {
		c.asks++
	}
	if m.Method != "ping" && !strings.Contains(c.capable, `"`+kind+`"`) {
		c.violate("asks for what was not declared", line)
	}
	go func() { // the reader must not wait for the workbench to read
		_ = c.Send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"no"}}`)
	}()
}

func (c *Client) answer(m message, line []byte) {
	id := string(m.ID)
	waiters := c.pending[id]
	if (m.Result == nil) == (m.Error == nil) {
		c.violate("not one of result and error", line)
	}
	if len(waiters) == 0 {
		if c.answered[id] || !c.loose && id != "null" {
			c.violate("answers what was not asked, or was cancelled, or answered before", line)
		}
		return
	}
	c.pending[id] = waiters[1:]
	c.answered[id] = true
	waiters[0] <- newAnswer(m, line)
}

// belongs checks that an answer came where that to a request with this id belongs.
func (c *Client) belongs(m message, id string, line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer := string(m.ID); !c.loose && answer != id && answer != "null" {
		c.violate("came as the answer to "+id, line)
	}
}

func newAnswer(m message, line []byte) Answer {
	a := Answer{Line: line, Result: m.Result}
	if m.Error != nil {
		a.Code, a.Text, a.IsError = m.Error.Code, m.Error.Message, true
		return a
	}
	var result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(m.Result, &result) == nil {
		if a.IsError = result.IsError; len(result.Content) > 0 {
			a.Text = result.Content[0].Text
		}
	}
	return a
}

func (c *Client) violate(what string, line []byte) {
	c.violations = append(c.violations, fmt.Sprintf("%s: %.300q", what, bytes.TrimSpace(line)))
}

// protest is violate for those who do not hold the lock.
func (c *Client) protest(what string, line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.violate(what, line)
}

// Loosen is for tests that send nonsense: answers to ids that the client did not give are
// allowed from now on.
func (c *Client) Loosen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loose = true
}

// Violations returns what the workbench must never do and did.
func (c *Client) Violations() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.violations...)
}

// Notices returns how many notifications of a method came.
func (c *Client) Notices(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.notices[method]
}

// Asks returns how many requests the workbench sent, but pings.
func (c *Client) Asks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asks
}

// Send sends a line.
func (c *Client) Send(line string) error { return c.link.send(line) }

// Call is a request that was sent.
type Call struct {
	ID     string
	client *Client
	answer chan Answer
}

// Begin sends a request. A failure to send shows when it is waited for.
func (c *Client) Begin(method, params string) *Call {
	c.mu.Lock()
	c.lastID++
	id := fmt.Sprint(c.lastID)
	c.mu.Unlock()
	call := c.Expect(id)
	_ = c.Send(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
	return call
}

// Expect makes an answer with that id one that may come, once for each time it is called.
func (c *Client) Expect(id string) *Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := &Call{ID: id, client: c, answer: make(chan Answer, 1)}
	c.pending[id] = append(c.pending[id], call.answer)
	return call
}

// Wait waits for the answer.
func (p *Call) Wait(limit time.Duration) (Answer, error) {
	timer := time.NewTimer(limit * slack())
	defer timer.Stop()
	select {
	case a := <-p.answer:
		return a, nil
	case <-timer.C:
		return Answer{}, errors.Join(fmt.Errorf("no answer within %v", limit), p.client.link.trouble())
	case <-p.client.ended:
		select {
		case a := <-p.answer: // it was the last thing
			return a, nil
		default:
			return Answer{}, errors.New("the workbench is gone without an answer")
		}
	}
}

// Cancel cancels the request; no answer may come from now on, but one that was on its way.
func (p *Call) Cancel() error {
	return p.client.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + p.ID + `}}`)
}

// Forbid makes an answer a violation.
func (p *Call) Forbid() {
	p.client.mu.Lock()
	defer p.client.mu.Unlock()
	delete(p.client.pending, p.ID)
}

// Initialize begins the session with these capabilities.
func (c *Client) Initialize(capabilities string, limit time.Duration) (Answer, error) {
	c.mu.Lock()
	c.capable = capabilities
	c.mu.Unlock()
	a, err := c.Begin("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+
		`,"clientInfo":{"name":"rig","version":"1"}}`).Wait(limit)
	if err != nil {
		return a, err
	}
	err = c.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.link.ready()
	return a, err
}

// Open begins to open a toolbox.
func (c *Client) Open(box string) *Call {
	return c.Begin("tools/call", fmt.Sprintf(`{"name":"open_toolbox","arguments":{"toolbox":%q}}`, box))
}

// Use begins a call of a tool; it asks for progress.
func (c *Client) Use(box, server, tool, arguments string) *Call {
	return c.Begin("tools/call", fmt.Sprintf(
		`{"name":"use_tool","arguments":{"tool":{"toolbox":%q,"server":%q,"name":%q},"arguments":%s},"_meta":{"progressToken":"p"}}`,
		box, server, tool, arguments))
}
