package front

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/passthrough"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// request is one request in flight.
type request struct {
	session   *session
	to        replyPath
	id        []byte // as the client wrote it
	key       string // the id as it is compared
	idSpace   [24]byte
	canceller metatool.Canceller
	mayTask   bool // it is a call that the server may make a task
}

// handle answers the request, now or later; it does not block for long.
func (r *request) handle(message *wire.Message) {
	switch method := wire.Name(message.Method); {
	case method == protocol.MethodPing:
		r.finish(wire.Result(r.id, []byte("{}")))
	case method == protocol.MethodDiscover, method == protocol.MethodListen: // of the era that the client did not choose
		r.finish(wire.ErrorResponse(r.id, protocol.CodeMethodNotFound, fmt.Sprintf("Method not found: '%s'", method)))
	case !r.session.live.Load():
		r.finish(wire.ErrorResponse(r.id, protocol.CodeInvalidRequest,
			fmt.Sprintf("Invalid request: '%.200s' came before 'initialize'; begin the session with an initialize request", method)))
	case method == protocol.MethodToolsList:
		r.listTools(message)
	case method == protocol.MethodToolsCall:
		r.callTool(message)
	default:
		if problem := call.Ambiguous(method, message.Params); problem != "" {
			r.finish(wire.ErrorResponse(r.id, protocol.CodeInvalidParams, problem))
			return
		}
		r.session.passage.Load().Handle(passthrough.Request{
			Method: method, Params: message.Params, Session: r, Canceller: &r.canceller.Canceller, Replier: r,
		})
	}
}

func (r *request) callTool(message *wire.Message) {
	call, problem := metatool.ReadCall(message)
	if problem != "" {
		r.finish(wire.ErrorResponse(r.id, protocol.CodeInvalidParams, problem))
		return
	}
	r.mayTask = len(call.Extra) > 0 // with the member "task", which there is no need to look for
	call.Session, call.Canceller, call.Answerer = r, &r.canceller, r
	r.session.surface.Load().Call(&call)
}

// cancel implements cancellable.
func (r *request) cancel(cause error) { r.canceller.Cancel(cause) }

// Notify implements call.Client: what comes before the answer goes the same way.
func (r *request) Notify(method string, params []byte) error {
	return r.to.notify(wire.Notification(method, params))
}

// Ask implements call.Client: a question goes the way of the answer, too.
func (r *request) Ask(question *downstream.Question) {
	r.session.ask(question, func(message []byte) bool { return r.to.notify(message) == nil })
}

// Party implements call.Client.
func (r *request) Party() *fleet.Party { return r.session.Party() }

// IsOpen implements metatool.Session.
func (r *request) IsOpen(toolbox string) bool { return r.session.IsOpen(toolbox) }

// MarkOpen implements metatool.Session.
func (r *request) MarkOpen(toolbox string) (first bool) { return r.session.MarkOpen(toolbox) }

// HoldNews implements metatool.Session: what changes by a request is told on its own way, which a
// client over HTTP may have no other of.
func (r *request) HoldNews() (release func()) {
	s := r.session
	s.mu.Lock()
	s.holding++
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		s.holding--
		held := s.held
		s.held = nil
		s.mu.Unlock()
		for _, method := range held {
			_ = r.Notify(method, nil) // fails only with the session
		}
	}
}

// WaitUntil implements metatool.Session.
func (r *request) WaitUntil(limit time.Duration) time.Time { return r.session.WaitUntil(limit) }

// Links implements metatool.Session.
func (r *request) Links(ref toolbox.Ref, definition wire.Payload) []wire.Edit {
	return r.session.Links(ref, definition)
}

// Results implements metatool.Keeper.
func (r *request) Results() *metatool.Results { return r.session.results }

// Memory implements passage.Session.
func (r *request) Memory() *passthrough.Memory { return r.session.memory }

// Answer implements metatool.Answerer. What a tool's result says of other things is what
// the passage needs to know, and what it may know better.
func (r *request) Answer(answer metatool.Answer) {
	r.session.relate(r, &answer, r.mayTask)
	r.finish(encode(r.id, answer))
}

// relate has the passage know a tool's result, and its links lead where the client finds
// what they name.
func (s *session) relate(client passthrough.Session, answer *metatool.Answer, mayTask bool) {
	result := answer.Outcome.Result
	if result.IsAbsent() {
		return
	}
	way := s.passage.Load()
	if mayTask {
		way.Learn(client, answer.From, result)
	}
	if edits := way.Relink(client, answer.From, result); len(edits) > 0 {
		answer.Outcome.Result = wire.Raw(wire.AppendEdited(nil, result, edits...))
	}
}

// Reply implements call.Replier, for what took the passage.
func (r *request) Reply(outcome call.Outcome, cancelled error) {
	r.finish(encode(r.id, metatool.Answer{Outcome: outcome, Cancelled: cancelled}))
}

