package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// This file is a client that knows lines and nothing else, so that tests see the very
// bytes that a server or the workbench sent.

// message is one line with its parts as they were written.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// rawClient talks to a process that it started, in the order of the test's own calls.
type rawClient struct {
	t      *testing.T
	mark   *mark
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  chan []byte // closed at the end of the output
	lastID int
	notes  []message // notifications that came while an answer was waited for
	closed bool
	remote *mcptest.HTTPClient // instead of cmd and stdin: the process serves others as well
}

// dial starts the command. Its end is part of the test's clean-up.
func dial(t *testing.T, m *mark, cmd *exec.Cmd) *rawClient {
	t.Helper()
	c := &rawClient{t: t, mark: m, cmd: cmd, lines: make(chan []byte, 64)}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the output, which the clean-up makes sure of
		defer close(c.lines)
		reader := bufio.NewReaderSize(stdout, 1<<16)
		for {
			line, err := reader.ReadBytes('\n')
			if err != nil {
				return
			}
			c.lines <- line[:len(line)-1]
		}
	}()
	t.Cleanup(func() { c.close() })
	return c
}

// client starts the workbench and agrees on a revision.
func (b *bench) client(revision string) *rawClient {
	b.t.Helper()
	if b.overHTTP {
		return b.remoteClient(revision)
	}
	c := dial(b.t, b.mark, b.command())
	c.initialize(revision)
	return c
}

// close ends the input, as clients do, and returns how the process exited.
func (c *rawClient) close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	if c.remote != nil {
		c.remote.Close()
		return nil
	}
	c.mark.record(c.cmd.Process.Pid)
	c.stdin.Close()
	return c.wait()
}

// wait reads the rest of the output and waits for the exit.
func (c *rawClient) wait() error {
	c.closed = true
	overdue := time.AfterFunc(leftTime, func() {
		c.t.Errorf("process %d did not end", c.cmd.Process.Pid)
		c.cmd.Process.Kill()
	})
	defer overdue.Stop()
	for range c.lines {
	}
	return c.cmd.Wait()
}

func (c *rawClient) send(line string) {
	c.t.Helper()
	write := func(line string) error { _, err := io.WriteString(c.stdin, line+"\n"); return err }
	if c.remote != nil {
		write = c.remote.Send
	}
	if err := write(line); err != nil {
		c.t.Fatalf("could not send: %v", err)
	}
}

// next returns the next line.
func (c *rawClient) next() []byte {
	c.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the output ended while a message was waited for")
		}
		return line
	case <-deadline.C:
		c.t.Fatal("no message came")
	}
	return nil
}

// nextMessage returns the next line, taken apart.
func (c *rawClient) nextMessage() message {
	c.t.Helper()
	line := c.next()
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		c.t.Fatalf("no message but %.200q: %v", line, err)
	}
	return m
}

// begin sends a request and does not wait. Params are raw JSON.
func (c *rawClient) begin(method, params string) (id int) {
	c.t.Helper()
	c.lastID++
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.lastID, method, params))
	return c.lastID
}

// await returns the response to a request; what comes before it is kept in notes.
func (c *rawClient) await(id int) message {
	c.t.Helper()
	for {
		m := c.nextMessage()
		if m.Method == "" && string(m.ID) == strconv.Itoa(id) {
			return m
		}
		c.notes = append(c.notes, m)
	}
}

// request returns the raw result of a request.
func (c *rawClient) request(method, params string) []byte {
	c.t.Helper()
	m := c.await(c.begin(method, params))
	if m.Error != nil {
		c.t.Fatalf("%s was answered with the error %.500s", method, m.Error)
	}
	return m.Result
}

func (c *rawClient) initialize(revision string) []byte {
	c.t.Helper()
	result := c.request("initialize", fmt.Sprintf(
		`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}`, revision))
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return result
}

// call returns the raw result of a tool that the peer itself lists.
func (c *rawClient) call(tool, arguments string) []byte {
	c.t.Helper()
	return c.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

// use returns the raw result of a tool behind the workbench.
func (c *rawClient) use(toolbox, server, tool, arguments string) []byte {
	c.t.Helper()
	return c.call("use_tool", useArguments(toolbox, server, tool, arguments))
}

func useArguments(toolbox, server, tool, arguments string) string {
	return fmt.Sprintf(`{"tool":{"toolbox":%q,"server":%q,"name":%q},"arguments":%s}`, toolbox, server, tool, arguments)
}

// opened is the answer of open_toolbox.
type opened struct {
	Toolbox     string            `json:"toolbox"`
	Description string            `json:"description"`
	Connected   int               `json:"servers_connected"`
	Tools       []json.RawMessage `json:"tools"`
	Errors      []string          `json:"_errors"`
	Warnings    []string          `json:"_warnings"`
}

// open opens a toolbox, all of whose servers have to be there.
func (c *rawClient) open(toolbox string) opened {
	c.t.Helper()
	return parseOpened(c.t, c.call("open_toolbox", fmt.Sprintf(`{"toolbox":%q}`, toolbox)))
}

func parseOpened(t *testing.T, result []byte) opened {
	t.Helper()
	var answer opened
	if err := json.Unmarshal([]byte(textOf(t, result)), &answer); err != nil {
		t.Fatalf("open_toolbox answered %.500s: %v", result, err)
	}
	if len(answer.Errors) > 0 {
		t.Fatalf("open_toolbox: %q", answer.Errors)
	}
	return answer
}

// textOf returns the only text block of a raw result that is no error.
func textOf(t *testing.T, result []byte) string {
	t.Helper()
	var parsed struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	if err := json.Unmarshal(result, &parsed); err != nil {
		t.Fatalf("%v in %.500s", err, result)
	}
	if len(parsed.Content) != 1 || parsed.Content[0].Type != "text" || parsed.IsError {
		t.Fatalf("want one text block, got %.500s", result)
	}
	return parsed.Content[0].Text
}
