package front

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// listen serves over HTTP on loopback for the time of a test.
func listen(t *testing.T, server *Server, options HTTPOptions) (address string, stop func() error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.ServeHTTP(ctx, listener, options) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-served
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := stop(); err != nil {
			t.Error("serve: ", err)
		}
	})
	return "http://" + listener.Addr().String(), stop
}

// head is an answer without its body.
type head struct {
	StatusCode int
	Status     string
	Header     http.Header
}

// exchangeWith sends a request and returns the answer with its body read.
func exchangeWith(t *testing.T, method, address, body string, headers ...string) (head, string) {
	t.Helper()
	response := open(t, method, address, body, headers...)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return head{response.StatusCode, response.Status, response.Header}, string(text)
}

// open sends a request with the usual headers, and others as "Name: value"; without a
// value one is left out.
func open(t *testing.T, method, address, body string, headers ...string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Del(name)
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// join begins a session and returns the header that names it.
func join(t *testing.T, address string, headers ...string) (header string) {
	t.Helper()
	response, body := exchangeWith(t, "POST", address, fmt.Sprintf(initialize, protocol.Revision20251125), headers...)
	id := response.Header.Get("Mcp-Session-Id")
	if response.StatusCode != http.StatusOK || len(id) != 32 {
		t.Fatalf("initialize: %s, session %q, %s", response.Status, id, body)
	}
	return "Mcp-Session-Id: " + id
}

const listTools = `{"jsonrpc":"2.0","id":"a","method":"tools/list"}`

func TestHTTPRequestAndAnswer(t *testing.T) {
	address, _ := listen(t, newServer(Options{}), HTTPOptions{})
	session := join(t, address+"/mcp")
	response, body := exchangeWith(t, "POST", address+"/mcp", listTools, session)
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "application/json" ||
		!strings.HasPrefix(body, `{"jsonrpc":"2.0","id":"a","result":{"tools":[`) {
		t.Errorf("tools/list: %s, %s, %s", response.Status, kind, body)
	}
	response, body = exchangeWith(t, "POST", address+"/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session)
	if response.StatusCode != http.StatusAccepted || body != "" {
		t.Errorf("a notification: %s, %q", response.Status, body)
	}
	if response, _ := exchangeWith(t, "DELETE", address+"/mcp", "", session); response.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE: %s", response.Status)
	}
	if response, _ := exchangeWith(t, "POST", address+"/mcp", listTools, session); response.StatusCode != http.StatusNotFound {
		t.Errorf("a request after DELETE: %s", response.Status)
	}
}

// Batches exist up to revision 2025-03-26. The revision of the session counts, not what a header
// says or does not.
func TestHTTPBatches(t *testing.T) {
	address, _ := listen(t, newServer(Options{}), HTTPOptions{})
	note := `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	for _, test := range []struct {
		revision, body, header string
		status                 int
		text                   string
	}{
		{"2025-11-25", "[" + listTools + "]", "2025-11-25", 400, `"id":null,"error":{"code":-32600,"message":"Invalid request: the protocol revision in use has no batches`},
		{"2025-11-25", "[" + listTools + "]", "", 400, "no batches"},
		{"2025-11-25", "[" + note + "]", "2025-11-25", 400, "no batches"},
		{"2025-11-25", "[]", "2025-11-25", 400, "no batches"},
		{"2025-11-25", "[" + listTools, "2025-11-25", 400, "Parse error"},
		{"2025-06-18", "[" + listTools + "]", "2025-06-18", 400, "no batches"},
		{"2025-03-26", "[" + listTools + "," + note + "]", "", 200, `[{"jsonrpc":"2.0","id":"a","result":{"tools":[`},
		{"2025-03-26", "[" + note + "]", "", 202, ""},
		{"2025-03-26", "[]", "", 400, "the batch is empty"},
		{"2024-11-05", "[" + listTools + "]", "", 200, `[{"jsonrpc":"2.0","id":"a","result":{"tools":[`},
	} {
		opened, _ := exchangeWith(t, "POST", address+"/mcp", fmt.Sprintf(initialize, test.revision))
		headers := []string{"Mcp-Session-Id: " + opened.Header.Get("Mcp-Session-Id")}
		if test.header != "" {
			headers = append(headers, "MCP-Protocol-Version: "+test.header)
		}
		response, body := exchangeWith(t, "POST", address+"/mcp", test.body, headers...)
		if response.StatusCode != test.status || !strings.Contains(body, test.text) {
			t.Errorf("%s: %s: %s, %s; want %d with %q", test.revision, test.body, response.Status, body, test.status, test.text)
		}
	}
}

func TestHTTPRefusals(t *testing.T) {
	address, _ := listen(t, newServer(Options{MaxMessage: 5000}), HTTPOptions{
		Identify: func(r *http.Request) Identity { return Identity{ID: r.Header.Get("Who")} },
		Exists:   func(a Audience) bool { return a.Only == "a/b c" },
	})
	mine := join(t, address+"/mcp")
	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		text                     string
	}{
		{name: "no session", method: "POST", path: "/mcp", body: listTools, status: 400, text: "Mcp-Session-Id"},
		{name: "unknown session", method: "POST", path: "/mcp", body: listTools, headers: []string{"Mcp-Session-Id: x"}, status: 404, text: "initialize"},
		{name: "somebody else's session", method: "POST", path: "/mcp", body: listTools, headers: []string{mine, "Who: other"}, status: 404},
		{name: "a session of another path", method: "POST", path: "/mcp/a%2Fb%20c", body: listTools, headers: []string{mine}, status: 404},
		{name: "its toolbox", method: "POST", path: "/mcp/a%2Fb%20c", body: fmt.Sprintf(initialize, ""), status: 200},
		{name: "no such toolbox", method: "POST", path: "/mcp/x", body: fmt.Sprintf(initialize, ""), status: 404, text: "no toolbox"},
		{name: "not cleaned", method: "POST", path: "/mcp/x/../a%2Fb%20c", body: fmt.Sprintf(initialize, ""), status: 404},
		{name: "not cleaned either", method: "POST", path: "//mcp", body: fmt.Sprintf(initialize, ""), status: 404},
		{name: "an empty segment", method: "POST", path: "/mcp/", body: fmt.Sprintf(initialize, ""), status: 404},
		{name: "another method", method: "PUT", path: "/mcp", body: listTools, headers: []string{mine}, status: 405},
		{name: "form content", method: "POST", path: "/mcp", body: listTools, headers: []string{mine, "Content-Type: text/plain"}, status: 415},
		{name: "no content type", method: "POST", path: "/mcp", body: listTools, headers: []string{mine, "Content-Type"}, status: 415},
		{name: "nothing acceptable", method: "POST", path: "/mcp", body: listTools, headers: []string{mine, "Accept: text/html"}, status: 406},
		{name: "a GET that takes no stream", method: "GET", path: "/mcp", headers: []string{mine, "Accept: application/json"}, status: 406},
		{name: "an event nobody sent", method: "GET", path: "/mcp", headers: []string{mine, "Last-Event-ID: 77-1"}, status: 400, text: "Last-Event-ID"},
		{name: "unknown revision", method: "POST", path: "/mcp", body: listTools, headers: []string{mine, "MCP-Protocol-Version: 1999-01-01"}, status: 400},
		{name: "too long", method: "POST", path: "/mcp", body: strings.Repeat(" ", 6000) + listTools, headers: []string{mine}, status: 413, text: "maxMessageSize"},
		{name: "not JSON", method: "POST", path: "/mcp", body: "hello", headers: []string{mine}, status: 400, text: "Parse error"},
		{name: "no JSON-RPC", method: "POST", path: "/mcp", body: `{"foo":1}`, headers: []string{mine}, status: 400, text: "Invalid request"},
		{name: "a batch without a session", method: "POST", path: "/mcp", body: "[" + listTools + "]", status: 400, text: "Mcp-Session-Id"},
		{name: "health", method: "GET", path: "/healthz", status: 200, text: "ok"},
		{name: "readiness", method: "GET", path: "/readyz", status: 200, text: "ok"},
		{name: "nothing", method: "GET", path: "/", status: 404, text: "/mcp"},
	} {
		t.Run(test.name, func(t *testing.T) {
			response, body := exchangeWith(t, test.method, address+test.path, test.body, test.headers...)
			if response.StatusCode != test.status || !strings.Contains(body, test.text) {
				t.Errorf("%s: %s; want %d with %q", response.Status, body, test.status, test.text)
			}
		})
	}
}

