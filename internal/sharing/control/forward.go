package control

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
)

// pageHeader says that a request comes from the page, and from whom.
const pageHeader = "Mcp-Workbench-Page"

// Forward sends a request of the page: its method, its name such as "logs", its parameters and body, and who sent it. The
// caller closes the body of the response.
func (c *Client) Forward(ctx context.Context, method, name string, query url.Values, body []byte, from string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://workbench/v1/"+name+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set(pageHeader, from)
	return c.http.Do(request)
}

// NewLocal returns a client of the workbench in this program, and needs no socket. It serves until ctx ends, and wait
// waits for its requests.
func NewLocal(ctx context.Context, subject Subject) (client *Client, wait func() error) {
	listener := &pipes{conns: make(chan net.Conn), done: ctx.Done()}
	ended := make(chan error, 1)
	go func() { ended <- serveUntil(ctx, listener, subject) }()
	client = &Client{http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: listener.dial}}}
	return client, func() error { return <-ended }
}

// pipes is a listener for connections within the program.
type pipes struct {
	conns chan net.Conn
	done  <-chan struct{}
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	own, other := net.Pipe()
	var err error
	select {
	case p.conns <- other:
		return own, nil
	case <-p.done:
		err = net.ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	_, _ = own.Close(), other.Close()
	return nil, err
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (*pipes) Close() error   { return nil }
func (*pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
