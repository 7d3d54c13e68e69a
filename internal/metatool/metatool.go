// Package metatool is what a client sees instead of hundreds of tools: open_toolbox,
// use_tool, and the tools that dynamic mode offers natively.
package metatool

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/call"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Session is the client session that a request came from.
type Session interface {
	call.Client
	// IsOpen reports whether the client opened the toolbox.
	IsOpen(toolbox string) bool
	// MarkOpen remembers that it did, and how many servers were there; changed says
	// that this is new.
	MarkOpen(toolbox string, servers int) (changed bool)
}

// Surface is everything that clients can see and call.
type Surface struct {
	fleet   *fleet.Fleet
	dynamic bool
	open    []byte // the definition of open_toolbox
	names   nativeNames
	notice  string // if set, all that clients get: see Withhold
}

// New makes the surface of a fleet; dynamic offers the tools of open toolboxes natively.
func New(servers *fleet.Fleet, dynamic bool) *Surface {
	return &Surface{fleet: servers, dynamic: dynamic, open: openDefinition(servers)}
}

// Withhold makes the notice the instructions and the answer of every call. It is for a
// configuration that may not be used, and to be called before the first client comes.
func (s *Surface) Withhold(notice string) { s.notice = notice }

// Request is a tools/call as it came from the client.
type Request struct {
	Name      string
	Arguments wire.Payload
	Meta      wire.Payload
	Session   Session
	Ticket    *call.Ticket // cancels the request
	Answerer  Answerer
}

// Answerer gets the answer to a request.
type Answerer interface {
	// Answer is called exactly once, perhaps before Call returns. It takes the buffer that
	// the answer lies in.
	Answer(answer Answer)
}

// Answer is the answer to a tools/call. Exactly one of its fields is set.
type Answer struct {
	Text      []byte       // a result that we made
	Outcome   call.Outcome // a server's answer, to be passed on as it is
	Error     *Error       // a JSON-RPC error
	Cancelled error        // why the request was cancelled
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int
	Message string
}

// Call answers a tools/call. It does not block.
func (s *Surface) Call(request Request) {
	if s.notice != "" {
		request.fail(s.notice)
		return
	}
	switch request.Name {
	case openName:
		s.openToolbox(request)
	case useName:
		s.useTool(request)
	case "workbench_" + openName:
		request.fail(fmt.Sprintf(`The tool '%s' is now called '%s'. Call it with {"toolbox":"toolbox-name"}`, request.Name, openName))
	case "workbench_" + useName:
		request.fail(fmt.Sprintf("The tool '%s' is now called '%s'. %s", request.Name, useName, newForm))
	default:
		if s.dynamic {
			s.callNative(request)
			return
		}
		request.Answerer.Answer(Answer{Error: &Error{protocol.CodeInvalidParams, fmt.Sprintf(
			"Unknown tool: '%.200s'. The tools of a toolbox are called through %s: %s", request.Name, useName, exampleCall)}})
	}
}

// List returns the result of tools/list for a client.
func (s *Surface) List(session Session) []byte {
	result := append([]byte(`{"tools":[`), s.open...)
	result = append(result, ',')
	result = append(result, useDefinition...)
	if s.dynamic {
		result = s.appendNative(result, session)
	}
	return append(result, "]}"...)
}

// exampleCall is how arguments of use_tool look.
const exampleCall = `{"tool":{"toolbox":"toolbox-name","server":"server-name","name":"tool-name"},"arguments":{}}`

// namesFirst is from how many characters on instructions begin with a line of all
// names: some clients cut them after 512.
const namesFirst = 500

// Instructions tell a client, before anything is opened, which toolboxes there are.
func (s *Surface) Instructions() string {
	if s.notice != "" {
		return s.notice
	}
	boxes := s.fleet.Toolboxes()
	if len(boxes) == 0 {
		return "No toolboxes configured.\n\n" +
			`Add one to workbench-config.json, for example: {"toolboxes":{"dev":{"description":"Development tools","mcpServers":{"files":{"builtin":"files"}}}}}`
	}
	var text strings.Builder
	text.WriteString("Available Toolboxes:\n\n")
	names := make([]string, len(boxes))
	for i, box := range boxes {
		names[i] = box.Name
		description := box.Description
		if description == "" {
			description = "No description provided"
		}
		fmt.Fprintf(&text, "%s (%d servers)\n  Description: %s\n\n", box.Name, len(box.Servers), description)
	}
	text.WriteString("Use open_toolbox to connect to a toolbox, then use_tool to invoke tools.\n\n")
	text.WriteString("Example tool invocation:\n" + exampleCall)
	if utf8.RuneCountInString(text.String()) > namesFirst {
		return "Toolboxes: " + strings.Join(names, ", ") + "\n\n" + text.String()
	}
	return text.String()
}

// fail answers with an error result of one or more text blocks.
func (r *Request) fail(blocks ...string) {
	r.Answerer.Answer(Answer{Text: textResult(true, blocks...)})
}

func textResult(isError bool, blocks ...string) []byte {
	result := []byte(`{"content":[`)
	for i, text := range blocks {
		if i > 0 {
			result = append(result, ',')
		}
		result = append(result, `{"type":"text","text":`...)
		result = append(wire.AppendString(result, text), '}')
	}
	result = append(result, ']')
	if isError {
		result = append(result, `,"isError":true`...)
	}
	return append(result, '}')
}

// invocation is a call of a server's tool on behalf of a request.
type invocation struct {
	request Request
	ref     toolbox.Ref
	native  bool // the tool was called by its native name
}

// run takes a call to its server.
func (s *Surface) run(v *invocation, arguments wire.Payload) {
	call.Start(s.fleet, call.Request{
		Ref: v.ref, Arguments: arguments, Meta: v.request.Meta,
		Client: v.request.Session, Ticket: v.request.Ticket, Replier: v,
	})
}

// Reply implements call.Replier: it passes the outcome on, or phrases the failure.
func (v *invocation) Reply(outcome call.Outcome, err error) {
	if err == nil {
		v.request.Answerer.Answer(Answer{Outcome: outcome})
		return
	}
	failure, ok := errors.AsType[*call.Failure](err)
	if !ok {
		v.request.Answerer.Answer(Answer{Cancelled: err})
		return
	}
	text := v.prefix(failure.NotFound) + failure.Message
	if failure.Hint != "" {
		text += "\n" + failure.Hint
	}
	if failure.Schema == nil {
		v.request.fail(text)
		return
	}
	v.request.fail(text, "The tool's input schema: "+string(failure.Schema))
}

// prefix begins the text of a failure: of one that names nothing, or of any other.
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
