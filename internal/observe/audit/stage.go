package audit

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// Limits of what is recorded of arguments.
const (
	maxKeys    = 32 // names of arguments in a line; the others are left out
	maxKeyText = 64 // bytes of the name of an argument; the rest is cut off
)

// Stage records calls. It implements call.Observer, call.Screener and call.Admitter, as the last admitter: what it records
// as admitted is sent.
type Stage struct {
	log  *Log
	last atomic.Uint64 // number of the last call

	mu   sync.Mutex
	open map[*call.Call]*openCall
}

// openCall is a call that has begun.
type openCall struct {
	id         string
	remote     string // address of the client; "" if there is none
	isRecorded bool   // that it was admitted, with its arguments
}

// NewStage makes the stage of a log.
func NewStage(l *Log) *Stage { return &Stage{log: l, open: make(map[*call.Call]*openCall)} }

// isRecorded reports whether requests of a method are recorded: all but those that only ask what there is.
func isRecorded(method string) bool {
	return !strings.HasSuffix(method, "/list") && method != protocol.MethodPing && method != protocol.MethodSetLevel
}

// CallBegan implements call.Observer.
func (s *Stage) CallBegan(c *call.Call, _ time.Time) {
	if !isRecorded(c.Method) {
		return
	}
	entry := &openCall{id: s.log.writer + "-" + strconv.FormatUint(s.last.Add(1), 10)}
	if client, ok := c.Client.(call.Remote); ok { // later, its request may have been answered, and come again from elsewhere
		entry.remote = client.RemoteAddress()
	}
	s.mu.Lock()
	s.open[c] = entry
	s.mu.Unlock()
}

// find returns a call that has begun; nil for one that is not recorded.
func (s *Stage) find(c *call.Call) *openCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[c]
}

// Screen implements call.Screener: while nothing can be written, no server is started for calls that will be refused.
func (s *Stage) Screen(c *call.Call) *call.Failure {
	if !s.log.options.Required || !isRecorded(c.Method) {
		return nil
	}
	if err := s.log.Failing(); err != nil {
		return s.log.unwritable(err)
	}
	return nil
}

// Admit implements call.Admitter.
func (s *Stage) Admit(c *call.Call) (verdict call.Verdict) {
	entry := s.find(c)
	if entry == nil {
		return verdict
	}
	f := s.log.describe(newFields(eventCall, "admitted").text("call", entry.id), c, entry)
	f = s.log.describeArguments(f, c)
	entry.isRecorded = true
	if !s.log.options.Required {
		_ = s.log.add(item{body: f}) // what is lost is counted
		return verdict
	}
	verdict.IsOwnWork = true
	verdict.Wait = func(ctx context.Context) *call.Failure {
		if err := s.log.addDurably(ctx, f); err != nil {
			return s.log.unwritable(err)
		}
		return nil
	}
	return verdict
}

// CallEnded implements call.Observer.
func (s *Stage) CallEnded(c *call.Call, end call.End) {
	s.mu.Lock()
	entry := s.open[c]
	delete(s.open, c)
	s.mu.Unlock()
	if entry == nil {
		return
	}
	event, outcome := eventCall, outcomes[end.Status]
	if end.Status == call.StatusRefused {
		event = eventRefused
	}
	f := s.log.describe(newFields(event, outcome).text("call", entry.id), c, entry)
	if !entry.isRecorded {
		f = s.log.describeArguments(f, c)
	}
	f = f.text("error.type", end.ErrorType).text("rule", end.Rule)
	if end.ResponseSize > 0 {
		f = f.number("result.bytes", int64(end.ResponseSize))
	}
	f = f.milliseconds("ms", end.Took.Microseconds())
	_ = s.log.add(item{body: f}) // what is lost is counted
}

// outcomes are the words for how calls end.
var outcomes = map[call.Status]string{
	call.StatusOK: "ok", call.StatusToolError: "tool_error", call.StatusRPCError: "error", call.StatusFailed: "failed",
	call.StatusRefused: "refused", call.StatusCancelled: "cancelled", call.StatusInputRequired: "input_required",
}

// describe adds who called what.
func (l *Log) describe(f fields, c *call.Call, from *openCall) fields {
	profile := c.Client.Profile()
	f = f.text("mcp.method.name", l.foreign(c.Method)).text("toolbox", c.Server.Toolbox()).text("server", c.Server.Name())
	switch c.Method {
	case protocol.MethodToolsCall:
		f = f.text("gen_ai.tool.name", l.foreign(c.Name)) // the server or, if it has no such tool, the client chose it
	case protocol.MethodPromptsGet:
		f = f.text("gen_ai.prompt.name", l.foreign(c.Name))
	}
	if c.Hash != (catalog.Hash{}) {
		f = f.hexadecimal("definition", c.Hash[:])
	}
	f = f.text("caller", profile.Caller()).text("issuer", profile.Issuer()).text("client", l.foreign(profile.Name()))
	f = f.address(from.remote)
	if c.Trace != nil {
		return f.hexadecimal("trace_id", c.Trace.ID[:])
	}
	return f.text("trace_id", traceOf(c.Meta))
}

// describeArguments adds what is recorded of arguments: their names, their size, and a hash that only who has the key can
// compare.
func (l *Log) describeArguments(f fields, c *call.Call) fields {
	raw := c.Arguments.Bytes()
	if len(raw) == 0 {
		return f
	}
	var names []string
	for name := range c.Arguments.Members() {
		if len(names) == maxKeys {
			names = append(names, "…")
			break
		}
		names = append(names, cut(l.foreign(string(name)), maxKeyText))
	}
	f = f.list("arguments.keys", names).number("arguments.bytes", int64(len(raw)))
	if known := l.keys.Load(); known != nil {
		sum := hmac.New(sha256.New, known.arguments)
		sum.Write(raw)
		f = f.hexadecimal("arguments.hmac", sum.Sum(nil))
	}
	return f
}

// traceOf returns the id of the trace that a client sent; "" if there is none.
func traceOf(meta wire.Payload) string {
	const idAt, idEnd = len("00-"), len("00-") + 32
	parent, _ := meta.Member("traceparent").Text()
	if len(parent) < idEnd+1 || parent[2] != '-' || parent[idEnd] != '-' {
		return ""
	}
	id := parent[idAt:idEnd]
	if strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return id
}

// Asked implements approval.Observer.
func (s *Stage) Asked(c *call.Call, w *approval.Waiting) {
	f := newFields(eventQuestion, "asked").text("call", s.id(c)).subject(s.log, w.Ref)
	_ = s.log.add(item{body: s.waiting(f, c, w)}) // what is lost is counted
}

// Answered implements approval.Observer.
func (s *Stage) Answered(c *call.Call, w *approval.Waiting, answer, by string) {
	f := newFields(eventAnswer, answer).text("by", by).text("call", s.id(c)).subject(s.log, w.Ref)
	f = s.waiting(f, c, w)
	_ = s.log.add(item{body: f.milliseconds("ms", time.Since(w.Since).Microseconds())}) // what is lost is counted
}

func (s *Stage) waiting(f fields, c *call.Call, w *approval.Waiting) fields {
	if c.Hash != (catalog.Hash{}) {
		f = f.hexadecimal("definition", c.Hash[:])
	}
	return f.text("caller", w.Caller).text("client", s.log.foreign(w.Client)).text("rule", w.Rule)
}

func (s *Stage) id(c *call.Call) string {
	if entry := s.find(c); entry != nil {
		return entry.id
	}
	return ""
}
