//go:build unix

package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// This file is one person among many, and their client.

// human is a person with one client.
type human struct {
	*crowd
	number     int
	name       string
	group      string // of the table
	toolbox    string
	legacy     bool // has a session, and not requests that each stand for themselves
	opaque     bool // has tokens that say nothing
	contractor bool
	punctual   bool // has tokens that say when they end, and not a minute before

	session string
	token   string
	ends    time.Time // of the token, by which its client gets another one
	until   time.Time // when it counts no more
	calls   int
	out     bool // was refused because the table changed

	stream sync.WaitGroup
}

func (c *crowd) newHuman(i int) *human {
	h := &human{crowd: c, number: i, name: fmt.Sprint("person ", i), legacy: i%2 == 0, opaque: i%opaqueEvery == 3, contractor: i%contractorsEvery == 4 || i%contractorsEvery == 9, punctual: i%3 == 0}
	h.group, h.toolbox = "reds", "red"
	if i/2%2 == 1 {
		h.group, h.toolbox = "blues", "blue"
	}
	if h.contractor {
		h.group, h.toolbox = "contractors", "red"
	}
	return h
}

// live is all that a person does.
func (h *human) live(ctx context.Context) {
	if !rest(ctx, rand.N(time.Second)) || !h.begin(ctx) {
		return
	}
	streaming, hangUp := context.WithCancel(ctx)
	defer h.stream.Wait()
	defer hangUp()
	h.listen(streaming)
	for last := false; ctx.Err() == nil && !h.out; {
		if h.call(ctx); h.calls%5 == 0 {
			h.intrude(ctx)
		}
		if last {
			return
		}
		select {
		case <-h.over:
			// Contractors go on until they are refused.
			if last = !h.contractor; !last {
				rest(ctx, 200*time.Millisecond)
			}
		case <-time.After(rand.N(2 * time.Second)):
		}
	}
}

