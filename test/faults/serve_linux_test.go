package faults

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
)

// onHTTP is for rows about clients that only HTTP has.
var onHTTP = aboveOnly(rig.HTTP, "it is about clients over HTTP")

func TestServe(t *testing.T) {
	t.Parallel()
	row(t, "89 Host and Origin", testStrangers, sample, onHTTP, noServer)
	row(t, "89 auth", testTokens, sample, onHTTP, noServer)
	row(t, "89 audience", testAudience, sample, onHTTP, noServer)
	row(t, "89 sessions", testSessions, sample, onHTTP, noServer)
	row(t, "89 slow headers", testSlowHeaders, sample, onHTTP, noServer)
	row(t, "89 slow bodies", testSlowBodies, sample, onHTTP, noServer)
	row(t, "89 large bodies that stop", testLargeBodies, onHTTP, noServer)
	row(t, "89 1000 sessions", testManySessions, onHTTP, noServer)
}

// startServe starts a workbench whose clients come over HTTP.
func startServe(t *testing.T, p pairing, auth bool) *bench {
	t.Helper()
	b := startWith(t, p, rig.Options{Auth: auth, Top: patientTimeouts, Boxes: map[string]box{
		"dev": {"s": {Role: "good"}}, "ops": {"s": {Role: "good"}},
	}})
	b.open(promptly)
	return b
}

// reply is the response to a visit.
type reply struct {
	status int
	header http.Header
	body   string
}

// visit sends a ping in the client's session, with headers changed.
func (b *bench) visit(header map[string]string) reply {
	b.t.Helper()
	address, session := b.Place()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, address, strings.NewReader(`{"jsonrpc":"2.0","id":"v","method":"ping"}`))
	if err != nil {
		b.t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Mcp-Session-Id": session} {
		r.Header.Set(name, value)
	}
	for name, value := range header {
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
		if value == "" {
			r.Header.Del(name)
		}
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(body)}
}

// refuses wants a status for a request with these headers, and a word in what is said.
func (b *bench) refuses(status int, word string, header map[string]string) {
	b.t.Helper()
	if r := b.visit(header); r.status != status || !strings.Contains(r.body, word) {
		b.t.Errorf("%q: HTTP status %d: %s", header, r.status, r.body)
	}
}

func testStrangers(t *testing.T, p pairing) {
	b := startServe(t, p, false)
	address, _ := b.Place()
	own, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"evil.example", "evil.example:" + own.Port(), "127.0.0.1.evil.example", "localhost@evil.example"} {
		b.refuses(http.StatusForbidden, "Host", map[string]string{"Host": host})
	}
	for _, origin := range []string{"http://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1:1", "file://"} {
		b.refuses(http.StatusForbidden, "allowedOrigins", map[string]string{"Origin": origin})
	}
	b.refuses(http.StatusOK, "result", map[string]string{"Host": "localhost:" + own.Port()})
	b.refuses(http.StatusOK, "result", map[string]string{"Origin": "http://" + own.Host})
	b.works("s", "echo", sibling)
}

func testTokens(t *testing.T, p pairing) {
	b := startServe(t, p, true) // its own client has a token
	const wrong = "mcpw_wr0ng-wr0ng-wr0ng-wr0ng"
	if r := b.visit(nil); r.status != http.StatusUnauthorized || r.header.Get("WWW-Authenticate") == "" {
		t.Errorf("without a token: HTTP status %d, %v", r.status, r.header)
	}
	b.refuses(http.StatusUnauthorized, "bearer", map[string]string{"Authorization": "Basic dXNlcjpwYXNz"})
	b.refuses(http.StatusUnauthorized, "token", map[string]string{"Authorization": "Bearer " + wrong})
	limited := false
	for range 50 {
		r := b.visit(map[string]string{"Authorization": "Bearer " + wrong})
		limited = limited || r.status == http.StatusTooManyRequests
		if strings.Contains(r.body, wrong) {
			t.Errorf("the answer repeats the token: %s", r.body)
		}
	}
	if !limited {
		t.Error("tokens can be guessed as fast as one likes")
	}
	b.works("s", "echo", sibling) // a right one is never refused
	if strings.Contains(b.Log(), wrong) {
		t.Error("the log holds the token that was tried")
	}
}

func testAudience(t *testing.T, p pairing) {
	b := startServe(t, p, true)
	token, err := b.NewToken("narrow", "dev")
	if err != nil {
		t.Fatal(err)
	}
	var narrow *rig.Client
	err = rig.Eventually(sibling, func() error { // a workbench that runs notices within a second
		r := b.visit(map[string]string{"Authorization": "Bearer " + token})
		if r.status != http.StatusNotFound { // the session is the first client's
			return fmt.Errorf("the new token gets HTTP status %d: %s", r.status, r.body)
		}
		return nil
	})
	if err == nil {
		narrow, err = b.Join(token)
	}
	if err != nil {
		t.Fatal(err)
	}
	if a := b.wait(narrow.Open("dev"), promptly); a.IsError {
		t.Errorf("its own toolbox: %s", a.Line)
	}
	for _, other := range []string{"ops", "nowhere"} {
		a := b.wait(narrow.Open(other), promptly)
		if !a.IsError || !strings.Contains(a.Text, "not found") {
			t.Errorf("the toolbox of others: %s", a.Line)
		}
	}
	if a := b.wait(narrow.Use("ops", "s", "echo", "{}"), promptly); !a.IsError {
		t.Errorf("a tool of others: %s", a.Line)
	}
	if err := narrow.Close(); err != nil {
		t.Error(err)
	}
	for _, violation := range narrow.Violations() {
		t.Error("the second client was sent this:", violation)
	}
	b.works("s", "echo", sibling)
}

