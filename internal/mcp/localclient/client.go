// Package localclient is an MCP client in the same process as its server. It returns messages
// unchanged.
package localclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Options are the server of a client, and handlers of notifications and requests; nil handlers are
// not called.
type Options struct {
	// Serve serves one client until it closes its side. It closes in and out.
	Serve func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error

	Name, Version string
	Capabilities  []byte // declared by the client; nil: none
	MaxMessage    int    // size of a message to read, in bytes

	// Progress and Log receive the params of notifications, in order, and before the response to their request. The
	// server waits until they return.
	Progress func(params wire.Payload)
	Log      func(params wire.Payload)

	// Answer answers a request of the server. It may block: ctx ends when the response is no longer needed. By default
	// all requests except ping are refused.
	Answer func(ctx context.Context, method string, params wire.Payload) (result []byte, err error)
}

// Client is one session. It is safe for concurrent use.
type Client struct {
	options Options
	out     *io.PipeWriter
	writing sync.Mutex

	life   context.Context // of questions
	giveUp context.CancelFunc
	parts  sync.WaitGroup // the server, the reader, and the handlers of questions
	served error          // result of Serve; set before parts is done

	mu      sync.Mutex
	lastID  uint64
	pending map[uint64]chan wire.Message
	asked   map[string]context.CancelFunc // unanswered questions by id
	ended   error                         // not nil: the session is over
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int
	Message string
	Data    wire.Payload
}

func (e *Error) Error() string { return e.Message }

var errEnded = errors.New("the workbench ended the session")

// Connect opens a session. It must be closed.
func Connect(ctx context.Context, options Options) (*Client, error) {
	toServer, out := io.Pipe()
	in, fromServer := io.Pipe()
	c := &Client{options: options, out: out, pending: make(map[uint64]chan wire.Message), asked: make(map[string]context.CancelFunc)}
	c.life, c.giveUp = context.WithCancel(context.WithoutCancel(ctx))
	c.parts.Go(func() {
		// It ends with Close: requests are cancelled by notifications, so that servers receive them.
		c.served = options.Serve(context.WithoutCancel(ctx), toServer, fromServer)
		_ = fromServer.Close() // never fails
	})
	c.parts.Go(func() { c.read(in) })
	if err := c.handshake(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Client) handshake(ctx context.Context) error {
	params := wire.AppendMember([]byte("{"), "protocolVersion", string(protocol.Newest()))
	capabilities := c.options.Capabilities
	if capabilities == nil {
		capabilities = []byte("{}")
	}
	params = append(append(params, `,"capabilities":`...), capabilities...)
	params = append(params, `,"clientInfo":{`...)
	params = wire.AppendMember(params, "name", c.options.Name)
	params = append(wire.AppendMember(params, "version", c.options.Version), "}}"...)
	if _, err := c.request(ctx, protocol.MethodInitialize, func(uint64) []byte { return params }); err != nil {
		return fmt.Errorf("the workbench did not start a session: %w", err)
	}
	return c.write(wire.Notification(protocol.NotifyInitialized, nil))
}

// Call calls a tool and returns its result unchanged. The arguments are a JSON object on one line.
// When ctx ends, the call is cancelled.
func (c *Client) Call(ctx context.Context, tool string, arguments []byte) (wire.Payload, error) {
	return c.request(ctx, protocol.MethodToolsCall, func(id uint64) []byte {
		params := wire.AppendMember([]byte("{"), "name", tool)
		params = append(append(params, `,"arguments":`...), arguments...)
		params = append(params, `,"_meta":{"`+protocol.ProgressToken+`":`...)
		return append(strconv.AppendUint(params, id, 10), "}}"...)
	})
}

// request sends a request and waits for its response.
func (c *Client) request(ctx context.Context, method string, params func(id uint64) []byte) (wire.Payload, error) {
	answered := make(chan wire.Message, 1)
	c.mu.Lock()
	if c.ended != nil {
		defer c.mu.Unlock()
		return wire.Payload{}, c.ended
	}
	c.lastID++
	id := c.lastID
	c.pending[id] = answered
	c.mu.Unlock()
	if err := c.write(wire.Request(id, method, params(id))); err != nil {
		return wire.Payload{}, err
	}
	select {
	case message, ok := <-answered:
		switch {
		case !ok:
			return wire.Payload{}, c.endReason()
		case !message.Error.IsAbsent():
			return wire.Payload{}, rpcError(message.Error)
		}
		return message.Result, nil
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
		notice := append(strconv.AppendUint([]byte(`{"requestId":`), id, 10), '}')
		_ = c.write(wire.Notification(protocol.NotifyCancelled, notice)) // a session that is over has no calls
		return wire.Payload{}, ctx.Err()
	}
}

func rpcError(object wire.Payload) *Error {
	e := &Error{Data: object.Member("data")}
	e.Message, _ = object.Member("message").Text()
	e.Code, _ = strconv.Atoi(string(object.Member("code").Bytes())) // always present; 0 is harmless
	return e
}

func (c *Client) write(message []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.out.Write(message); err != nil {
		return errEnded
	}
	return nil
}

// read handles the server's messages until it closes its side.
func (c *Client) read(in *io.PipeReader) {
	reader := wire.NewReader(in, c.options.MaxMessage)
	for {
		frame, err := reader.Next()
		if err == nil {
			var message wire.Message
			if message, err = wire.Parse(frame); err == nil {
				c.receive(message)
				continue
			}
		}
		if errors.Is(err, io.EOF) {
			err = errEnded
		}
		in.CloseWithError(err)
		c.failPending(err)
		return
	}
}

// failPending fails all pending requests with a reason.
func (c *Client) failPending(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = reason
	for id, waiting := range c.pending {
		close(waiting)
		delete(c.pending, id)
	}
}

func (c *Client) endReason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *Client) receive(message wire.Message) {
	switch {
	case message.IsResponse():
		id, err := strconv.ParseUint(string(message.ID.Bytes()), 10, 64)
		if err != nil {
			return
		}
		c.mu.Lock()
		waiting := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		if waiting != nil {
			waiting <- message
		}
	case message.IsRequest():
		c.handleRequest(message)
	default:
		c.handleNotification(string(message.Method), message.Params)
	}
}

