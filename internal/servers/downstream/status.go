package downstream

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Limits of what is read and quoted of an error response.
const (
	maxRefusal = 64 << 10 // size of an error page that is read; the rest is ignored
	maxWords   = 300      // characters of an error page that an error quotes
)

// StatusError is an HTTP response other than the expected one.
type StatusError struct {
	Code  int
	text  string
	words string
}

func (e *StatusError) Error() string { return e.text + e.words }

// Words returns the end of the text, which comes from the server.
func (e *StatusError) Words() string { return e.words }

// NoEndpoint reports whether the address may belong to another transport.
func (e *StatusError) NoEndpoint() bool {
	return e.Code/100 == 4 && !e.denied() && e.Code != http.StatusTooManyRequests
}

func (e *StatusError) denied() bool {
	return e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden
}

// statusError returns the error for a response whose body has been read.
func (t *remote) statusError(response *http.Response, body []byte) *StatusError {
	e := &StatusError{Code: response.StatusCode}
	e.text = fmt.Sprintf("the server answered with HTTP status %d", e.Code)
	if name := http.StatusText(e.Code); name != "" {
		e.text += " (" + name + ")"
	}
	e.words = readable(response, body)
	if e.denied() {
		e.text += "; " + t.adviceOnDenial(e.Code)
		if metadata := resourceMetadata(response.Header); metadata != "" {
			e.words = strings.TrimPrefix(e.words+"; resource_metadata "+metadata, "; ")
		}
	}
	if e.words != "" {
		e.text += "; it said: "
	}
	return e
}

// adviceOnDenial returns what to do about a request that the server refuses to this user.
func (t *remote) adviceOnDenial(code int) string {
	switch {
	case t.session.options.Remote.Credentials == nil:
		return `put a token that it accepts into the server's 'headers', such as {"Authorization": "Bearer ${TOKEN}"}`
	case code == http.StatusForbidden:
		return "the account that is logged in may not do this"
	}
	return "it does not accept the token of the login"
}

// resourceMetadata returns the address that the server's challenge names, or "".
func resourceMetadata(header http.Header) string {
	for _, challenge := range header.Values("Www-Authenticate") {
		_, rest, ok := strings.Cut(challenge, `resource_metadata=`)
		if !ok {
			continue
		}
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			rest, _, _ = strings.Cut(quoted, `"`)
		} else {
			rest, _, _ = strings.Cut(rest, ",")
		}
		if u, err := url.Parse(strings.TrimSpace(rest)); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
			return brief(webclient.Plain(u))
		}
	}
	return ""
}

// readable returns the message for people in a body, or "".
func readable(response *http.Response, body []byte) string {
	if message, ok := rpcError(body); ok {
		return brief(NewRPCError(message.Error).Message)
	}
	switch mediaType(response) {
	case "text/plain", "application/json", "application/problem+json":
		return brief(string(body))
	case "text/html":
		return "an HTML page"
	}
	return ""
}

// rpcError parses a body with an error response.
func rpcError(body []byte) (wire.Message, bool) {
	message, err := wire.Parse(wire.NewFrame(body))
	return message, err == nil && message.IsResponse() && !message.Error.IsAbsent()
}

// brief converts foreign text to one line of bounded length.
func brief(text string) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text[:min(len(text), 4*maxWords)], ""))), " ")
	if runes := []rune(text); len(runes) > maxWords {
		return string(runes[:maxWords]) + "…"
	}
	return text
}

func mediaType(response *http.Response) string {
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// refusal reads the body of an error response, as far as possible.
func refusal(response *http.Response) []byte {
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	return body
}
