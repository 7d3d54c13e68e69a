package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// conn is a server at work: for the one client of a pair of pipes, or for all that come
// over HTTP.
type conn struct {
	server *Server
	out    outlet        // for what belongs to no request
	quit   chan struct{} // closed when the server ends
	work   sync.WaitGroup

	logging sync.Mutex
	telling sync.Mutex // so that a subscription is acknowledged before anything is told

	mu        sync.Mutex
	err       error         // why it ended
	ended     bool          // quit is closed
	changed   chan struct{} // closed when one of these changes, and made anew
	pages     [][]json.RawMessage
	calls     []string // names of tools, as the calls came
	cancelled map[string]bool
	answers   map[string]bool // ids of our requests that were answered
	asked     int
	eof       bool
	listeners []request // those that subscribed to changes of the tools
	settled   string    // the era of the first request; see Server.Settles
}

// outlet is where messages of the server go: the client's input, or one response or
// stream of HTTP.
type outlet interface {
	write(message []byte) error
	// cut ends it without another word.
	cut()
}

// request is a message of the client, as far as the fake understands it. The zero value
// stands for the start of the server.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Cursor    string          `json:"cursor"`

		Capabilities map[string]json.RawMessage `json:"capabilities"`
		RequestID    json.RawMessage            `json:"requestId"`
		Version      string                     `json:"protocolVersion"`
		State        string                     `json:"requestState"`
		// Wanted is what a subscription is to.
		Wanted json.RawMessage `json:"notifications"`
		Meta   struct {
			Token        json.RawMessage `json:"progressToken"`
			Version      string          `json:"io.modelcontextprotocol/protocolVersion"`
			Capabilities json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	} `json:"params"`

	out outlet // where what belongs to it goes; nil: to conn.out
	// scope is what its id is unique in: a session, or itself.
	scope string
}

// key is the request's id among those of all clients.
func (r request) key() string { return r.scope + " " + string(r.ID) }

func newConn(s *Server, out outlet) *conn {
	pages := s.Pages
	if len(pages) == 0 {
		pages = [][]json.RawMessage{s.Tools}
	}
	return &conn{
		server: s, out: out, pages: pages,
		quit: make(chan struct{}), changed: make(chan struct{}),
		cancelled: make(map[string]bool), answers: make(map[string]bool),
	}
}

// end lets Serve return with err; only the first one counts.
func (c *conn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.ended, c.err = true, err
		close(c.quit)
	}
}

// take reads a message; ok is false if it is none.
func (c *conn) take(line []byte, scope string) (message request, ok bool) {
	if err := json.Unmarshal(line, &message); err != nil {
		c.logf("cannot read that: %v", err)
		return message, false
	}
	message.scope = scope
	return message, true
}

// note tells steps that wait for it that a message came.
func (c *conn) note(message request) {
	c.update(func() {
		switch message.Method {
		case "":
			c.answers[string(message.ID)] = true
		case "tools/call":
			c.calls = append(c.calls, message.Params.Name)
		case "notifications/cancelled":
			c.cancelled[request{ID: message.Params.RequestID, scope: message.scope}.key()] = true
		}
	})
}

// receive notes a message and answers it in its own time.
func (c *conn) receive(message request) {
	c.note(message)
	switch message.Method {
	case "":
	case "subscriptions/listen":
		c.answer(message) // before anything that may have to be told
	default:
		c.work.Go(func() { c.answer(message) })
	}
}

