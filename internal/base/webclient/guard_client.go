package webclient

import (
	"io"
	"net/http"
)

// Client returns an HTTP client with the guard's checks: of the address, of what is dialled, and of the size of what comes back. It
// follows no redirects, and a request takes at most 30 s.
func (g *Guard) Client() *http.Client {
	return &http.Client{Timeout: clientTime, CheckRedirect: followNone, Transport: roundTripper(func(request *http.Request) (*http.Response, error) {
		if err := g.check(request.URL); err != nil {
			return nil, err
		}
		response, err := g.roundTrip(request)
		if err != nil {
			return nil, err
		}
		response.Body = &boundedBody{ReadCloser: response.Body, left: g.options.Largest, tooLarge: &TooLargeError{excerpt(Plain(request.URL)), g.options.Largest}}
		return response, nil
	})}
}

// boundedBody fails when more was read than is allowed.
type boundedBody struct {
	io.ReadCloser
	left     int
	tooLarge error
}

func (b *boundedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into[:min(len(into), b.left+1)])
	if n > b.left {
		return b.left, b.tooLarge
	}
	b.left -= n
	return n, err
}
