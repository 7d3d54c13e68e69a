package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// This file is the recording of what passes between a client and the workbench. A client
// starts the program that 'connect' wrote into its configuration; once that is done this
// test binary stands in its place, starts the program itself, and writes down each line
// before it passes it on.

const (
	tapName  = "mcp-workbench"
	realName = "mcp-workbench.real" // beside the tap
)

// recorded is a line of a recording.
type recorded struct {
	From    string          `json:"from"` // "client" or "workbench"
	Message json.RawMessage `json:"message"`
}

// playTap runs the workbench that is beside it. Each session has a file named after the
// process in the folder of recordings, which is there as well.
func playTap(self string, args []string) int {
	folder := filepath.Dir(self)
	file, err := os.Create(filepath.Join(folder, fmt.Sprintf("session-%d.jsonl", os.Getpid())))
	if err != nil {
		fmt.Fprintln(os.Stderr, "tap:", err)
		return 1
	}
	defer file.Close()
	cmd := exec.Command(filepath.Join(folder, realName), args...)
	cmd.Stderr = os.Stderr
	stdin, inErr := cmd.StdinPipe()
	stdout, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		fmt.Fprintln(os.Stderr, "tap:", err)
		return 1
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() { // ends with this process
		for s := range signals {
			_ = cmd.Process.Signal(s) // it may be gone by now
		}
	}()
	w := &writer{to: file}
	go func() { // ends with our input, or with this process
		w.pass("client", stdin, os.Stdin)
		stdin.Close()
	}()
	w.pass("workbench", os.Stdout, stdout)
	if err := cmd.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "tap:", err)
	}
	return cmd.ProcessState.ExitCode()
}

type writer struct {
	mu sync.Mutex
	to io.Writer
}

// pass writes lines down before they are passed on, so that what stands later in the
// recording was sent with knowledge of what stands before.
func (w *writer) pass(from string, dst io.Writer, src io.Reader) {
	reader := bufio.NewReaderSize(src, 1<<16)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		entry, err := json.Marshal(recorded{from, bytes.TrimSpace(line)})
		if err != nil { // not JSON: the reader of the recording shows it
			entry, _ = json.Marshal(map[string]string{"from": from, "text": string(line)})
		}
		w.mu.Lock()
		_, err = w.to.Write(append(entry, '\n'))
		w.mu.Unlock()
		if err != nil {
			return
		}
		if _, err := dst.Write(line); err != nil {
			return
		}
	}
}

// message is one of a session, with what the tests look at.
type message struct {
	From   string          `json:"-"`
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// session is what passed between one process of a client and the workbench.
type session []message

// sessions reads the recordings that are in a folder.
func sessions(t *testing.T, folder string) []session {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "session-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var found []session
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s session
		for line := range bytes.Lines(data) {
			var entry recorded
			var m message
			if json.Unmarshal(line, &entry) != nil || json.Unmarshal(entry.Message, &m) != nil {
				t.Fatalf("%s has what is no message: %s", file, line)
			}
			m.From = entry.From
			s = append(s, m)
		}
		found = append(found, s)
	}
	return found
}

// requests returns what the client asked, in order.
func (s session) requests() []message {
	var found []message
	for _, m := range s {
		if m.From == "client" && m.Method != "" && len(m.ID) > 0 {
			found = append(found, m)
		}
	}
	return found
}

// answer returns the workbench's to a request of the client.
func (s session) answer(to message) (message, bool) {
	for _, m := range s {
		if m.From == "workbench" && m.Method == "" && string(m.ID) == string(to.ID) {
			return m, true
		}
	}
	return message{}, false
}

// era returns the protocol revision that the session is in.
func (s session) era() string {
	const member = "io.modelcontextprotocol/protocolVersion"
	revision := "none"
	for _, request := range s.requests() {
		answer, ok := s.answer(request)
		if !ok || len(answer.Error) > 0 {
			continue
		}
		var begun struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		var params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		if request.Method == "initialize" && json.Unmarshal(answer.Result, &begun) == nil {
			return begun.ProtocolVersion
		}
		if json.Unmarshal(request.Params, &params) == nil && len(params.Meta[member]) > 0 {
			_ = json.Unmarshal(params.Meta[member], &revision) // a string, or it stays
		}
	}
	return revision
}

// listsAgain reports whether the client was told that tools changed that it had a list of, and
// whether it asked for them after that.
func (s session) listsAgain() (told, again bool) {
	asked, listed := "", false
	for _, m := range s {
		switch {
		case m.From == "client" && m.Method == "tools/list":
			asked, again = string(m.ID), told
		case m.From == "workbench" && m.Method == "" && string(m.ID) == asked:
			listed = true
		case m.From == "workbench" && m.Method == "notifications/tools/list_changed":
			told = told || listed
		}
	}
	return told, again
}
