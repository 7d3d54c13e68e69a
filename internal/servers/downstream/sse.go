package downstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// sse is the transport of revision 2024-11-05: one event stream for all messages of the server. Its first event names
// the address to which messages are posted.
type sse struct {
	*remote
	endpoint *url.URL // set by open
}

// ErrStreamEnded means that the server ended its event stream.
var ErrStreamEnded = errors.New("the server ended its event stream")

func (t *sse) open(ctx context.Context) error {
	opening, cancel := context.WithCancel(t.session.life)
	stop := context.AfterFunc(ctx, cancel)
	response, err := t.do(opening, http.MethodGet, t.address, nil, http.Header{"Accept": {eventStream}})
	if err == nil && (response.StatusCode != http.StatusOK || mediaType(response) != eventStream) {
		err = t.noStream(response)
	}
	var reader *wire.EventReader
	if err == nil {
		reader = wire.NewEventReader(response.Body, t.session.options.MaxMessage)
		if err = t.findEndpoint(reader, response.Request.URL); err != nil {
			response.Body.Close()
		}
	}
	if !stop() && ctx.Err() != nil {
		err = fmt.Errorf("no event stream with an endpoint: %w", ctx.Err())
		if reader != nil {
			response.Body.Close()
		}
	}
	if err != nil {
		cancel()
		return err
	}
	t.session.run(func() {
		defer cancel()
		defer response.Body.Close()
		t.read(reader)
	})
	return nil
}

// noStream returns the error for a response that is not an event stream.
func (t *sse) noStream(response *http.Response) error {
	defer response.Body.Close()
	body := refusal(response)
	if response.StatusCode != http.StatusOK {
		return t.statusError(response, body)
	}
	return wrongContent(response, mediaType(response))
}

// findEndpoint reads the first event. The address must have the same origin: it gets the same tokens.
func (t *sse) findEndpoint(reader *wire.EventReader, base *url.URL) error {
	event, err := reader.Next()
	if err != nil {
		return cutStream(err)
	}
	if event.Name != "endpoint" {
		return fmt.Errorf("the server's event stream does not begin with an endpoint but with '%.40s'", event.Name)
	}
	endpoint, err := base.Parse(string(event.Data.Bytes()))
	if err != nil {
		return errors.New("the server named an endpoint that is not an address")
	}
	if !webclient.SameOrigin(endpoint, base) {
		return &redirectError{endpoint, "an endpoint on another server"}
	}
	endpoint.User = base.User
	t.endpoint = endpoint
	return nil
}

func cutStream(err error) error {
	if errors.Is(err, io.EOF) {
		return ErrStreamEnded
	}
	if errors.Is(err, wire.ErrEndless) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrStreamEnded, &brokenError{err})
}

// read is the only reader of the session.
func (t *sse) read(reader *wire.EventReader) {
	_, err := t.pump(reader, probeKey)
	t.session.finish(cutStream(err))
}

func (t *sse) send(request outgoing) {
	t.runRequest(request.id, func(ctx context.Context) {
		if err := t.post(ctx, request.message, request.trace); err != nil {
			t.failed(ctx, request.id, withRequest(err, request))
		}
	})
}

func (t *sse) sendNote(ctx context.Context, message []byte) error { return t.post(ctx, message, nil) }

func (t *sse) post(ctx context.Context, message []byte, trace *tracecontext.Carrier) error {
	header := make(http.Header)
	trace.SetHeader(header)
	response, err := t.do(ctx, http.MethodPost, t.endpoint, message, header)
	if err != nil {
		return err
	}
	return t.accepted(response)
}

func (t *sse) beginSession(ctx context.Context, _ protocol.Revision, initialized []byte) error {
	if initialized == nil {
		return nil
	}
	return t.sendNote(ctx, initialized)
}

func (t *sse) reply(message []byte) bool { return t.queueNote(message, t.sendNote) }

func (t *sse) cancel(id uint64, notice []byte) {
	t.abandon(id)
	if !t.queueNote(notice, t.sendNote) {
		t.session.log.Debug("could not send a cancellation to the server: its queue is full")
	}
}

func (t *sse) close() { t.client.CloseIdleConnections() }
