package mcptest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Client is an MCP client that does exactly what it is told and keeps every line that it
// receives. It is safe for concurrent use.
type Client struct {
	write func(line string) error

	mu       sync.Mutex
	received []Message
	changed  chan struct{} // closed when received grows or ends, and made anew
	ended    error         // not nil: there will be no more
	lastID   int
}

// Message is one line that a client received.
type Message struct {
	Raw    []byte          // without the line end
	ID     json.RawMessage // nil for a notification
	Method string          // "" for a response
	Params json.RawMessage
	Result json.RawMessage // byte for byte
	Error  *RPCError
	// Bad says why the line is no message; nil if it is one.
	Bad error
}

// RPCError is the error of a response.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// NewClient makes a client that writes to a server's input and reads its output, in a
// goroutine that ends with it.
func NewClient(in io.Writer, out io.Reader) *Client {
	var writing sync.Mutex
	c := &Client{changed: make(chan struct{})}
	c.write = func(line string) error {
		writing.Lock()
		defer writing.Unlock()
		_, err := io.WriteString(in, line+"\n")
		return err
	}
	go c.read(bufio.NewReader(out))
	return c
}

func (c *Client) read(in *bufio.Reader) {
	for {
		line, err := in.ReadBytes('\n')
		c.add(line, err)
		if err != nil {
			return
		}
	}
}

// add notes a line that came, if there is one, and the end if there is an error.
func (c *Client) add(line []byte, ended error) {
	if len(line) > 0 {
		c.addMessage(parse(line))
	}
	if ended != nil {
		c.update(func() { c.ended = ended })
	}
}

func (c *Client) addMessage(message Message) {
	c.update(func() { c.received = append(c.received, message) })
}

func (c *Client) update(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

func parse(line []byte) Message {
	message := Message{Raw: bytes.TrimSuffix(line, []byte("\n"))}
	var parts struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   *RPCError       `json:"error"`
	}
	switch err := json.Unmarshal(line, &parts); {
	case err != nil && !bytes.HasPrefix(line, []byte("[")):
		message.Bad = err
	case err == nil && parts.Version != "2.0":
		message.Bad = fmt.Errorf("its jsonrpc is %q", parts.Version)
	case !bytes.HasSuffix(line, []byte("\n")):
		message.Bad = fmt.Errorf("it has no line end")
	}
	message.ID, message.Method, message.Params = parts.ID, parts.Method, parts.Params
	message.Result, message.Error = parts.Result, parts.Error
	return message
}

// Send writes one line as it is.
func (c *Client) Send(line string) error { return c.write(line) }

// Begin sends a request and returns its id; Response waits for the answer. params may be
// empty.
func (c *Client) Begin(method, params string) (id string, err error) {
	c.mu.Lock()
	c.lastID++
	id = fmt.Sprint(c.lastID)
	c.mu.Unlock()
	if params != "" {
		params = `,"params":` + params
	}
	return id, c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%s%s}`, id, quote(method), params))
}

// Request sends a request and waits for its response.
func (c *Client) Request(ctx context.Context, method, params string) (Message, error) {
	id, err := c.Begin(method, params)
	if err != nil {
		return Message{}, err
	}
	return c.Response(ctx, id)
}

// Response waits for the response to a request; id is in JSON.
func (c *Client) Response(ctx context.Context, id string) (Message, error) {
	message, _, err := c.Await(ctx, 0, func(m Message) bool { return m.Method == "" && string(m.ID) == id })
	return message, err
}

// Await waits for a message that fits, among those from index first on, and returns it
// with its index.
func (c *Client) Await(ctx context.Context, first int, fits func(Message) bool) (Message, int, error) {
	for index := first; ; {
		c.mu.Lock()
		received, ended, changed := c.received, c.ended, c.changed
		c.mu.Unlock()
		for ; index < len(received); index++ {
			if fits(received[index]) {
				return received[index], index, nil
			}
		}
		if ended != nil {
			return Message{}, 0, fmt.Errorf("the server's output ended: %w", ended)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Message{}, 0, context.Cause(ctx)
		}
	}
}

// Received returns all that came so far.
func (c *Client) Received() []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.received[:len(c.received):len(c.received)]
}

// Initialize begins a session in the way of the protocol and returns the server's answer.
func (c *Client) Initialize(ctx context.Context, revision string) (Message, error) {
	answer, err := c.Request(ctx, "initialize", fmt.Sprintf(
		`{"protocolVersion":%s,"capabilities":{},"clientInfo":{"name":"mcptest","version":"1"}}`, quote(revision)))
	if err != nil {
		return answer, err
	}
	return answer, c.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}
