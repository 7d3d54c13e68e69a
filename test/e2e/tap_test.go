package e2e

import (
	"bufio"
	"encoding/json"
	"maps"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// This file is a tap: a process between the workbench and a server that passes lines
// on in both directions, and shows them to the test.

const (
	roleTap    = "tap"
	tapAddress = "E2E_TAP"
)

// playTap runs its arguments, a command line.
func playTap(args []string) error {
	conn, err := net.Dial("tcp", os.Getenv(tapAddress))
	if err != nil {
		return err
	}
	defer conn.Close()
	return mcptest.Tap(exec.Command(args[0], args[1:]...), func(direction mcptest.Direction, line []byte) error {
		_, err := conn.Write(append([]byte{byte(direction)}, line...))
		return err
	})
}

// tap is the test's end of all taps that report to it.
type tap struct {
	t        *testing.T
	listener net.Listener
	lines    chan tapped
	over     chan struct{}
}

type tapped struct {
	direction mcptest.Direction
	line      []byte
}

func newTap(t *testing.T) *tap {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{t: t, listener: listener, lines: make(chan tapped, 4096), over: make(chan struct{})}
	var readers sync.WaitGroup
	readers.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			readers.Go(func() { p.read(conn) })
		}
	})
	t.Cleanup(func() {
		close(p.over)
		listener.Close()
		readers.Wait() // the taps have ended: this clean-up is older than their bench's
	})
	return p
}

func (p *tap) read(conn net.Conn) {
	defer conn.Close()
	reader := bufio.NewReaderSize(conn, 1<<16)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		p.saw(mcptest.Direction(line[0]), line[1:len(line)-1])
	}
}

func (p *tap) saw(direction mcptest.Direction, line []byte) {
	select {
	case p.lines <- tapped{direction, line}:
	case <-p.over: // the test does not look any more, but the server must not be held up
	}
}

// around puts the tap between the workbench and a server.
func (p *tap) around(s server) server {
	p.t.Helper()
	env := map[string]string{tapAddress: p.listener.Addr().String()}
	maps.Copy(env, s.env)
	command := append([]string{s.command}, s.args...)
	return server{name: s.name, command: mcptest.Self(), args: mcptest.RoleArgs(roleTap, command...), env: env}
}

// find returns the next message in that direction for which match is true.
func (p *tap) find(direction mcptest.Direction, what string, match func(message) bool) message {
	p.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		select {
		case seen := <-p.lines:
			var m message
			if seen.direction != direction || json.Unmarshal(seen.line, &m) != nil {
				continue
			}
			if match(m) {
				return m
			}
		case <-deadline.C:
			p.t.Fatalf("the tap did not see %s", what)
		}
	}
}

// findCall returns the next tools/call that reaches the server.
func (p *tap) findCall() message {
	p.t.Helper()
	return p.find(mcptest.Down, "a tools/call", func(m message) bool { return m.Method == "tools/call" })
}

// findAnswer returns the server's response to a request that was found.
func (p *tap) findAnswer(to message) message {
	p.t.Helper()
	return p.find(mcptest.Up, "the answer to request "+string(to.ID), func(m message) bool {
		return m.Method == "" && string(m.ID) == string(to.ID)
	})
}

// findCancel returns the parameters of the cancellation of a request that was found.
func (p *tap) findCancel(of message) json.RawMessage {
	p.t.Helper()
	return p.find(mcptest.Down, "the cancellation of request "+string(of.ID), func(m message) bool {
		var params struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		return m.Method == "notifications/cancelled" && json.Unmarshal(m.Params, &params) == nil &&
			string(params.RequestID) == string(of.ID)
	}).Params
}
