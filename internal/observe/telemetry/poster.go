package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
)

// Limits of sending one message.
const (
	firstPause   = time.Second      // before a message is sent again; doubled each time
	longestPause = 30 * time.Second // before a message is sent again, also if the receiver asks for a longer one
	maxDelivery  = 2 * time.Minute  // for all attempts to send a message; then its spans are dropped
	maxAnswer    = 64 << 10         // bytes of an answer that are read
	maxReceivers = 2                // connections to the receiver
)

// poster sends messages to one endpoint.
type poster struct {
	client   *http.Client
	endpoint Endpoint
	agent    string
	pause    time.Duration // the first one
}

func newPoster(endpoint Endpoint, options *Options) *poster {
	transport := webclient.NewTransport(webclient.Options{Environ: options.Environ, Log: options.Log})
	transport.MaxConnsPerHost = maxReceivers
	if endpoint.Authorities != nil {
		transport.TLSClientConfig.RootCAs = endpoint.Authorities
	}
	if endpoint.Certificate != nil {
		transport.TLSClientConfig.Certificates = []tls.Certificate{*endpoint.Certificate}
	}
	return &poster{
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the headers may hold a token
		}},
		endpoint: endpoint, agent: "mcp-workbench/" + options.Version, pause: firstPause,
	}
}

func (p *poster) close() { p.client.CloseIdleConnections() }

// statusError is an answer other than success.
type statusError struct {
	code  int
	after time.Duration // that the receiver asks to wait; 0: it does not
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the receiver answered with HTTP status %d", e.code)
}

// isPassing reports whether a message may be accepted later. The codes are those of the OTLP specification.
func (e *statusError) isPassing() bool {
	switch e.code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// deliver sends a message, again if that may help. Once closing is closed, there is one more attempt.
func (p *poster) deliver(ctx context.Context, closing <-chan struct{}, body []byte) (answer []byte, err error) {
	deadline := time.Now().Add(maxDelivery)
	for pause := p.pause; ; pause = min(2*pause, longestPause) {
		last := isClosed(closing)
		answer, err = p.post(ctx, body)
		wait := pause/2 + rand.N(pause)
		if status, ok := errors.AsType[*statusError](err); ok {
			if !status.isPassing() {
				return nil, err
			}
			if status.after > 0 {
				wait = min(status.after, longestPause)
			}
		}
		if err == nil || last || ctx.Err() != nil || time.Now().Add(wait).After(deadline) {
			return answer, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-closing:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

func isClosed(closing <-chan struct{}) bool {
	select {
	case <-closing:
		return true
	default:
		return false
	}
}

// post sends a message once.
func (p *poster) post(ctx context.Context, body []byte) (answer []byte, err error) {
	bounded, end := context.WithTimeout(ctx, p.endpoint.Timeout)
	defer end()
	request, err := p.newRequest(bounded, body)
	if err != nil {
		return nil, err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return nil, problem(bounded, err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if response.StatusCode/100 != 2 {
		return nil, &statusError{response.StatusCode, retryAfter(response.Header.Get("Retry-After"))}
	}
	if err != nil {
		return nil, nil // it was accepted; what was said about it is lost
	}
	return answer, nil
}

func (p *poster) newRequest(ctx context.Context, body []byte) (*http.Request, error) {
	if p.endpoint.Gzip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(body) // a buffer does not fail
		if err := w.Close(); err != nil {
			return nil, err
		}
		body = packed.Bytes()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.endpoint.URL, bytes.NewReader(body))
	if err != nil { // the error would quote the address
		return nil, errors.New("the address of the receiver cannot be used")
	}
	request.Header.Set("User-Agent", p.agent)
	for name, value := range p.endpoint.Headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	if p.endpoint.Gzip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	return request, nil
}

// problem describes why there was no answer, without the address, which may hold a secret.
func problem(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("the receiver did not answer in time")
	}
	text := webclient.ConnectProblem(err, "OTEL_EXPORTER_OTLP_ENDPOINT")
	switch {
	case webclient.IsUntrusted(err):
		text = "its certificate is self-signed, or signed by an unknown authority; if you trust it, name a file with its certificate in OTEL_EXPORTER_OTLP_CERTIFICATE"
	case text == "":
		text = "the connection broke off"
	}
	return errors.New("the receiver could not be reached: " + text)
}

// retryAfter reads a number of seconds or a date.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(time.Until(date), 0)
	}
	return 0
}