// slow is a server whose session has a request in flight that the test itself answers.
func slow(t *testing.T) (h *httpServer, client *httpSession) {
	t.Helper()
	server := newServer(Options{})
	h = server.newHTTPServer(HTTPOptions{})
	client = newHTTPSession(server, h.spill.of(""), sender{})
	server.add(client.session)
	if entered, _ := h.sessions.enter([]byte(client.id), client.account, func() *httpSession { return client }); entered == nil {
		t.Fatal("no room for a session")
	}
	client.declare(protocol.Revision20251125, nil)
	return h, client
}

// lines collects what is written until the handler returns.
func lines(t *testing.T, serve func(http.ResponseWriter, *http.Request)) (out *bufio.Reader, hangUp func()) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(serve))
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		response.Body.Close()
		server.Close()
	})
	return bufio.NewReader(response.Body), cancel
}

func expect(t *testing.T, in *bufio.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(in, got); err != nil || string(got) != want {
		t.Fatalf("the stream has %q (%v), want %q", got, err, want)
	}
}

func TestHTTPStreamGoesOnAfterABreak(t *testing.T) {
	f, client := slow(t)
	st := client.posts.add([]byte("1"))
	accepted := accepts{json: true, stream: true}
	if err := st.notify(outgoing{method: "n/1"}); err != nil {
		t.Fatal(err)
	}
	in, hangUp := lines(t, func(w http.ResponseWriter, r *http.Request) { exchange{w: w, r: r}.answer(client, st, accepted) })
	expect(t, in, "id: 1-0\ndata: \n\nid: 1-1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n/1\"}\n\n")
	hangUp()
	for st.attached() { // until the server has noticed
		<-st.wake
		st.signal()
	}
	if err := st.notify(outgoing{method: "n/2"}); err != nil {
		t.Fatal(err)
	}
	st.respond(resultTo([]byte("1"), []byte("{}")))

	again, sequence, err := client.findStream("1-1")
	if err != nil || again != st || sequence != 1 {
		t.Fatalf("the stream of event 1-1 is %p at %d, %v", again, sequence, err)
	}
	in, _ = lines(t, func(w http.ResponseWriter, r *http.Request) {
		out := newOutput(w)
		out.writeHeader()
		st.pump(r.Context(), out, sequence, st.attach())
	})
	expect(t, in, "id: 1-2\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n/2\"}\n\nid: 1-3\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("after the answer there is %q, %v", rest, err)
	}
	f.dropSession(client)
	if f.spill.inMemory != 0 {
		t.Errorf("%d bytes are held for a session that ended", f.spill.inMemory)
	}
}

