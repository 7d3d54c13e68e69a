package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// This file runs a workbench that clients reach over HTTP.

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// serve starts the workbench, once, and returns where it listens.
func (b *bench) serve() string {
	b.t.Helper()
	if b.served != nil {
		return b.address
	}
	b.served = exec.Command(b.binary, "serve", "--listen", "127.0.0.1:0", "--no-auth", "--config", b.config, "--log-level", "info")
	b.served.Env, b.served.Dir, b.served.Stderr = b.environ(), b.state, b.stderr
	if err := b.served.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(b.stopServing)
	b.address = b.awaitStderr(listening)[1]
	return b.address
}

func (b *bench) stopServing() {
	b.mark.record(b.served.Process.Pid)
	_ = b.served.Process.Signal(syscall.SIGTERM) // it may have ended, which shows below
	overdue := time.AfterFunc(leftTime, func() {
		b.t.Error("the workbench did not end")
		_ = b.served.Process.Kill()
	})
	defer overdue.Stop()
	if err := b.served.Wait(); err != nil {
		b.t.Errorf("the workbench ended with %v", err)
	}
}

// remoteClient is a raw client over HTTP.
func (b *bench) remoteClient(revision string) *rawClient {
	b.t.Helper()
	c := &rawClient{t: b.t, mark: b.mark, lines: make(chan []byte, 64), remote: mcptest.NewHTTPClient(b.serve(), nil)}
	go c.hand()
	b.t.Cleanup(func() { c.close() })
	c.initialize(revision)
	return c
}

// hand passes on what the client over HTTP receives, until that is closed.
func (c *rawClient) hand() {
	defer close(c.lines)
	for next := 0; ; next++ {
		message, _, err := c.remote.Await(context.Background(), next, func(mcptest.Message) bool { return true })
		if err != nil {
			return
		}
		line := message.Raw
		if line == nil {
			// Below the protocol: shown like an error of it, so that who waits sees it.
			reason, _ := json.Marshal(message.Bad.Error()) // a string can be encoded
			line = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":0,"message":%s}}`, message.ID, reason)
		}
		select {
		case c.lines <- line:
		case <-c.t.Context().Done(): // nobody looks any more
			return
		}
	}
}
