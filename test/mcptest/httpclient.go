package mcptest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"
)

// HTTPClient is a Client over Streamable HTTP: each line is a POST. What comes in one
// response keeps its order; a session's GET stream is opened after notifications/initialized.
//
// A request that fails below the protocol, or whose response ends without an answer, is
// answered with a Message that has no Raw and says why in Bad.
type HTTPClient struct {
	*Client
	url    string
	header http.Header
	http   *http.Client
	ctx    context.Context // until Close
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu        sync.Mutex
	session   string
	revision  string
	cancelled map[string]bool               // ids that need no answer any more
	hangUps   map[string]context.CancelFunc // of modern requests in flight: their way to be cancelled
}

// NewHTTPClient makes a client of the server at url. The header, which may be nil, is
// sent with every request. Close ends it.
func NewHTTPClient(url string, header http.Header) *HTTPClient {
	transport := &http.Transport{MaxIdleConnsPerHost: 100} // and no proxy, whatever the environment says
	c := &HTTPClient{
		Client: &Client{changed: make(chan struct{})}, url: url, header: header,
		http:      &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		cancelled: make(map[string]bool), hangUps: make(map[string]context.CancelFunc),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.write = c.post
	return c
}

const deleteTime = 2 * time.Second

// Close ends the session and all that waits for an answer.
func (c *HTTPClient) Close() {
	if session, _ := c.settled(); session != "" {
		ctx, cancel := context.WithTimeout(c.ctx, deleteTime)
		if response, err := c.do(ctx, http.MethodDelete, nil, outgoing{}); err == nil {
			response.Body.Close()
		}
		cancel()
	}
	c.cancel()
	c.work.Wait()
	c.http.CloseIdleConnections()
	c.add(nil, io.EOF)
}

// outgoing is a message of the client, as far as its headers depend on it.
type outgoing struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name, URI, TaskID string
		RequestID         json.RawMessage
		Meta              struct {
			Revision string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
}

func (m outgoing) isModern() bool { return m.Params.Meta.Revision >= modernRevision }

func (m outgoing) isRequest() bool { return m.Method != "" && len(m.ID) > 0 }

// post sends a line. It returns when a request is on its way, and when anything else
// was taken.
func (c *HTTPClient) post(line string) error {
	var message outgoing
	_ = json.Unmarshal([]byte(line), &message) // the server judges
	if message.Method == "notifications/cancelled" {
		c.mu.Lock()
		c.cancelled[string(message.Params.RequestID)] = true
		hangUp := c.hangUps[string(message.Params.RequestID)]
		c.mu.Unlock()
		if hangUp != nil {
			hangUp()
			return nil
		}
	}
	sent := make(chan struct{})
	var once sync.Once
	tell := func() { once.Do(func() { close(sent) }) }
	ctx := c.ctx
	if message.isRequest() && message.Method != "initialize" {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { tell() }})
	}
	ctx, hangUp := context.WithCancel(ctx)
	if message.isRequest() && message.isModern() {
		c.mu.Lock()
		c.hangUps[string(message.ID)] = hangUp
		c.mu.Unlock()
	}
	c.work.Go(func() {
		defer tell()
		defer hangUp()
		err := c.exchange(ctx, line, message)
		if err != nil && message.isRequest() && !c.needsNoAnswer(message.ID) {
			c.addMessage(Message{ID: message.ID, Bad: err})
		}
	})
	<-sent
	return nil
}

func (c *HTTPClient) needsNoAnswer(id json.RawMessage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancelled[string(id)]
}

// exchange sends a line and takes all that comes as its response.
func (c *HTTPClient) exchange(ctx context.Context, line string, message outgoing) error {
	response, err := c.do(ctx, http.MethodPost, []byte(line), message)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if id := response.Header.Get("Mcp-Session-Id"); id != "" && message.Method == "initialize" {
		c.mu.Lock()
		c.session = id
		c.mu.Unlock()
	}
	err = c.takeResponse(response, message)
	if err == nil && message.Method == "notifications/initialized" {
		c.listen()
	}
	return err
}

func (c *HTTPClient) takeResponse(response *http.Response, message outgoing) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")) // "" is none that we know
	answered := false
	take := func(raw []byte) {
		came := parse(append(bytes.Clone(raw), '\n'))
		if came.Method == "" && string(came.ID) == string(message.ID) {
			answered = true
		}
		if message.Method == "initialize" && answered {
			c.mu.Lock()
			c.revision = versionIn(raw)
			c.mu.Unlock()
		}
		c.addMessage(came)
	}
	switch kind {
	case "application/json":
		raw, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		take(bytes.TrimSuffix(raw, []byte("\n")))
		if !answered {
			return fmt.Errorf("HTTP %s, without an answer to this request: %.1000s", response.Status, raw)
		}
		return nil
	case "text/event-stream":
		err := eachMessage(response.Body, take)
		if !answered && err == nil {
			err = errors.New("the event stream ended without the response")
		}
		if answered {
			err = nil
		}
		return err
	}
	if response.StatusCode == http.StatusAccepted && !message.isRequest() {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1000)) // what there is helps
	return fmt.Errorf("HTTP %s %s: %s", response.Status, kind, text)
}

// eachMessage hands on the messages of an event stream until it ends.
func eachMessage(body io.Reader, take func([]byte)) error {
	for events := newEventReader(body); ; {
		event, err := events.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if event.name == "" || event.name == "message" {
			take(event.data)
		}
	}
}

// listen opens the GET stream; a server may have none.
func (c *HTTPClient) listen() {
	response, err := c.do(c.ctx, http.MethodGet, nil, outgoing{})
	if err != nil {
		return
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return
	}
	c.work.Go(func() {
		defer response.Body.Close()
		_ = eachMessage(response.Body, func(raw []byte) { c.add(append(bytes.Clone(raw), '\n'), nil) }) // it may end
	})
}

func (c *HTTPClient) settled() (session, revision string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session, c.revision
}

func (c *HTTPClient) do(ctx context.Context, method string, body []byte, message outgoing) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range c.header {
		request.Header[name] = values
	}
	switch method {
	case http.MethodPost:
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
	case http.MethodGet:
		request.Header.Set("Accept", "text/event-stream")
	}
	session, revision := c.settled()
	if message.isModern() {
		session, revision = "", message.Params.Meta.Revision
		request.Header.Set("Mcp-Method", message.Method)
		if name := message.Params.Name + message.Params.URI + message.Params.TaskID; name != "" {
			request.Header.Set("Mcp-Name", headerText(name))
		}
	}
	if session != "" && message.Method != "initialize" {
		request.Header.Set("Mcp-Session-Id", session)
	}
	if revision != "" && message.Method != "initialize" {
		request.Header.Set("Mcp-Protocol-Version", revision)
	}
	return c.http.Do(request)
}

// headerText writes a name as a header can hold it.
func headerText(name string) string {
	plain := strings.TrimSpace(name) == name && !strings.HasPrefix(name, "=?base64?")
	for _, b := range []byte(name) {
		plain = plain && b >= 0x20 && b < 0x7f
	}
	if plain {
		return name
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
}
