package front

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// A session that goes on with another knows what was opened in it, and does not use its
// numbers again.
func TestSessionGoesOn(t *testing.T) {
	in, fromClient := io.Pipe()
	toClient, out := io.Pipe()
	served := make(chan error, 1)
	server := newServer(Options{})
	var marked []string
	known := StdioOptions{
		Opened: []string{"empty"}, LastAsked: 41,
		Mark: func(toolbox string) []byte { marked = append(marked, toolbox); return []byte("#" + toolbox + "\n") },
	}
	go func() { served <- server.ServeStdio(context.Background(), in, out, known) }()
	c := mcptest.NewClient(fromClient, toClient)
	next(t, c, strings.ReplaceAll(initialize, "%s", "2025-11-25"))
	got := next(t, c, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"use_tool","arguments":{"tool":{"toolbox":"empty","server":"s","name":"n"}}}}`)
	if !strings.Contains(got, "Server 's' not found in toolbox 'empty'") {
		t.Errorf("the toolbox is not open: %s", got)
	}
	server.mu.Lock()
	for client := range server.sessions {
		if client.questions.last != 41 {
			t.Errorf("questions begin after %d", client.questions.last)
		}
		client.MarkOpen("empty")
		client.MarkOpen("other")
		client.MarkOpen("other")
	}
	server.mu.Unlock()
	fromClient.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	toClient.Close()
	if len(marked) != 1 || marked[0] != "other" {
		t.Errorf("marked %v, want just what was opened now", marked)
	}
}

// One client of several that does not read is given up after a while.
func TestUnreadAnswersEndTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, fromClient := io.Pipe()
		toClient, out := io.Pipe() // nobody reads
		served := make(chan error, 1)
		began := time.Now()
		go func() {
			served <- newServer(Options{}).ServeStdio(context.Background(), in, out, StdioOptions{Patience: time.Minute})
		}()
		go func() {
			// Each is answered with its id, until no more fits.
			ping := `{"jsonrpc":"2.0","method":"ping","id":"` + strings.Repeat("x", 1<<20) + "\"}\n"
			for {
				if _, err := io.WriteString(fromClient, ping); err != nil {
					return
				}
			}
		}()
		<-served
		if waited := time.Since(began); waited < time.Minute || waited > time.Minute+answerTime+cancelTime+flushTime+readTime {
			t.Errorf("it ended after %s", waited)
		}
		toClient.Close()
		fromClient.Close()
	})
}

// Of two clients that may be alike, neither gets anything done before both have told their
// roots: then they share servers. What they sent meanwhile keeps its order.
func TestRequestsWaitForRoots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(Options{})
		first, stopFirst := client(t, server)
		second, stopSecond := client(t, server)
		hello := strings.NewReplacer("%s", "2025-11-25", `"capabilities":{}`, `"capabilities":{"roots":{}}`).Replace(initialize)
		for _, c := range []*mcptest.Client{first, second} {
			next(t, c, hello)
		}
		send := func(c *mcptest.Client, line string) []mcptest.Message {
			before := len(c.Received())
			if err := c.Send(line); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return c.Received()[before:]
		}
		send(first, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		send(second, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for _, c := range []*mcptest.Client{first, second} {
			if got := c.Received(); len(got) != 2 || got[1].Method != "roots/list" {
				t.Fatalf("a client was told %v", got)
			}
		}
		if got := send(second, `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`); len(got) != 0 {
			t.Errorf("answered before the roots are known: %v", got)
		}
		if got := send(second, `{"jsonrpc":"2.0","id":8,"method":"ping"}`); len(got) != 1 {
			t.Errorf("a ping was held: %v", got)
		}
		send(second, `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`)
		send(second, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`)
		if got := send(second, `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`); len(got) != 0 {
			t.Errorf("answered before the other's roots are known: %v", got)
		}
		before := len(second.Received())
		send(first, `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
		got := second.Received()[before:]
		if len(got) == 0 || string(got[0].ID) != "7" {
			t.Errorf("afterwards it got %v", got)
		}
		if err := errors.Join(stopFirst(), stopSecond()); err != nil {
			t.Error(err)
		}
	})
}

// A client that never tells its roots holds nobody up for long.
func TestRootsThatNeverCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(Options{})
		hello := strings.NewReplacer("%s", "2025-11-25", `"capabilities":{}`, `"capabilities":{"roots":{}}`).Replace(initialize)
		var clients []*mcptest.Client
		var stops []func() error
		for range 2 {
			c, stop := client(t, server)
			next(t, c, hello)
			if err := c.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			clients, stops = append(clients, c), append(stops, stop)
		}
		for i, want := range []time.Duration{rootsTime, 0} {
			began := time.Now()
			if _, err := clients[1].Request(t.Context(), "tools/list", "{}"); err != nil || time.Since(began) != want {
				t.Errorf("request %d was answered after %s, %v; want %s", i+1, time.Since(began), err, want)
			}
		}
		// What was read when the client closed its side is answered still.
		if err := clients[0].Send(`{"jsonrpc":"2.0","id":"last","method":"tools/list"}`); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(stops[0](), stops[1]()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		received := clients[0].Received()
		if last := received[len(received)-1]; string(last.ID) != `"last"` {
			t.Errorf("the last request was answered with %v", last)
		}
	})
}