// finish ends the request with its answer, unless the client cancelled it.
func (r *request) finish(answer []byte) {
	s := r.session
	s.forget(r.key)
	if _, cancelled := errors.AsType[call.Cancelled](r.canceller.Cause()); cancelled {
		answer = nil
	}
	r.to.send(answer)
	s.requests.Done()
}

// encode wraps an answer into a message. What a server answered is passed on in the very
// buffer that it arrived in.
func encode(id []byte, answer metatool.Answer) []byte {
	suffix := []byte(wire.Suffix)
	answer = answer.Shortened()
	switch {
	case answer.Error != nil:
		return wire.ErrorResponse(id, answer.Error.Code, answer.Error.Message)
	case answer.Cancelled != nil:
		return wire.ErrorResponse(id, protocol.CodeInternalError, "Request cancelled: "+answer.Cancelled.Error())
	case answer.Text != nil:
		return wire.Result(id, answer.Text)
	case !answer.Outcome.Error.IsAbsent():
		return answer.Outcome.Error.Wrap(wire.AppendErrorPrefix(make([]byte, 0, 64), id), suffix)
	default:
		return answer.Outcome.Result.Wrap(wire.AppendResultPrefix(make([]byte, 0, 64), id), suffix)
	}
}

// capabilitiesTime is how long a client waits at most for servers that have to be
// connected to know what they can do; clients have patience of their own.
const capabilitiesTime = 10 * time.Second

// initialize agrees on the revision that the client asks for if we know it, and on the
// newest otherwise. What we can do may have to be found out first.
func (s *session) initialize(message wire.Message, to replyPath) {
	asked, _ := message.Params.Member("protocolVersion").Text()
	revision := protocol.Revision(asked)
	if !revision.Known() {
		revision = protocol.Newest()
	}
	// Copied: they outlive the message.
	id := bytes.Clone(message.ID.Bytes())
	mark, marked := message.Params.Member("_meta").Member(hops.Meta).Text()
	if err := s.server.admit(mark); err != nil {
		to.send(wire.ErrorResponse(id, protocol.CodeInvalidRequest, err.Error()))
		return
	}
	capabilities := bytes.Clone(message.Params.Member("capabilities").Bytes())
	s.mu.Lock()
	taken := !s.ending
	if taken {
		if marked {
			s.hops = strings.Clone(mark)
		}
		s.agree(revision, capabilities)
		s.requests.Add(1)
	}
	s.mu.Unlock()
	if !taken {
		to.send(nil)
		return
	}
	s.join(capabilities)
	if s.isUnmarked(message.Params.Member("clientInfo")) {
		to.send(wire.Result(id, s.initializeResult(revision, s.passage.Load().KnownCapabilities(s))))
		s.requests.Done()
		return
	}
	ctx, cancel := context.WithTimeout(s.life, capabilitiesTime)
	s.passage.Load().Capabilities(ctx, s, func(ours []byte) {
		cancel()
		to.send(wire.Result(id, s.initializeResult(revision, ours)))
		s.requests.Done()
	})
}

// isUnmarked reports that the client is a workbench that has not shown its mark yet. It does so when
// it knows that we are one, too; before that nothing may be started for it: it may be us.
func (s *session) isUnmarked(info wire.Payload) bool {
	name, _ := info.Member("name").Name()
	s.mu.Lock()
	defer s.mu.Unlock()
	return name == protocol.OwnName && s.hops == ""
}

// agree begins the session proper. It is called with mu held, or before anybody else has it.
func (s *session) agree(revision protocol.Revision, capabilities []byte) {
	s.revision, s.capabilities = revision, wire.Raw(capabilities)
	s.live.Store(true)
}

// initializeResult is the result of initialize.
func (s *session) initializeResult(revision protocol.Revision, capabilities []byte) []byte {
	result := wire.AppendMember([]byte("{"), "protocolVersion", string(revision))
	result = append(append(result, `,"capabilities":`...), capabilities...)
	result = append(result, `,"serverInfo":{`...)
	result = wire.AppendMember(result, "name", protocol.OwnName)
	result = wire.AppendMember(result, "title", "MCP Workbench")
	result = wire.AppendMember(result, "version", s.server.options.Version)
	result = append(result, '}')
	result = wire.AppendMember(result, "instructions", s.surface.Load().Instructions())
	return append(result, '}')
}

func (r *request) listTools(message *wire.Message) {
	if cursor := message.Params.Member("cursor"); cursor.Kind() == "string" {
		r.finish(wire.ErrorResponse(r.id, protocol.CodeInvalidParams, "Invalid params: unknown cursor; the list has one page"))
		return
	}
	r.session.surface.Load().List(metatool.Request{Origin: metatool.Origin{Session: r, Canceller: &r.canceller, Answerer: r}})
}