func (c *Client) handleNotification(method string, params wire.Payload) {
	switch {
	case method == protocol.NotifyProgress && c.options.Progress != nil:
		c.options.Progress(params)
	case method == protocol.NotifyMessage && c.options.Log != nil:
		c.options.Log(params)
	case method == protocol.NotifyCancelled:
		c.mu.Lock()
		withdraw := c.asked[string(params.Member("requestId").Bytes())]
		c.mu.Unlock()
		if withdraw != nil {
			withdraw()
		}
	}
}

// handleRequest answers a request of the server concurrently.
func (c *Client) handleRequest(message wire.Message) {
	id := message.ID.Bytes()
	ctx, withdraw := context.WithCancel(c.life)
	c.mu.Lock()
	c.asked[string(id)] = withdraw
	c.mu.Unlock()
	c.parts.Go(func() {
		answer := c.answer(ctx, id, string(message.Method), message.Params)
		c.mu.Lock()
		delete(c.asked, string(id))
		c.mu.Unlock()
		wanted := ctx.Err() == nil
		withdraw()
		if wanted {
			_ = c.write(answer) // fails only when the session is over
		}
	})
}

func (c *Client) answer(ctx context.Context, id []byte, method string, params wire.Payload) []byte {
	if method == protocol.MethodPing {
		return wire.Result(id, []byte("{}"))
	}
	if c.options.Answer == nil {
		return wire.ErrorResponse(id, protocol.CodeMethodNotFound, "This client cannot be asked")
	}
	result, err := c.options.Answer(ctx, method, params)
	if refused, ok := errors.AsType[*Error](err); ok {
		return wire.ErrorResponse(id, refused.Code, refused.Message)
	}
	if err != nil {
		return wire.ErrorResponse(id, protocol.CodeInternalError, err.Error())
	}
	return wire.Result(id, result)
}

// Close ends the session and waits for all its goroutines; the server bounds the time.
func (c *Client) Close() error {
	c.giveUp()
	_ = c.out.Close() // never fails
	c.parts.Wait()
	return c.served
}
