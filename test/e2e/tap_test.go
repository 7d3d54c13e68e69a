package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// This file is a tap: a process between the workbench and a server that passes lines
// on in both directions, and shows them to the test.

const (
	roleTap    = "tap"
	tapAddress = "E2E_TAP"
)

// Directions of a line.
const (
	down = '>' // from the workbench to the server
	up   = '<' // from the server to the workbench
)

// playTap runs its arguments, which are like those of env(1): NAME=value…, the
// command, and its arguments.
func playTap(args []string) error {
	conn, err := net.Dial("tcp", os.Getenv(tapAddress))
	if err != nil {
		return err
	}
	defer conn.Close()
	report := &reporter{to: conn}
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, roleVariable+"=") })
	for len(args) > 1 && strings.Contains(args[0], "=") {
		env, args = append(env, args[0]), args[1:]
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { // ends with our input, or with this process
		report.pass(down, stdin, os.Stdin)
		stdin.Close()
	}()
	report.pass(up, os.Stdout, stdout)
	return cmd.Wait()
}

// reporter shows lines to the test before they are passed on, so that a test which
// has an answer can be sure that all before it was shown.
type reporter struct {
	mu sync.Mutex
	to io.Writer
}

func (r *reporter) pass(direction byte, dst io.Writer, src io.Reader) {
	reader := bufio.NewReaderSize(src, 1<<16)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		r.mu.Lock()
		_, err = r.to.Write(append([]byte{direction}, line...))
		r.mu.Unlock()
		if err != nil {
			return
		}
		if _, err := dst.Write(line); err != nil {
			return
		}
	}
}

// tap is the test's end of all taps that report to it.
type tap struct {
	t        *testing.T
	listener net.Listener
	lines    chan tapped
	over     chan struct{}
}

type tapped struct {
	direction byte
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
		p.saw(line[0], line[1:len(line)-1])
	}
}

func (p *tap) saw(direction byte, line []byte) {
	select {
	case p.lines <- tapped{direction, line}:
	case <-p.over: // the test does not look any more, but the server must not be held up
	}
}

// around puts the tap between the workbench and a server.
func (p *tap) around(s server) server {
	p.t.Helper()
	env := map[string]string{}
	args := []string{}
	for name, value := range s.env {
		if name == roleVariable {
			args = append(args, name+"="+value)
			continue
		}
		env[name] = value
	}
	env[roleVariable], env[tapAddress] = roleTap, p.listener.Addr().String()
	args = append(append(args, s.command), s.args...)
	return server{name: s.name, command: self(p.t), args: args, env: env}
}

// find returns the next message in that direction for which match is true.
func (p *tap) find(direction byte, what string, match func(message) bool) message {
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
	return p.find(down, "a tools/call", func(m message) bool { return m.Method == "tools/call" })
}

// findAnswer returns the server's response to a request that was found.
func (p *tap) findAnswer(to message) message {
	p.t.Helper()
	return p.find(up, "the answer to request "+string(to.ID), func(m message) bool {
		return m.Method == "" && string(m.ID) == string(to.ID)
	})
}

// findCancel returns the parameters of the cancellation of a request that was found.
func (p *tap) findCancel(of message) json.RawMessage {
	p.t.Helper()
	return p.find(down, "the cancellation of request "+string(of.ID), func(m message) bool {
		var params struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		return m.Method == "notifications/cancelled" && json.Unmarshal(m.Params, &params) == nil &&
			string(params.RequestID) == string(of.ID)
	}).Params
}