// update changes what steps may wait for.
func (c *conn) update(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// answer does what the server was told to, or else the usual thing.
func (c *conn) answer(message request) {
	if c.server.Era == "modern" && message.Method == "initialize" && c.do(message, c.server.On[message.Method]) {
		return
	}
	if problem := c.eraProblem(message); problem != "" && len(message.ID) > 0 {
		c.fail(message, []byte(problem))
		return
	}
	steps := c.server.On[message.Method]
	if message.Method == "tools/call" {
		steps = append(steps[:len(steps):len(steps)], c.server.Calls[message.Params.Name]...)
	}
	if c.do(message, steps) || len(message.ID) == 0 {
		return
	}
	switch message.Method {
	case "initialize":
		c.initialize(message)
	case "server/discover":
		c.discover(message)
	case "subscriptions/listen":
		c.listen(message)
	case "ping":
		c.result(message, []byte("{}"))
	case "tools/list":
		c.list(message)
	case "tools/call":
		c.echo(message)
	default:
		c.unknown(message)
	}
}

func (c *conn) unknown(message request) {
	c.fail(message, fmt.Appendf(nil, `{"code":-32601,"message":%s}`, quote("Method not found: "+message.Method)))
}

func (c *conn) initialize(message request) {
	version := message.Params.Version
	known := len(c.server.Versions) == 0
	for _, v := range c.server.Versions {
		known = known || v == version
	}
	if !known && c.server.Refuse {
		supported, _ := json.Marshal(c.server.Versions)
		c.fail(message, fmt.Appendf(nil, `{"code":-32602,"message":"Unsupported protocol version","data":{"supported":%s,"requested":%s}}`,
			supported, quote(version)))
		return
	}
	if !known {
		version = c.server.Versions[0]
	}
	if c.server.Answer != "" {
		version = c.server.Answer
	}
	for capability, tools := range c.server.ToolsFor {
		if _, ok := message.Params.Capabilities[capability]; ok {
			c.update(func() {
				c.pages = append(slices.Clone(c.pages[:len(c.pages)-1]), slices.Concat(c.pages[len(c.pages)-1], tools))
			})
		}
	}
	result := fmt.Appendf(nil, `{"protocolVersion":%s,"capabilities":%s,"serverInfo":{"name":"fake","version":"1"}`, quote(version), c.capabilities())
	if c.server.Instructions != "" {
		result = fmt.Appendf(result, `,"instructions":%s`, quote(c.server.Instructions))
	}
	c.result(message, append(result, '}'))
}

func (c *conn) capabilities() []byte {
	if len(c.server.Capabilities) == 0 {
		return []byte(`{"tools":{"listChanged":true}}`)
	}
	return c.server.Capabilities
}

// list answers with a page; the cursor is its number.
func (c *conn) list(message request) {
	c.mu.Lock()
	pages := c.pages
	c.mu.Unlock()
	number := 0
	if cursor := message.Params.Cursor; cursor != "" {
		if _, err := fmt.Sscanf(cursor, "page-%d", &number); err != nil || number >= len(pages) {
			c.fail(message, []byte(`{"code":-32602,"message":"Unknown cursor"}`))
			return
		}
	}
	var texts []string
	for _, tool := range pages[number] {
		texts = append(texts, string(tool))
	}
	result := "{" + message.cached() + `"tools":[` + strings.Join(texts, ",") + "]"
	if number+1 < len(pages) {
		result += fmt.Sprintf(`,"nextCursor":"page-%d"`, number+1)
	}
	c.result(message, []byte(result+"}"))
}

// echo answers a call with the tool's name and its arguments as they came.
func (c *conn) echo(message request) {
	text := strings.TrimSpace(message.Params.Name + " " + string(message.Params.Arguments))
	c.result(message, fmt.Appendf(nil, `{%s"content":[{"type":"text","text":%s}]}`, message.complete(), quote(text)))
}

func (c *conn) result(message request, raw []byte) {
	c.send(message, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, message.ID, raw))
}

func (c *conn) fail(message request, raw []byte) {
	c.send(message, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, message.ID, raw))
}

// send writes a message that belongs to a request.
func (c *conn) send(to request, message []byte) {
	if err := c.outletOf(to).write(message); err != nil {
		c.logf("cannot write: %v", err)
	}
}

func (c *conn) outletOf(message request) outlet {
	if message.out != nil {
		return message.out
	}
	return c.out
}

// logf writes each event at once, so that processes can share a log file.
func (c *conn) logf(format string, args ...any) {
	if c.server.Log == nil {
		return
	}
	c.logging.Lock()
	defer c.logging.Unlock()
	_, _ = c.server.Log.Write(fmt.Appendf(nil, format+"\n", args...)) // a test that needs the log misses the line
}

// quote is a JSON string without the escapes that encoding/json adds for HTML.
func quote(text string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err) // a string can always be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
