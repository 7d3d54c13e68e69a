//go:build unix

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/journal"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
	"github.com/mcp-workbench/mcp-workbench/test/selfserver"
)

// patience bounds what a test waits for; it is never reached where nothing is wrong.
const patience = 20 * time.Second

// seeing serves a workbench with servers that do what the specs say, and returns a client of its control socket.
func seeing(t *testing.T, change func(*config.Config), specs ...string) (*App, *control.Client) {
	t.Helper()
	box := config.Toolbox{Name: "T", Description: "for tests", File: "f"}
	for i, spec := range specs {
		box.Servers = append(box.Servers, selfserver.New(t, t.TempDir(), fmt.Sprintf("S%d", i), spec))
	}
	cfg := &config.Config{Path: "f", MaxMessageSize: 8 << 20, Toolboxes: []config.Toolbox{box}, Discovery: config.Discovery{Search: true}, Secrets: []string{"hunter2hunter2"}}
	if change != nil {
		change(cfg)
	}
	a, err := New(Options{Config: cfg, Version: "1", StateDir: t.TempDir(), Reachable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	folder, err := os.MkdirTemp("/tmp", "seeing") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	dir, err := runtimedir.Open(func(string) string { return folder }, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	inspector := Inspector{App: a, Serving: "stdio", Stop: cancel, Log: new(journal.Journal)}
	go func() { served <- control.Serve(ctx, dir, inspector) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	limit, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for limit.Err() == nil {
		if found, _ := control.Find(limit, dir); len(found) == 1 {
			return a, found[0]
		}
	}
	t.Fatal("the workbench does not answer")
	return nil, nil
}

// know connects the servers once.
func know(t *testing.T, a *App) {
	t.Helper()
	for _, known := range a.Known(t.Context(), KnownOptions{}) {
		if known.Err != nil {
			t.Fatal(known.Err)
		}
	}
}

const mailSpec = `{"instructions":"Mail of the team","tools":[
 {"name":"send_email","title":"Send","description":"Send an email. More text with hunter2hunter2.","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}},"annotations":{"destructiveHint":false}},
 {"name":"read_email","description":"Read an email","inputSchema":{},"annotations":{"readOnlyHint":true}},
 {"name":"drop_mailbox","description":"Remove a mailbox","inputSchema":{}}],
 "calls":{"read_email":[{"result":{ "content" : [ ], "n":1.50 }}],
  "send_email":[{"progress":{"progress":1,"total":2,"message":"half"}},{"send":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"sending"}}},
   {"ask":"elicitation/create","with":{"message":"To whom?","requestedSchema":{"type":"object","properties":{"to":{"type":"string"}}}}},{"result":{"content":[]}}],
  "drop_mailbox":[{"progress":{"progress":1,"message":"under way"}},{"wait":"cancelled"},{"answered":true}]}}`

const weatherSpec = `{"tools":[{"name":"forecast","description":"Temperature","inputSchema":{}}]}`

func denyDrop(cfg *config.Config) {
	cfg.Policy.Files = []config.PolicyFile{{Path: "f", Default: config.Allow, Rules: []config.PolicyRule{
		{Tools: []toolbox.Pattern{"T/S0/drop_*"}, Then: config.Deny, Because: "too dangerous", File: "f", Line: 3},
	}}}
}

func TestToolsListsAllThatIsKnown(t *testing.T) {
	a, client := seeing(t, denyDrop, mailSpec, weatherSpec)
	page, err := client.Tools(t.Context(), control.ToolQuery{})
	if err != nil || page.Total != 0 || strings.Join(page.Unknown, " ") != "T/S0 T/S1" {
		t.Fatalf("before a connection: %+v, %v", page, err)
	}
	know(t, a)
	page, err = client.Tools(t.Context(), control.ToolQuery{})
	if err != nil || page.Total != 4 || len(page.Tools) != 4 || len(page.Unknown) != 0 {
		t.Fatalf("got %+v, %v", page, err)
	}
	send, read, drop := page.Tools[0], page.Tools[1], page.Tools[2]
	if send.Name != "send_email" || send.Title != "Send" || strings.Contains(send.Line, "hunter2") || send.ReadOnly || send.Destructive || send.Tokens == 0 {
		t.Errorf("got %+v", send)
	}
	if !read.ReadOnly || read.Destructive || read.Withheld != "" {
		t.Errorf("got %+v", read)
	}
	if !drop.Destructive || !strings.Contains(drop.Withheld, "too dangerous") {
		t.Errorf("a denied tool: %+v", drop)
	}
	page, err = client.Tools(t.Context(), control.ToolQuery{Offset: 2, Limit: 2})
	if err != nil || page.Total != 4 || len(page.Tools) != 2 || page.Tools[0].Name != "drop_mailbox" || page.Tools[1].Name != "forecast" {
		t.Errorf("a page: %+v, %v", page, err)
	}
	page, err = client.Tools(t.Context(), control.ToolQuery{Server: "S1"})
	if err != nil || page.Total != 1 || page.Tools[0].Name != "forecast" {
		t.Errorf("one server: %+v, %v", page, err)
	}
}

func TestToolsSearchesAsFindToolsDoes(t *testing.T) {
	a, client := seeing(t, denyDrop, mailSpec, weatherSpec)
	know(t, a)
	page, err := client.Tools(t.Context(), control.ToolQuery{Query: "send some mail"})
	if err != nil || page.Total < 2 || page.Tools[0].Name != "send_email" {
		t.Fatalf("got %+v, %v", page, err)
	}
	first := page.Tools[0]
	if first.Score <= 0 || len(first.Reasons) != 2 || first.Reasons[0].Word != "send" || first.Reasons[0].Field != "name" || first.Reasons[1].How != "synonym" {
		t.Errorf("got %+v", first)
	}
	for _, tool := range page.Tools {
		if tool.Name == "drop_mailbox" {
			t.Error("a denied tool is found")
		}
	}
	second, err := client.Tools(t.Context(), control.ToolQuery{Query: "send some mail", Offset: 1, Limit: 1})
	if err != nil || second.Total != page.Total || len(second.Tools) != 1 || second.Tools[0].Name != page.Tools[1].Name {
		t.Errorf("the second page: %+v, %v", second, err)
	}
	if none, err := client.Tools(t.Context(), control.ToolQuery{Query: "mail", Offset: 99}); err != nil || len(none.Tools) != 0 {
		t.Errorf("behind the end: %+v, %v", none, err)
	}
}

func TestToolShowsItsDefinition(t *testing.T) {
	a, client := seeing(t, denyDrop, mailSpec)
	know(t, a)
	if _, err := client.Tool(t.Context(), "T", "S0", "none"); err == nil {
		t.Error("an unknown tool is shown")
	}
	if _, err := client.Tool(t.Context(), "T", "S9", "send_email"); err == nil {
		t.Error("the tool of an unknown server is shown")
	}
	detail, err := client.Tool(t.Context(), "T", "S0", "send_email")
	if err != nil || detail.Signature != "send_email(to?: string)" || strings.Contains(string(detail.Definition), "hunter2") || !json.Valid(detail.Definition) {
		t.Errorf("got %+v, %v", detail, err)
	}
	try(t, client, "read_email", `{}`, nil)
	if detail, err = client.Tool(t.Context(), "T", "S0", "read_email"); err != nil || detail.Counts.TotalCalls != 1 {
		t.Errorf("got %+v, %v", detail, err)
	}
}

// try tries a tool, and returns the last event.
func try(t *testing.T, client *control.Client, tool, arguments string, handle func(control.CallEvent)) (last control.CallEvent) {
	t.Helper()
	err := client.Call(t.Context(), control.CallRequest{Toolbox: "T", Server: "S0", Tool: tool, Caller: "terminal", Arguments: []byte(arguments)}, func(e control.CallEvent) {
		last = e
		if handle != nil {
			handle(e)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return last
}

func TestCallTakesTheWayOfEveryCall(t *testing.T) {
	a, client := seeing(t, denyDrop, mailSpec)
	last := try(t, client, "read_email", " {\n} ", nil)
	if string(last.Result) != `{ "content" : [ ], "n":1.50 }` || last.Took <= 0 {
		t.Errorf("got %s in %v, %+v", last.Result, last.Took, last.Error)
	}
	records, _, _ := a.history.Read(0)
	if len(records) != 1 || records[0].Client != "mcp-workbench ui" || records[0].Caller != "terminal" || records[0].Tool != "read_email" || records[0].Outcome != "ok" {
		t.Errorf("the history has %+v", records)
	}
	if last = try(t, client, "drop_mailbox", "", nil); !strings.Contains(string(last.Result), "too dangerous") {
		t.Errorf("a denied call: %s, %+v", last.Result, last.Error)
	}
	for _, wrong := range []control.CallRequest{
		{Toolbox: "T", Server: "S0", Tool: "x", Arguments: []byte(`[1]`)},
		{Toolbox: "T", Server: "S9", Tool: "x"},
		{Toolbox: "T", Server: "S0", Tool: "x", Caller: "token:none"},
		{Toolbox: "T", Server: "S0", Tool: "x", Caller: "stdio"},
	} {
		if err := client.Call(t.Context(), wrong, nil); err == nil {
			t.Errorf("%+v is not refused", wrong)
		}
	}
}

func TestCallPassesQuestionsOn(t *testing.T) {
	_, client := seeing(t, nil, mailSpec)
	var seen []string
	last := try(t, client, "send_email", `{}`, func(e control.CallEvent) {
		switch {
		case strings.Contains(string(e.Progress), "half"):
			seen = append(seen, "progress")
		case e.Log != nil:
			seen = append(seen, "log")
		case e.Question != nil:
			seen = append(seen, "question")
			if err := client.AnswerCall(t.Context(), e.Question.ID, []byte(`{"action":"perhaps"}`)); err == nil {
				t.Error("a strange answer is accepted")
			}
			if err := client.AnswerCall(t.Context(), e.Question.ID, []byte(`{"action":"accept","content":{"to":"me"}}`)); err != nil {
				t.Error(err)
			}
			err := client.AnswerCall(t.Context(), e.Question.ID, []byte(`{"action":"decline"}`))
			if known, ok := errors.AsType[*toolbox.Error](err); !ok || known.Code != toolbox.QuestionNotFound {
				t.Errorf("a second answer: %v", err)
			}
		}
	})
	if last.Result == nil || strings.Join(seen, " ") != "progress log question" {
		t.Errorf("saw %v, then %s, %+v", seen, last.Result, last.Error)
	}
}

func TestLeavingCancelsTheCall(t *testing.T) {
	a, client := seeing(t, nil, mailSpec)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_ = client.Call(ctx, control.CallRequest{Toolbox: "T", Server: "S0", Tool: "drop_mailbox"}, func(e control.CallEvent) {
		if strings.Contains(string(e.Progress), "under way") {
			cancel()
		}
	})
	limit, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for {
		records, _, more := a.history.Read(0)
		if len(records) == 1 {
			if records[0].Outcome != "cancelled" {
				t.Errorf("it ended as %+v", records[0])
			}
			return
		}
		select {
		case <-more:
		case <-limit.Done():
			t.Fatal("the call was not cancelled")
		}
	}
}

func TestOnlySomeCallsAreTriedAtOnce(t *testing.T) {
	var all trials
	for range maxTrials {
		if err := all.begin(); err != nil {
			t.Fatal(err)
		}
	}
	if err := all.begin(); err == nil {
		t.Error("there is no limit")
	}
	all.end()
	if err := all.begin(); err != nil {
		t.Error(err)
	}
}

func TestToolboxesCost(t *testing.T) {
	a, client := seeing(t, func(cfg *config.Config) {
		cfg.Toolboxes = append(cfg.Toolboxes, config.Toolbox{Name: "off", Servers: []config.Server{{Name: "x", Disabled: true}}})
	}, mailSpec, weatherSpec)
	know(t, a)
	all, err := client.Toolboxes(t.Context())
	if err != nil || len(all.Toolboxes) != 2 || all.Start == 0 || all.Everything == 0 || len(all.Clients) != 0 {
		t.Fatalf("got %+v, %v", all, err)
	}
	box := all.Toolboxes[0]
	if box.Name != "T" || box.Tools != 4 || box.Full <= box.Brief || box.Brief == 0 || len(box.Servers) != 2 || len(box.Unknown) != 0 || box.Disabled {
		t.Errorf("got %+v", box)
	}
	if off := all.Toolboxes[1]; !off.Disabled || off.Full != 0 {
		t.Errorf("got %+v", off)
	}
	// A client that has opened it pays for it.
	try(t, client, "send_email", `{}`, func(e control.CallEvent) {
		if e.Question == nil {
			return
		}
		all, err := client.Toolboxes(t.Context())
		if err != nil || len(all.Clients) != 1 || all.Clients[0].Tokens != all.Start+all.Toolboxes[0].Full || strings.Join(all.Clients[0].Opened, "") != "T" {
			t.Errorf("got %+v, %v", all.Clients, err)
		}
		if err := client.AnswerCall(t.Context(), e.Question.ID, []byte(`{"action":"cancel"}`)); err != nil {
			t.Error(err)
		}
	})
}
