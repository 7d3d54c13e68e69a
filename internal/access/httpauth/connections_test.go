package httpauth

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeConn is a connection from an address, which notes that it was closed.
type fakeConn struct {
	net.Conn
	from   string
	closed bool
}

func (f *fakeConn) RemoteAddr() net.Addr { return tcp(f.from) }
func (f *fakeConn) Close() error         { f.closed = true; return nil }

func TestConnectionsMakeRoom(t *testing.T) {
	tests := []struct {
		name   string
		most   int
		script string // "A" opens a connection of that address, "A!" one that is busy, "-N" ends the Nth
		closed []int  // of the connections, from 0
	}{
		{"room for all", 8, "1 2 3", nil},
		{"the longest unused one goes", 3, "1 2 3 4", []int{0}},
		{"a busy one stays", 3, "1! 2 3 4", []int{1}},
		{"the new one goes where all are busy", 2, "1! 2! 3", []int{2}},
		{"an ended one leaves room", 2, "1 2 -0 3", nil},
		{"one address has a share", 8, "1 1 1", []int{0}},
		{"and keeps its busy ones", 8, "1! 1! 1", []int{2}},
		{"this machine has no share of its own", 4, "L L L L", nil},
		{"but counts among all", 4, "L L L L L", []int{0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all := newConnections(test.most, slog.New(slog.DiscardHandler))
			var opened []*fakeConn
			for _, word := range strings.Fields(test.script) {
				if n, isEnd := strings.CutPrefix(word, "-"); isEnd {
					all.removeClosed(opened[n[0]-'0'])
					continue
				}
				address, busy := strings.CutSuffix(word, "!")
				from := "192.0.2." + address + ":1"
				if address == "L" {
					from = "127.0.0.1:1"
				}
				conn := &fakeConn{from: from}
				opened = append(opened, conn)
				ctx := all.addConnection(context.Background(), conn)
				if busy {
					useConnection(ctx)
				}
			}
			closed := []int{}
			for i, conn := range opened {
				if conn.closed {
					closed = append(closed, i)
				}
			}
			if fmt.Sprint(closed) != fmt.Sprint(append([]int{}, test.closed...)) {
				t.Errorf("closed %v, want %v", closed, test.closed)
			}
		})
	}
}

func TestConnectionIsUnusedAgainAfterItsRequests(t *testing.T) {
	all := newConnections(1, slog.New(slog.DiscardHandler))
	first, second := &fakeConn{from: "127.0.0.1:1"}, &fakeConn{from: "127.0.0.1:2"}
	ctx := all.addConnection(context.Background(), first)
	done, doneToo := useConnection(ctx), useConnection(ctx)
	done()
	all.addConnection(context.Background(), second)
	if first.closed || !second.closed {
		t.Fatal("a connection with a request was closed")
	}
	all.removeClosed(second)
	doneToo()
	all.addConnection(context.Background(), &fakeConn{from: "127.0.0.1:3"})
	if !first.closed {
		t.Error("a connection without requests was kept")
	}
	all.removeClosed(first) // net/http says so later
	if len(all.open) != 1 || len(all.addresses) != 1 || all.unused.Len() != 1 {
		t.Errorf("left %d connections, %d addresses, %d unused", len(all.open), len(all.addresses), all.unused.Len())
	}
}

// guarded serves behind a gate with so many connections at most, and returns the address and a token.
func guarded(t *testing.T, most int, withTLS bool) (server *httptest.Server, token string) {
	store, token := openStore(t)
	gate := NewGate(inside, GateOptions{Store: store})
	server = httptest.NewUnstartedServer(gate)
	guardConnections(server.Config, most, nil, slog.New(slog.DiscardHandler))
	if withTLS {
		server.EnableHTTP2 = true
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server, token
}

func TestClientIsServedWhileOthersSayNothing(t *testing.T) {
	for _, begins := range []string{"", "POST /mcp HTTP/1.1\r\nHost: ", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"} {
		server, token := guarded(t, 16, false)
		address := server.Listener.Addr().String()
		for range 64 {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, begins) // it may be closed already
		}
		request, _ := http.NewRequest(http.MethodPost, server.URL, strings.NewReader("{}"))
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatalf("after %q: %v", begins, err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("after %q: status %d", begins, response.StatusCode)
		}
	}
}

func TestRefusalWithAnUnreadBodyEndsTheConnection(t *testing.T) {
	server, _ := guarded(t, 16, false)
	tests := []struct{ name, request string }{
		{"no body comes", "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n\r\n"},
		{"a part of it", "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n\r\n{"},
		{"no chunk", "POST /mcp HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n"},
		{"two lengths", "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"waiting to be asked", "POST /mcp HTTP/1.1\r\nHost: %s\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n"},
		{"on a GET", "GET /mcp HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Minute)) // a test that hangs tells less
			fmt.Fprintf(conn, test.request, server.Listener.Addr())
			in := bufio.NewReader(conn)
			response, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			_, _ = io.Copy(io.Discard, response.Body)
			if response.StatusCode != http.StatusUnauthorized || !response.Close {
				t.Errorf("status %d, closes %v", response.StatusCode, response.Close)
			}
			if _, err := in.ReadByte(); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the connection did not end: %v", err)
			}
		})
	}
}

// In HTTP/2 the stream of a refused request ends, and the connection serves the next one.
func TestRefusalWithAnUnreadBodyEndsTheStream(t *testing.T) {
	server, token := guarded(t, 16, true)
	client := server.Client()
	body, never := io.Pipe()
	defer never.Close()
	request, _ := http.NewRequest(http.MethodPost, server.URL, body)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	if response.StatusCode != http.StatusUnauthorized || response.ProtoMajor != 2 {
		t.Fatalf("status %d over HTTP/%d", response.StatusCode, response.ProtoMajor)
	}
	request, _ = http.NewRequest(http.MethodPost, server.URL, strings.NewReader("{}"))
	request.Header.Set("Authorization", "Bearer "+token)
	again, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Body.Close()
	if again.StatusCode != http.StatusOK {
		t.Error(again.Status)
	}
}

func TestSilentTLSMakesRoom(t *testing.T) {
	server, token := guarded(t, 8, true)
	for range 32 {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}}}
	defer client.CloseIdleConnections()
	request, _ := http.NewRequest(http.MethodGet, server.URL, nil)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Error(response.Status)
	}
}
