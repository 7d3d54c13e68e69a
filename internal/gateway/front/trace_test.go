package front

import (
	"errors"
	"slices"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestAnsweredWith(t *testing.T) {
	failed := call.Answer{Status: call.StatusToolError, ErrorType: "tool_error"}
	text := func(result string) metatool.Answer { return metatool.Answer{Text: []byte(result)} }
	for _, test := range []struct {
		name, method string
		answer       metatool.Answer
		cancelled    bool
		want         call.Answer
	}{
		{"a result", "tools/list", text(`{"tools":[]}`), false, call.Answer{Status: call.StatusOK}},
		{"an error of a tool", "tools/call", text(`{"content":[],"isError":true}`), false, failed},
		{"the same word elsewhere", "tools/list", text(`{"isError":true}`), false, call.Answer{Status: call.StatusOK}},
		{"questions", "tools/call", text(`{"resultType":"input_required"}`), false, call.Answer{Status: call.StatusInputRequired}},
		{"an error", "tools/call", metatool.Answer{Error: &metatool.Error{Code: -32602}}, false, call.Answer{Status: call.StatusRPCError, ErrorType: "-32602"}},
		{"a server's error", "x", metatool.Answer{Outcome: call.Outcome{Error: wire.Raw([]byte(`{"code":-32002}`))}}, false, call.Answer{Status: call.StatusRPCError, ErrorType: "-32002"}},
		{"an error with a text as its code", "x", metatool.Answer{Outcome: call.Outcome{Error: wire.Raw([]byte(`{"code":"secret"}`))}}, false, call.Answer{Status: call.StatusRPCError, ErrorType: "0"}},
		{"a server's result", "tools/call", metatool.Answer{Outcome: call.Outcome{Result: wire.Raw([]byte(`{}`))}}, false, call.Answer{}},
		{"cancelled", "tools/call", metatool.Answer{Cancelled: errors.New("x")}, false, call.Answer{Status: call.StatusCancelled, ErrorType: "cancelled"}},
		{"answered too late", "tools/call", text(`{}`), true, call.Answer{Status: call.StatusCancelled, ErrorType: "cancelled"}},
	} {
		if got := answeredWith(test.method, test.answer, test.cancelled); got != test.want {
			t.Errorf("%s is %+v, want %+v", test.name, got, test.want)
		}
	}
}

// The requests of a batch over HTTP have the trace of its headers.
func TestOriginOfABatch(t *testing.T) {
	s := newSession(New(Options{}), identity{})
	message, err := wire.Parse(wire.NewFrame([]byte(`{"jsonrpc":"2.0","id":"7","method":"ping","params":{"_meta":{"traceparent":"p","tracestate":"s"}}}`)))
	if err != nil {
		t.Fatal(err)
	}
	to := &stream{trace: tracecontext.Carrier{Parent: "h"}}
	for _, path := range []replyPath{to, &batch{to: to}} {
		got := s.findOrigin(&message, path)
		if !got.OverHTTP || got.Header.Parent != "h" || got.Meta != (tracecontext.Carrier{Parent: "p", State: "s"}) || got.RequestID != `"7"` || got.Method != "ping" || got.Began.IsZero() {
			t.Errorf("the origin is %+v", got)
		}
	}
}

// A request that is refused because its id is in use has a span, too.
func TestRefusedRequestIsTraced(t *testing.T) {
	var traced []call.Answer
	s := newSession(New(Options{Answered: func(_ *call.Origin, answer call.Answer) { traced = append(traced, answer) }}), identity{})
	message, err := wire.Parse(wire.NewFrame([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`)))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.requests.add(idKey(message.ID), new(request)); !ok {
		t.Fatal("a request is not accepted")
	}
	to := new(answers)
	s.dispatch(&message, to)
	if want := []call.Answer{{Status: call.StatusRPCError, ErrorType: "-32600"}}; !slices.Equal(traced, want) || len(to.sent) != 1 {
		t.Errorf("traced is %+v, of %d answers", traced, len(to.sent))
	}
}