func testSessions(t *testing.T, p pairing) {
	b := startServe(t, p, false)
	b.refuses(http.StatusBadRequest, "initialize", map[string]string{"Mcp-Session-Id": ""})
	b.refuses(http.StatusNotFound, "initialize", map[string]string{"Mcp-Session-Id": "0123456789abcdef0123456789abcdef"})
	b.refuses(http.StatusBadRequest, "revision", map[string]string{"Mcp-Protocol-Version": "1999-01-01"})
	b.refuses(http.StatusUnsupportedMediaType, "application/json", map[string]string{"Content-Type": "text/plain"})
	b.works("s", "echo", sibling)
	if err := b.Leave(); err != nil {
		t.Fatal(err)
	}
	b.refuses(http.StatusNotFound, "initialize", nil)
}

// slowClients opens connections that begin to say something and then say nothing.
func (b *bench) slowClients(n int, beginning string) []net.Conn {
	b.t.Helper()
	address, _ := b.Place()
	place, err := url.Parse(address)
	if err != nil {
		b.t.Fatal(err)
	}
	var all []net.Conn
	for range n {
		conn, err := net.Dial("tcp", place.Host)
		if err != nil {
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() { conn.Close() })
		if _, err := fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\n%s", place.Host, beginning); err != nil {
			b.t.Fatal(err)
		}
		all = append(all, conn)
	}
	return all
}

const slowOnes = 200

func testSlowHeaders(t *testing.T, p pairing) {
	b := startServe(t, p, false)
	slow := b.slowClients(slowOnes, "Content-Type: appl")
	for range 20 {
		b.works("s", "echo", sibling)
	}
	for _, conn := range slow {
		if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(conn); isTimeout(err) {
			t.Fatalf("the workbench still waits for headers: %v", err)
		}
	}
	b.works("s", "echo", sibling)
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// testSlowBodies announces bodies that together are far more than the memory.
func testSlowBodies(t *testing.T, p pairing) {
	b := startServe(t, p, false)
	_, session := b.Place()
	slow := b.slowClients(slowOnes, "Content-Type: application/json\r\nMcp-Session-Id: "+session+"\r\nContent-Length: 62914560\r\n\r\n{\"jsonrpc\"")
	for range 20 {
		b.works("s", "echo", sibling)
	}
	for _, conn := range slow {
		conn.Close()
	}
	b.works("s", "echo", sibling)
}

// testLargeBodies sends most of many large bodies, and never the rest.
func testLargeBodies(t *testing.T, p pairing) {
	b := startServe(t, p, false)
	_, session := b.Place()
	const size = 20 << 20
	head := fmt.Sprintf("Content-Type: application/json\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n", session, size)
	slow := b.slowClients(20, head)
	most := make([]byte, size-1)
	var all sync.WaitGroup
	for _, conn := range slow {
		all.Go(func() { _, _ = conn.Write(most) }) // it may be refused
	}
	for range 20 {
		b.works("s", "echo", sibling)
	}
	all.Wait()
	b.works("s", "echo", sibling)
}

func testManySessions(t *testing.T, p pairing) {
	b := startServe(t, p, false)
	clients := make([]*rig.Client, 1000)
	b.each(clients, func(i int) (err error) {
		clients[i], err = b.Join("")
		return err
	})
	b.each(clients, func(i int) error {
		for _, begin := range []func() *rig.Call{
			func() *rig.Call { return clients[i].Open("dev") },
			func() *rig.Call { return clients[i].Use("dev", "s", "echo", "{}") },
		} {
			a, err := begin().Wait(30 * time.Second)
			if err == nil && a.IsError {
				err = errors.New(a.Text)
			}
			if err != nil {
				return fmt.Errorf("client %d: %w", i, err)
			}
		}
		return nil
	})
	b.works("s", "echo", sibling)
	b.each(clients, func(i int) error {
		for _, violation := range clients[i].Violations() {
			t.Errorf("client %d was sent this: %s", i, violation)
		}
		return clients[i].Close()
	})
}

// each does something with all clients, several at once.
func (b *bench) each(clients []*rig.Client, do func(i int) error) {
	b.t.Helper()
	const atOnce = 16
	errs := make([]error, atOnce)
	var all sync.WaitGroup
	for worker := range atOnce {
		all.Go(func() {
			for i := worker; i < len(clients) && errs[worker] == nil; i += atOnce {
				errs[worker] = do(i)
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		b.t.Fatal(err)
	}
}
