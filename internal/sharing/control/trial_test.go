//go:build unix

package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// odd is a result that an encoder would change.
const odd = `{ "content":[],  "n":1.50e0,"<&>":"\u00e9 <b>" }`

func (s *subject) Tools(q ToolQuery) (ToolPage, error) {
	return ToolPage{Offset: q.Offset, Total: q.Limit, Unknown: []string{q.Query, q.Toolbox, q.Server}}, nil
}

func (s *subject) Tool(box, server, tool string) (ToolDetail, error) {
	if tool != "read" {
		return ToolDetail{}, NoSuchTool(box, server, tool)
	}
	return ToolDetail{ToolRow: ToolRow{Toolbox: box, Server: server, Name: tool}, Definition: json.RawMessage(`{"name":"read"}`)}, nil
}

func (s *subject) Call(ctx context.Context, request CallRequest, emit func(CallEvent) error) error {
	switch request.Tool {
	case "refused":
		return errors.New("it is refused")
	case "forever":
		if err := emit(CallEvent{Progress: json.RawMessage(`{"progress":1}`)}); err != nil {
			return nil
		}
		<-ctx.Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answered = append(s.answered, "cancelled")
		s.changes <- struct{}{}
		return nil
	}
	for _, event := range []CallEvent{
		{Progress: json.RawMessage(`{"progress":1}`)},
		{Log: json.RawMessage(`{"data":"` + request.Caller + `"}`)},
		{Question: &CallQuestion{ID: "q", Method: "elicitation/create", Params: json.RawMessage("{\n\"message\":\"<?>\"}")}},
		{Withdrawn: "q"},
		{Result: json.RawMessage(odd), Took: 0.25},
		{Error: &CallError{Code: -32000, Message: string(request.Arguments), Data: json.RawMessage(`[1]`)}},
	} {
		if err := emit(event); err != nil {
			return nil
		}
	}
	return nil
}

func (s *subject) AnswerCall(question string, result []byte) error {
	if question != "q" {
		return NotWaiting(question)
	}
	s.answered = append(s.answered, string(result))
	return nil
}

func (s *subject) Toolboxes() Toolboxes { return Toolboxes{Start: 7} }

func TestToolRequests(t *testing.T) {
	_, client, _ := serve(t)
	page, err := client.Tools(t.Context(), ToolQuery{Query: "a&b", Toolbox: "t", Server: "s", Offset: 3, Limit: 20})
	if err != nil || fmt.Sprint(page.Offset, page.Total, page.Unknown) != "3 20 [a&b t s]" {
		t.Errorf("got %+v, %v", page, err)
	}
	if page, err := client.Tools(t.Context(), ToolQuery{}); err != nil || page.Total != maxPage {
		t.Errorf("without a limit %+v, %v", page, err)
	}
	for _, q := range []ToolQuery{{Limit: maxPage + 1}, {Offset: -1}} {
		if _, err := client.Tools(t.Context(), q); err == nil || !strings.Contains(err.Error(), "is a whole number") {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if detail, err := client.Tool(t.Context(), "t", "s", "read"); err != nil || detail.Name != "read" || string(detail.Definition) != `{"name":"read"}` {
		t.Errorf("got %+v, %v", detail, err)
	}
	_, err = client.Tool(t.Context(), "t", "s", "none")
	if known, ok := errors.AsType[*toolbox.Error](err); !ok || known.Code != toolbox.ToolNotFound {
		t.Errorf("an unknown tool: %v", err)
	}
	if all, err := client.Toolboxes(t.Context()); err != nil || all.Start != 7 {
		t.Errorf("got %+v, %v", all, err)
	}
}

func TestCallPassesEventsOnUnchanged(t *testing.T) {
	s, client, _ := serve(t)
	var lines []string
	err := client.Call(t.Context(), CallRequest{Toolbox: "t", Server: "s", Tool: "x", Caller: "token:a", Arguments: []byte(`{"a":1}`)}, func(e CallEvent) {
		lines = append(lines, string(e.appendLine(nil)))
	})
	want := []string{
		`{"progress":{"progress":1}}`, `{"log":{"data":"token:a"}}`, `{"question":{"id":"q","method":"elicitation/create","params":{"message":"<?>"}}}`,
		`{"withdrawn":"q"}`, `{"result":` + odd + `,"tookSeconds":0.25}`, `{"error":{"code":-32000,"message":"{\"a\":1}","data":[1]}}`,
	}
	if got := strings.Join(lines, ""); err != nil || got != strings.Join(want, "\n")+"\n" {
		t.Errorf("got %s, %v", got, err)
	}
	if err := client.Call(t.Context(), CallRequest{Tool: "refused"}, nil); err == nil || err.Error() != "it is refused" {
		t.Errorf("a refused call: %v", err)
	}
	if err := client.AnswerCall(t.Context(), "q", []byte(`{"action":"accept"}`)); err != nil || strings.Join(s.answered, "") != `{"action":"accept"}` {
		t.Errorf("answered %v, %v", s.answered, err)
	}
	if err := client.AnswerCall(t.Context(), "p", nil); err == nil {
		t.Error("an answer to no question is accepted")
	}
	if err := client.AnswerCall(t.Context(), "q", make([]byte, maxReply+1)); err == nil || !strings.Contains(err.Error(), "larger than 4 MiB") {
		t.Errorf("a huge answer: %v", err)
	}
}

func TestTheEndOfTheConnectionCancelsTheCall(t *testing.T) {
	s, client, _ := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_ = client.Call(ctx, CallRequest{Tool: "forever"}, func(CallEvent) { cancel() })
	<-s.changes
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Join(s.answered, "") != "cancelled" {
		t.Errorf("got %v", s.answered)
	}
}
