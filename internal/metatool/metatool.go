// Package metatool is what a client sees instead of hundreds of tools: open_toolbox,
// use_tool, and the tools that dynamic mode offers natively.
package metatool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/call"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
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
}

// New makes the surface of a fleet; dynamic offers the tools of open toolboxes natively.
func New(servers *fleet.Fleet, dynamic bool) *Surface {
	return &Surface{fleet: servers, dynamic: dynamic, open: openDefinition(servers)}
}

// Request is a tools/call as it came from the client.
type Request struct {
	Name      string
	Arguments wire.Payload
	Meta      wire.Payload
	Session   Session
}

// Answer is the answer to a tools/call. Exactly one of its fields is set.
type Answer struct {
	Text    []byte        // a result that we made
	Outcome *call.Outcome // a server's answer, to be passed on as it is
	Error   *Error        // a JSON-RPC error
	Ended   error         // the cause of the context's end: the request was given up
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int
	Message string
}

// Reply gets the answer, exactly once, perhaps before Call returns. It takes the buffer
// that the answer lies in.
type Reply func(Answer)

// Call answers a tools/call. It does not block; its work ends when ctx does.
func (s *Surface) Call(ctx context.Context, request Request, reply Reply) {
	switch request.Name {
	case openName:
		s.openToolbox(ctx, request, reply)
	case useName:
		s.useTool(ctx, request, reply)
	case "workbench_" + openName:
		reply(failed(fmt.Sprintf(`The tool '%s' is now called '%s'. Call it with {"toolbox":"toolbox-name"}`, request.Name, openName)))
	case "workbench_" + useName:
		reply(failed(fmt.Sprintf("The tool '%s' is now called '%s'. %s", request.Name, useName, newForm)))
	default:
		if s.dynamic {
			s.callNative(ctx, request, reply)
			return
		}
		reply(Answer{Error: &Error{protocol.CodeInvalidParams, fmt.Sprintf(
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

// failed makes an error result of one or more text blocks.
func failed(blocks ...string) Answer {
	return Answer{Text: textResult(true, blocks...)}
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

// run takes a call to its server and phrases its failure: notFound is put before the
// message of one that names nothing, and broken before that of any other.
func (s *Surface) run(ctx context.Context, request call.Request, reply Reply, notFound, broken func() string) {
	call.Start(ctx, s.fleet, request, func(outcome call.Outcome, err error) {
		failure, isFailure := errors.AsType[*call.Failure](err)
		switch {
		case err == nil:
			reply(Answer{Outcome: &outcome})
		case !isFailure:
			reply(Answer{Ended: err})
		case failure.NotFound:
			reply(failed(blocks(notFound(), failure)...))
		default:
			reply(failed(blocks(broken(), failure)...))
		}
	})
}

func blocks(prefix string, failure *call.Failure) []string {
	text := prefix + failure.Message
	if failure.Hint != "" {
		text += "\n" + failure.Hint
	}
	if failure.Schema == nil {
		return []string{text}
	}
	return []string{text, "The tool's input schema: " + string(failure.Schema)}
}