// begin begins the one session of a person, if they have one.
func (h *human) begin(ctx context.Context) bool {
	h.refresh()
	if !h.legacy {
		return true
	}
	status, session, answer := h.post(ctx, h.token, "", "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}`)
	if status != http.StatusOK || session == "" {
		h.fail("%s: initialize got %d %.300s", h.name, status, answer)
		return false
	}
	h.session = session
	h.sessions[h.number].Store(&session)
	return true
}

// refresh gets the next token of the person. A token counts for a minute more than it says, since clocks differ; streams that
// began before its end do not.
func (h *human) refresh() {
	exp := time.Unix(time.Now().Add(h.life).Unix(), 0)
	h.ends, h.until = exp, exp.Add(skew)
	if !h.punctual {
		h.until, exp = exp, exp.Add(-skew)
	}
	if claims := h.claims(h.name, h.group, exp); h.opaque {
		h.token = h.issuer.Opaque(claims)
	} else {
		h.token = h.issuer.Token(claims)
	}
	h.count("tokens refreshed").Add(1)
}

// current is a token that counts for a while.
func (h *human) current() string {
	if time.Until(h.ends) < early {
		h.refresh()
	}
	return h.token
}

// call makes a call, which has to be answered rightly however often the token was refreshed.
func (h *human) call(ctx context.Context) {
	for ctx.Err() == nil {
		h.calls++
		marker := fmt.Sprintf("%s call %d.", h.name, h.calls)
		message := modernCall(h.toolbox, marker)
		if h.legacy {
			message = legacyCall(h.toolbox, marker)
		}
		token, begun, wasUnmapped := h.current(), time.Now(), h.unmapped.Load()
		status, _, answer := h.post(ctx, token, h.session, "", message)
		switch {
		case ctx.Err() != nil:
			return
		case status == http.StatusOK && answered(answer, h.name, marker):
			h.mu.Lock()
			h.took = append(h.took, time.Since(begun))
			h.mu.Unlock()
			return
		case status == http.StatusUnauthorized && time.Now().After(h.until):
			h.count("calls that came too late").Add(1) // a machine with too much to do
		case status == http.StatusServiceUnavailable && h.opaque && h.gone.Load():
			h.count("opaque tokens that nobody could be asked about").Add(1)
			rest(ctx, time.Second)
		case h.contractor && h.unmapped.Load() && (status == http.StatusForbidden || status == http.StatusOK && !wasUnmapped):
			h.count("contractors who were let go").Add(1)
			h.letGo(ctx)
			return
		default:
			h.fail("%s (legacy %v, opaque %v): call %d with a token for %s more got %d %.300s", h.name, h.legacy, h.opaque, h.calls, time.Until(h.ends).Round(time.Second), status, answer)
			return
		}
	}
}

// letGo tries again, with the next token too: who is out stays out.
func (h *human) letGo(ctx context.Context) {
	h.out = true
	for range 3 {
		h.refresh()
		if status, _, answer := h.post(ctx, h.token, h.session, "", modernCall(h.toolbox, "x")); ctx.Err() == nil && status != http.StatusForbidden {
			h.fail("%s is out, and got %d %.300s", h.name, status, answer)
		}
	}
}

// intrude tries what is not theirs: the session of somebody else, and another toolbox.
func (h *human) intrude(ctx context.Context) {
	session := h.somebody()
	if h.out || session == "" || session == h.session {
		return
	}
	token := h.current()
	status, _, answer := h.post(ctx, token, session, "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	switch {
	case ctx.Err() != nil, h.contractor && h.unmapped.Load():
	case status == http.StatusNotFound:
		h.count("sessions of others refused").Add(1)
	case status == http.StatusUnauthorized && time.Now().After(h.until), status == http.StatusServiceUnavailable && h.opaque && h.gone.Load():
	default:
		h.fail("%s tried the session of another, and got %d %.300s", h.name, status, answer)
	}
	other := map[string]string{"red": "blue", "blue": "red"}[h.toolbox]
	if status, _, answer = h.post(ctx, token, "", "", modernCall(other, h.name+" call 0.")); status == http.StatusOK && strings.Contains(answer, "call 0") {
		h.fail("%s reached %s: %.300s", h.name, other, answer)
	}
}

// listen keeps a stream open. It ends with its token, never before, and is opened again with the next one.
func (h *human) listen(ctx context.Context) {
	// What is told when its client has gone is nothing of the person's calls.
	mine := &human{crowd: h.crowd, number: h.number, name: h.name, group: h.group, opaque: h.opaque, contractor: h.contractor, punctual: h.punctual, legacy: h.legacy, session: h.session}
	h.stream.Go(func() {
		for ctx.Err() == nil {
			if !mine.hear(ctx) {
				return
			}
		}
	})
}

// hear opens a stream and reads until its end. It is false if there is to be no other one.
func (h *human) hear(ctx context.Context) bool {
	token := h.current()
	ends, until := h.ends, h.until
	bounded, cancel := context.WithDeadline(ctx, ends.Add(overdue))
	defer cancel()
	method, message := http.MethodGet, ""
	if !h.legacy {
		method, message = http.MethodPost, `{"jsonrpc":"2.0","id":"listen","method":"subscriptions/listen","params":{`+modernMeta+`,"notifications":{"toolsListChanged":true}}}`
	}
	response, err := h.open(bounded, method, token, h.session, "subscriptions/listen", message)
	if err != nil {
		if ctx.Err() == nil {
			h.fail("%s: a stream cannot be opened: %v", h.name, err)
		}
		return false
	}
	defer response.Body.Close()
	isOut := h.contractor && h.unmapped.Load()
	switch {
	case response.StatusCode == http.StatusOK:
	case response.StatusCode == http.StatusForbidden && isOut:
		return false
	case response.StatusCode == http.StatusUnauthorized && time.Now().After(until):
		return true
	case response.StatusCode == http.StatusServiceUnavailable && h.opaque && h.gone.Load():
		return rest(ctx, time.Second)
	default:
		text, _ := io.ReadAll(io.LimitReader(response.Body, 300)) // what there is helps
		h.fail("%s: a stream with a token for %s more got %s %s", h.name, time.Until(ends).Round(time.Second), response.Status, text)
		return false
	}
	if time.Now().After(ends) {
		return true // a machine with too much to do: it ends with the minute that is added
	}
	h.count("streams opened").Add(1)
	_, err = io.Copy(io.Discard, response.Body)
	switch {
	case ctx.Err() != nil:
		return false
	case errors.Is(err, context.DeadlineExceeded):
		h.fail("%s: a stream went on for %s after its token", h.name, overdue)
	case time.Now().Before(ends) && h.contractor && h.unmapped.Load():
		h.count("streams of contractors that ended").Add(1)
	case time.Now().Before(ends):
		h.fail("%s (legacy %v, opaque %v): a stream ended %s before its token (%v)", h.name, h.legacy, h.opaque, time.Until(ends), err)
	default:
		h.count("streams that ended with their token").Add(1)
	}
	return true
}

// modernMeta is what a request of revision 2026-07-28 has.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func modernCall(toolbox, marker string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,"name":"use_tool","arguments":{"tool":{"toolbox":%q,"server":"lines","name":"echo"},"arguments":{"marker":%q}}}}`, modernMeta, toolbox, marker)
}

func legacyCall(toolbox, marker string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"use_tool","arguments":{"tool":{"toolbox":%q,"server":"lines","name":"echo"},"arguments":{"marker":%q}}}}`, toolbox, marker)
}

var marked = regexp.MustCompile(`person \d+`)

// answered reports whether an answer is that of a call, and has nothing of anybody else.
func answered(answer, name, marker string) bool {
	for _, found := range marked.FindAllString(answer, -1) {
		if found != name {
			return false
		}
	}
	return strings.Contains(answer, marker) && !strings.Contains(answer, `"isError":true`)
}

// post sends a message and reads what is answered; status 0 is none.
func (c *crowd) post(ctx context.Context, token, session, method, message string) (status int, begun, answer string) {
	if method == "" && strings.Contains(message, "2026-07-28") {
		method, session = "tools/call", ""
	}
	response, err := c.open(ctx, http.MethodPost, token, session, method, message)
	if err != nil {
		return 0, "", err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, "", err.Error()
	}
	return response.StatusCode, response.Header.Get("Mcp-Session-Id"), string(text)
}

// open sends a message, of revision 2026-07-28 if its method is given and it has no session.
func (c *crowd) open(ctx context.Context, verb, token, session, method, message string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, verb, c.Address, strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{"Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + token}}
	if verb == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	if session != "" {
		request.Header.Set("Mcp-Session-Id", session)
	} else if method != "" {
		request.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		request.Header.Set("Mcp-Method", method)
		if method == "tools/call" {
			request.Header.Set("Mcp-Name", "use_tool")
		}
	}
	return c.client.Do(request)
}
