package front

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcptest"
)

// A session that goes on with another knows what was opened in it, and does not use its
// numbers again.
func TestSessionGoesOn(t *testing.T) {
	in, fromClient := io.Pipe()
	toClient, out := io.Pipe()
	served := make(chan error, 1)
	server := newServer(Options{})
	var marked []string
	known := Pipe{
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
		if client.lastAsked != 41 {
			t.Errorf("questions begin after %d", client.lastAsked)
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
			served <- newServer(Options{}).ServeStdio(context.Background(), in, out, Pipe{Patience: time.Minute})
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
