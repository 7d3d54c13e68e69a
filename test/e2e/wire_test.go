package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// This file is about what the wire shows and SDKs hide: the order of messages, tokens,
// and cancellations.

func TestProgressComesBeforeTheResult(t *testing.T) {
	t.Parallel()
	b := newBench(t, "", box{"all", "", []server{everythingServer(t)}})
	c := b.client(newest)
	c.open("all")
	c.notes = nil
	id := c.begin("tools/call", fmt.Sprintf(`{"name":"use_tool","arguments":%s,"_meta":{"progressToken":"tök\u0065n"}}`,
		useArguments("all", "everything", "trigger-long-running-operation", `{"duration":0.3,"steps":3}`)))
	c.await(id)
	if len(c.notes) != 3 {
		t.Fatalf("%d messages came before the result: %s", len(c.notes), c.notes)
	}
	for i, note := range c.notes {
		// The server's own parameters, with the client's token as it was written.
		want := fmt.Sprintf(`{"progress":%d,"total":3,"progressToken":"tök\u0065n"}`, i+1)
		if note.Method != "notifications/progress" || string(note.Params) != want {
			t.Errorf("message %d: %s %s, want %s", i, note.Method, note.Params, want)
		}
	}
}

func TestNoProgressWithoutAToken(t *testing.T) {
	t.Parallel()
	b := newBench(t, "", box{"all", "", []server{everythingServer(t)}})
	c := b.client(newest)
	c.open("all")
	c.notes = nil
	c.use("all", "everything", "trigger-long-running-operation", `{"duration":0.2,"steps":2}`)
	if len(c.notes) > 0 {
		t.Errorf("messages that nobody asked for: %s", c.notes)
	}
}

func TestCancelReachesTheServer(t *testing.T) {
	t.Parallel()
	p := newTap(t)
	b := newBench(t, "", box{"all", "", []server{p.around(everythingServer(t))}})
	c := b.client(newest)
	c.open("all")
	id := c.begin("tools/call", fmt.Sprintf(`{"name":"use_tool","arguments":%s,"_meta":{"progressToken":7}}`,
		useArguments("all", "everything", "trigger-long-running-operation", `{"duration":20,"steps":200}`)))
	call := p.findCall()
	if m := c.nextMessage(); m.Method != "notifications/progress" {
		t.Fatalf("the first message is %+v", m)
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"no \u0041nswer is needed"}}`, id))
	if params := string(p.findCancel(call)); !strings.Contains(params, `"reason":"no \u0041nswer is needed"`) {
		t.Errorf("the server was told %s", params)
	}
	// A request that was cancelled gets no answer, and no more progress once a later
	// one is answered.
	c.notes = nil
	c.use("all", "everything", "echo", `{"message":"after"}`)
	c.notes = nil
	c.use("all", "everything", "echo", `{"message":"and again"}`)
	if len(c.notes) > 0 {
		t.Errorf("messages about a cancelled request: %s", c.notes)
	}
}

func TestProgressTokensDoNotMix(t *testing.T) {
	t.Parallel()
	b := newBench(t, "", box{"all", "", []server{everythingServer(t)}})
	c := b.client(newest)
	c.open("all")
	c.notes = nil
	var ids []int
	for token := range 3 {
		ids = append(ids, c.begin("tools/call", fmt.Sprintf(`{"name":"use_tool","arguments":%s,"_meta":{"progressToken":%d}}`,
			useArguments("all", "everything", "trigger-long-running-operation", fmt.Sprintf(`{"duration":0.3,"steps":%d}`, token+2)), token)))
	}
	seen := make(map[int]int)
	for answers := 0; answers < len(ids); {
		m := c.nextMessage()
		if m.Method == "" {
			answers++
			continue
		}
		var params struct{ ProgressToken, Total int }
		if err := json.Unmarshal(m.Params, &params); err != nil {
			t.Fatal(err)
		}
		if params.Total != params.ProgressToken+2 {
			t.Errorf("progress of another call: %s", m.Params)
		}
		seen[params.ProgressToken]++
	}
	for token := range ids {
		if seen[token] != token+2 {
			t.Errorf("call %d had %d progress messages, want %d", token, seen[token], token+2)
		}
	}
}

func TestListChangedComesBeforeTheAnswerOfOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t, "dynamic", box{"all", "", []server{fakeServer("")}})
	c := b.client(newest)
	c.notes = nil
	c.open("all")
	if len(c.notes) != 1 || c.notes[0].Method != "notifications/tools/list_changed" {
		t.Errorf("before the answer came %s", c.notes)
	}
}

// TestIDsComeBackAsTheyWereWritten: clients compare ids in ways of their own.
func TestIDsComeBackAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	c := newBench(t, "", box{"box", "", []server{fakeServer("")}}).client(newest)
	c.open("box")
	for _, id := range []string{`"\u0041b\/é"`, `""`, `1e3`, `-1.0`, `0`, `123456789012345678901234567890`} {
		for _, request := range []string{
			`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`,
			`{"params":{"arguments":` + useArguments("box", "fake", "text", "{}") + `,"name":"use_tool"},"method":"tools/call","id":` + id + `,"jsonrpc":"2.0"}`,
			`{"jsonrpc":"2.0","id":` + id + `,"method":"no/such/method"}`,
		} {
			c.send(request)
			if m := c.nextMessage(); string(m.ID) != id {
				t.Errorf("%s was answered with id %s", request, m.ID)
			}
		}
	}
}
