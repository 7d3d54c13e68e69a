package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// This file is the recording of what passes between a client and the workbench. A client
// starts the program that 'connect' wrote into its configuration; once that is done this
// test binary stands in its place, starts the program itself, and writes down each line
// before it passes it on.

const (
	tapName  = "mcp-workbench"
	realName = "mcp-workbench.real" // beside the tap
)

// Who sent a message.
const (
	fromClient    = "client"
	fromWorkbench = "workbench"
)

// recorded is a line of a recording.
type recorded struct {
	From    string          `json:"from"`
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
	err = mcptest.Tap(cmd, func(direction mcptest.Direction, line []byte) error {
		from := fromClient
		if direction == mcptest.Up {
			from = fromWorkbench
		}
		entry, err := json.Marshal(recorded{from, bytes.TrimSpace(line)})
		if err != nil { // not JSON: the reader of the recording shows it
			entry, _ = json.Marshal(map[string]string{"from": from, "text": string(line)})
		}
		_, err = file.Write(append(entry, '\n'))
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "tap:", err)
	}
	if cmd.ProcessState == nil { // it did not start
		return 1
	}
	return cmd.ProcessState.ExitCode()
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
		if m.From == fromClient && m.Method != "" && len(m.ID) > 0 {
			found = append(found, m)
		}
	}
	return found
}

// answer returns the workbench's to a request of the client.
func (s session) answer(to message) (message, bool) {
	for _, m := range s {
		if m.From == fromWorkbench && m.Method == "" && string(m.ID) == string(to.ID) {
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
		case m.From == fromClient && m.Method == "tools/list":
			asked, again = string(m.ID), told
		case m.From == fromWorkbench && m.Method == "" && string(m.ID) == asked:
			listed = true
		case m.From == fromWorkbench && m.Method == "notifications/tools/list_changed":
			told = told || listed
		}
	}
	return told, again
}
