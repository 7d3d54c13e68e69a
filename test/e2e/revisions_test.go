package e2e

import (
	"encoding/json"
	"slices"
	"testing"
)

// This file is about the revisions of the protocol, on both sides.

// revisions are all that begin with an initialize request.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", newest}

func TestRevisionsOfClients(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "", box{"box", "", []server{fakeServer("")}})
			c := dial(t, b.mark, b.command())
			if got := agreed(t, c.initialize(revision)); got != revision {
				t.Errorf("asked for %s, got %s", revision, got)
			}
			useFake(t, c)
		})
	}
}

// TestRevisionThatNobodyKnows: the client is offered one that exists.
func TestRevisionThatNobodyKnows(t *testing.T) {
	t.Parallel()
	b := newBench(t, "", box{"box", "", []server{fakeServer("")}})
	c := dial(t, b.mark, b.command())
	if got := agreed(t, c.initialize("1999-12-31")); !slices.Contains(revisions, got) {
		t.Errorf("agreed on %q", got)
	}
	useFake(t, c)
}

func TestRevisionsOfServers(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "", box{"box", "", []server{fakeServer(revision)}})
			useFake(t, b.client(newest))
		})
	}
}

func agreed(t *testing.T, result []byte) string {
	t.Helper()
	var hello struct {
		ProtocolVersion string
		ServerInfo      struct{ Name, Version string }
		Capabilities    struct{ Tools map[string]any }
	}
	if err := json.Unmarshal(result, &hello); err != nil {
		t.Fatal(err)
	}
	if hello.ServerInfo.Name != "mcp-workbench" || hello.ServerInfo.Version == "" || hello.Capabilities.Tools == nil {
		t.Errorf("initialize was answered with %s", result)
	}
	return hello.ProtocolVersion
}

func useFake(t *testing.T, c *rawClient) {
	t.Helper()
	if answer := c.open("box"); answer.Connected != 1 {
		t.Errorf("open_toolbox answered %+v", answer)
	}
	if text := textOf(t, c.use("box", "fake", "text", "{}")); text != "plain" {
		t.Errorf("use_tool answered %q", text)
	}
	if err := c.close(); err != nil {
		t.Errorf("the workbench ended with %v", err)
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	c := newBench(t, "", box{"box", "", []server{fakeServer("")}}).client("2025-03-26")
	c.open("box")
	c.send(`[{"jsonrpc":"2.0","id":"a","method":"ping"},` +
		`{"jsonrpc":"2.0","method":"notifications/unknown"},` +
		`{"jsonrpc":"2.0","id":"b","method":"tools/list"},` +
		`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"use_tool","arguments":` + useArguments("box", "fake", "numbers", "{}") + `}},` +
		`{"jsonrpc":"2.0","id":"d","method":"no/such/method"}]`)
	line := c.next()
	var answers []message
	if err := json.Unmarshal(line, &answers); err != nil {
		t.Fatalf("no batch but %s: %v", line, err)
	}
	byID := make(map[string]message)
	for _, answer := range answers {
		byID[string(answer.ID)] = answer
	}
	if len(answers) != 4 || len(byID) != 4 {
		t.Fatalf("%d answers with %d ids, want 4: %s", len(answers), len(byID), line)
	}
	if got := string(byID[`"a"`].Result); got != "{}" {
		t.Errorf("ping: %s", got)
	}
	if byID[`"b"`].Result == nil || byID[`"d"`].Error == nil {
		t.Errorf("answers: %s", line)
	}
	for _, sample := range fidelitySamples() {
		if got := string(byID[`"c"`].Result); sample.name == "numbers" && got != sample.json {
			t.Errorf("use_tool: %s, want %s", got, sample.json)
		}
	}
}

// TestBatchOfNotifications gets no answer at all.
func TestBatchOfNotifications(t *testing.T) {
	t.Parallel()
	c := newBench(t, "", box{"box", "", []server{fakeServer("")}}).client("2025-03-26")
	c.send(`[{"jsonrpc":"2.0","method":"notifications/unknown"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}]`)
	c.notes = nil
	c.request("ping", "{}")
	if len(c.notes) > 0 {
		t.Errorf("answered with %s", c.notes)
	}
}

// TestNoBatchInLaterRevisions: one error, and the session goes on.
func TestNoBatchInLaterRevisions(t *testing.T) {
	for _, revision := range []string{"2025-06-18", newest} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			c := newBench(t, "", box{"box", "", []server{fakeServer("")}}).client(revision)
			c.send(`[{"jsonrpc":"2.0","id":1000,"method":"ping"}]`)
			m := c.nextMessage()
			var rpc struct{ Code int }
			if err := json.Unmarshal(m.Error, &rpc); err != nil || rpc.Code != -32600 {
				t.Errorf("answered with %+v", m)
			}
			useFake(t, c)
		})
	}
}
