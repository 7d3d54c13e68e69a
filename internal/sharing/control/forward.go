package control

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
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

// PageAction is what a person did on the page.
type PageAction struct {
	Caller string // who, as a rule of the policy names it
	Action string // the name of the request, such as "restart"
	About  toolbox.Ref
	Failed bool // it was refused, or failed
}

// maxPageRequests are the requests of pages to a workbench at once, so that commands find room; others are refused.
const maxPageRequests = 16

// noteActions has a workbench record the requests of the page that do something.
func noteActions(next http.Handler, subject Subject) http.Handler {
	places := make(chan struct{}, maxPageRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := r.Header.Get(pageHeader)
		if from != "" {
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
			default:
				refuse(w, errBusyPages)
				return
			}
		}
		if from == "" || r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		noted := &notedResponse{ResponseWriter: w}
		defer func() {
			query := r.URL.Query()
			subject.PageActed(PageAction{
				Caller: from, Action: strings.TrimPrefix(r.URL.Path, "/v1/"), Failed: noted.status >= http.StatusBadRequest,
				About: toolbox.Ref{Toolbox: query.Get(toolboxParameter), Server: query.Get(serverParameter), Name: query.Get("tool")},
			})
		}()
		next.ServeHTTP(noted, r)
	})
}

var errBusyPages = &toolbox.Error{
	Code: toolbox.TooManyWatching, Message: fmt.Sprintf("%d requests of pages to this workbench are open already, which is the limit", maxPageRequests),
	Hint: "Close tabs of 'mcp-workbench ui', or views that follow a log.",
}

// notedResponse keeps the status of a response.
type notedResponse struct {
	http.ResponseWriter
	status int // 0 until it is known; then 200, if nothing else was set
}

func (n *notedResponse) WriteHeader(status int) {
	n.status = status
	n.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (n *notedResponse) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// NewLocal returns a client of the workbench in this program, and needs no socket. It serves until ctx ends, and wait
// waits for its requests.
func NewLocal(ctx context.Context, subject Subject) (client *Client, wait func() error) {
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- serveUntil(ctx, listener, subject) }()
	client = &Client{Status: subject.Inspect(), http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: listener.dial}}}
	return client, func() error { return <-ended }
}

// pipes is a listener for connections within the program.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	own, other := net.Pipe()
	var err error
	select {
	case p.conns <- other:
		return own, nil
	case <-p.closed:
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
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