func TestHTTPOwnMessagesReachTheStreamOfTheGET(t *testing.T) {
	server := newServer(Options{})
	address, _ := listen(t, server, HTTPOptions{})
	session := join(t, address+"/mcp")
	exchangeWith(t, "POST", address+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open_toolbox","arguments":{"toolbox":"empty"}}}`, session)
	response := open(t, "GET", address+"/mcp", "", session)
	in := bufio.NewReader(response.Body)
	expect(t, in, "id: 0-0\ndata: \n\n")
	server.ToolsChanged("empty", fleet.Scope{})
	expect(t, in, "id: 0-1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")

	second := open(t, "GET", address+"/mcp", "", session, "Last-Event-ID: 0-0")
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("the first stream ended with %q, %v; want just its end", rest, err)
	}
	response.Body.Close()
	in = bufio.NewReader(second.Body)
	expect(t, in, "id: 0-0\ndata: \n\nid: 0-1\nevent: message\n")
	second.Body.Close()
}

// Clients with the same roots may share servers, so that they are asked for them when there
// are two that may be alike.
func TestHTTPClientsTellTheirRoots(t *testing.T) {
	server := newServer(Options{})
	address, _ := listen(t, server, HTTPOptions{})
	hello := strings.Replace(fmt.Sprintf(initialize, protocol.Revision20250618), `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1)
	var sessions []string
	for range 2 {
		response, _ := exchangeWith(t, "POST", address+"/mcp", hello)
		session := "Mcp-Session-Id: " + response.Header.Get("Mcp-Session-Id")
		exchangeWith(t, "POST", address+"/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session)
		sessions = append(sessions, session)
		if len(sessions) == 1 {
			for client := range server.sessions {
				if client.roots.wasAsked() {
					t.Error("a client by itself was asked")
				}
			}
		}
	}
	for _, session := range sessions {
		own := open(t, "GET", address+"/mcp", "", session)
		expect(t, bufio.NewReader(own.Body), "id: 0-1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n\n")
		own.Body.Close()
		answer, _ := exchangeWith(t, "POST", address+"/mcp", `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`, session)
		if answer.StatusCode != http.StatusAccepted {
			t.Errorf("the answer is taken with %s", answer.Status)
		}
	}
	for client := range server.sessions {
		if client.roots.pending() != nil {
			t.Error("requests still wait for the roots")
		}
	}
}

func TestHTTPEndAnswersWhatIsInFlight(t *testing.T) {
	server := newServer(Options{})
	address, stop := listen(t, server, HTTPOptions{})
	session := join(t, address+"/mcp")
	own := open(t, "GET", address+"/mcp", "", session)
	defer own.Body.Close()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(own.Body); err != nil || strings.Contains(string(rest), "jsonrpc") {
		t.Errorf("the stream ended with %q, %v", rest, err)
	}
	parsed, _ := url.Parse(address)
	if connection, err := net.Dial("tcp", parsed.Host); err == nil {
		connection.Close()
		t.Error("connections are accepted after the end")
	}
}

func TestHTTPSessionsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRegistry[*httpSession](2, keepSession)
		server := newServer(Options{})
		accounts := 0
		add := func() (*httpSession, *httpSession, bool) {
			accounts++
			client := newHTTPSession(server, newSpillBuffer().of(account(strconv.Itoa(accounts))), sender{})
			entered, ended := g.enter([]byte(client.id), client.account, func() *httpSession { return client })
			if entered != nil {
				client.idle.release()
			}
			return client, ended, entered != nil
		}
		first, _, _ := add()
		<-time.After(keepSession / 2)
		if _, _, ok := add(); !ok {
			t.Error("there is no room for the second of two")
		}
		if _, _, ok := add(); ok {
			t.Error("a session that was just used had to make room")
		}
		<-time.After(keepSession / 2)
		if _, ended, ok := add(); !ok || ended != first {
			t.Error("the session that was idle for longest did not make room")
		}
	})
}

func TestSpillBuffer(t *testing.T) {
	s := (&spillBuffer{memory: 400 << 10, disk: 800 << 10}).of("")
	message := func(size int) []byte { return []byte(strings.Repeat("x", size)) }
	first, err := s.store(message(99 << 10))
	if err != nil || first.file != nil {
		t.Fatalf("the first message is in a file or refused: %v", err)
	}
	second, err := s.store(message(150 << 10))
	if err != nil || second.file == nil {
		t.Fatalf("the second message is not in a file: %v", err)
	}
	got, err := io.ReadAll(second.reader())
	if err != nil || len(got) != 150<<10 {
		t.Errorf("%d bytes came back, %v", len(got), err)
	}
	if _, err := s.store(message(70 << 10)); err == nil {
		t.Error("there was room on a disk that is full")
	}
	small, err := s.store(message(1 << 10))
	if err != nil {
		t.Errorf("a small message was refused: %v", err)
	}
	first.free()
	second.free()
	small.free()
	if s.inMemory != 0 || s.inFiles != 0 {
		t.Errorf("%d and %d bytes are still held", s.inMemory, s.inFiles)
	}
}

func TestStreamTellsThatAnAnswerFoundNoRoom(t *testing.T) {
	s := (&spillBuffer{memory: 1000, disk: 0}).of("")
	if _, err := s.store(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	st := newStream(s, 1, []byte("7"))
	st.respond(resultTo([]byte("7"), make([]byte, 2000)))
	next, found, _ := st.after(0)
	if !found {
		t.Fatal("there is no answer")
	}
	text, _ := io.ReadAll(next.message.reader())
	if !strings.Contains(string(text), `"id":7,"error":{"code":-32603,"message":"The answer was dropped`) {
		t.Errorf("the answer is %s", text)
	}
}
