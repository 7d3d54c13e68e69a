package metatool

import (
	"errors"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// invocation is a call of a server's tool on behalf of a request.
type invocation struct {
	Origin
	surface *Surface
	ref     toolbox.Ref
	native  bool // the tool was called by a name of its own, not through use_tool or read_tool
}

// callUsed forwards a call of use_tool or read_tool to the tool's server. Admit may be nil.
func (s *Surface) callUsed(request *Request, admit call.Admit) {
	s.start(request, s.newInvocation(request, request.ref, false), request.Arguments, nil, admit)
}

// callNamed forwards a call of a tool by a name of its own.
func (s *Surface) callNamed(request *Request, ref toolbox.Ref) {
	s.start(request, s.newInvocation(request, ref, true), nativeArguments(request.Arguments), request.Check, nil)
}

// newInvocation returns the invocation of a request. It reuses the memory of the request, which has one invocation at most.
func (s *Surface) newInvocation(request *Request, ref toolbox.Ref, native bool) *invocation {
	v := &request.Canceller.invocation
	v.Origin, v.surface, v.ref, v.native = request.Origin, s, ref, native
	return v
}

func (s *Surface) start(request *Request, v *invocation, arguments wire.Payload, check call.Check, admit call.Admit) {
	s.router.CallTool(s.visible, &call.Request{
		Ref: v.ref, Arguments: arguments, Meta: request.Meta, Extra: request.Extra, PassErrors: s.mode == config.Direct,
		Client: request.Session, Canceller: &request.Canceller.Canceller, Replier: v, Check: check, Admit: admit,
	})
}

// Reply implements call.Replier: it forwards the outcome, or describes the failure.
func (v *invocation) Reply(outcome call.Outcome, err error) {
	if err == nil {
		v.Answerer.Answer(Answer{Outcome: outcome, From: v.ref, limit: v.limit()})
		return
	}
	if stopped, ok := errors.AsType[*call.Stopped](err); ok {
		v.fail(stopped.Explain())
		return
	}
	failure, ok := errors.AsType[*call.Failure](err)
	if !ok {
		v.Answerer.Answer(Answer{Cancelled: err})
		return
	}
	if failure.NotFound && v.surface.mode == config.Direct {
		v.surface.answerUnknown(v.Origin)
		return
	}
	text := v.prefix(failure.NotFound) + failure.Message
	if failure.Hint != "" {
		text += "\n" + failure.Hint
	}
	if failure.Schema == nil {
		v.fail(text)
		return
	}
	v.fail(text, "The tool's input schema: "+string(failure.Schema))
}

// prefix is the beginning of a failure's text.
func (v *invocation) prefix(notFound bool) string {
	switch {
	case v.native && notFound:
		return "Error: "
	case v.native:
		return fmt.Sprintf("[%s/%s/%s] Error: ", v.ref.Toolbox, v.ref.Server, v.ref.Name)
	case notFound:
		return "Error executing tool: "
	default:
		return fmt.Sprintf("Error executing tool '%s' in server '%s' (toolbox '%s'): ", v.ref.Name, v.ref.Server, v.ref.Toolbox)
	}
}
