package e2e

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// This file is about a server of npm that the workbench reaches over HTTP.

// everythingRemote starts the reference server as a service of its own: streamableHttp or
// sse.
func everythingRemote(t *testing.T, m *mark, transport string) server {
	t.Helper()
	path := map[string]string{"streamableHttp": "/mcp", "sse": "/sse"}[transport]
	return serviceOf(t, m, npmServer(t, "everything", transport), path)
}

// serviceOf starts a server that listens on the port that it is told.
func serviceOf(t *testing.T, m *mark, s server, path string) server {
	t.Helper()
	// It has to be told a port. Another process may take it before it does.
	for range 5 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().(*net.TCPAddr)
		listener.Close()
		cmd := exec.Command(s.command, s.args...)
		cmd.Env = append(os.Environ(), m.env(), fmt.Sprintf("PORT=%d", address.Port))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		exited := make(chan struct{})
		go func() { _ = cmd.Wait(); close(exited) }()
		t.Cleanup(func() {
			_ = cmd.Process.Kill() // it may have ended
			<-exited
		})
		if answers(t, address.String(), exited) {
			return server{name: s.name, url: fmt.Sprintf("http://%s%s", address, path)}
		}
	}
	t.Fatal("the server found no port")
	return server{}
}

// answers waits until somebody listens; false if the process ended instead.
func answers(t *testing.T, address string, exited <-chan struct{}) bool {
	t.Helper()
	deadline, again := time.NewTimer(patience), time.NewTicker(20*time.Millisecond)
	defer deadline.Stop()
	defer again.Stop()
	for {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return true
		}
		select {
		case <-exited:
			return false
		case <-deadline.C:
			t.Fatalf("nobody listens on %s", address)
		case <-again.C:
		}
	}
}

// TestRemoteNPMServerEqualsADirectConnection makes the same calls through the workbench,
// over every pairing, and directly.
func TestRemoteNPMServerEqualsADirectConnection(t *testing.T) {
	needNode(t)
	for _, transport := range []string{"streamableHttp", "sse"} {
		t.Run(transport, func(t *testing.T) {
			eachAbove(t, func(t *testing.T, overHTTP bool) {
				m := newMark(t)
				straight := direct(t, m, everythingServer(t))
				b := newBench(t, "", box{"all", "", []server{everythingRemote(t, m, transport)}})
				b.overHTTP = overHTTP
				through := b.client(newest)
				through.open("all")
				for _, call := range everythingCalls {
					want := straight.call(call.tool, call.arguments)
					got := through.use("all", "everything", call.tool, call.arguments)
					if !bytes.Equal(got, want) || !bytes.Contains(got, []byte(call.has)) {
						t.Errorf("%s %s:\nthrough the workbench %.1000s\ndirectly              %.1000s", call.tool, call.arguments, got, want)
					}
				}
				checkOrder(t, through)
				checkCancel(t, through)
			})
		})
	}
}

// checkOrder sees that progress comes before its result, with the client's own token.
func checkOrder(t *testing.T, c *rawClient) {
	t.Helper()
	c.notes = nil
	c.await(c.begin("tools/call", fmt.Sprintf(`{"name":"use_tool","arguments":%s,"_meta":{"progressToken":"tök\u0065n"}}`,
		useArguments("all", "everything", "trigger-long-running-operation", `{"duration":0.3,"steps":3}`))))
	var progress []string
	for _, note := range c.notes {
		if note.Method == "notifications/progress" {
			progress = append(progress, string(note.Params))
		}
	}
	if got, want := strings.Join(progress, " "), `{"progress":1,"total":3,"progressToken":"tök\u0065n"} `+
		`{"progress":2,"total":3,"progressToken":"tök\u0065n"} {"progress":3,"total":3,"progressToken":"tök\u0065n"}`; got != want {
		t.Errorf("before the result came %s, want %s", got, want)
	}
}

// checkCancel sees that a call that was cancelled is heard of no more.
func checkCancel(t *testing.T, c *rawClient) {
	t.Helper()
	id := c.begin("tools/call", fmt.Sprintf(`{"name":"use_tool","arguments":%s,"_meta":{"progressToken":7}}`,
		useArguments("all", "everything", "trigger-long-running-operation", `{"duration":20,"steps":200}`)))
	if m := c.nextMessage(); m.Method != "notifications/progress" {
		t.Fatalf("the first message is %s %s", m.Method, m.Params)
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	c.use("all", "everything", "echo", `{"message":"after"}`)
	c.notes = nil
	c.use("all", "everything", "echo", `{"message":"and again"}`)
	if len(c.notes) > 0 {
		t.Errorf("messages about a cancelled request: %s", c.notes)
	}
}
