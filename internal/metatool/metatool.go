// Package metatool is what a client sees instead of hundreds of tools: open_toolbox,
// use_tool, and the tools that dynamic mode offers natively.
package metatool

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// Reply answers a tools/call. Exactly one of the first three is set. Close it once it
// has been sent.
type Reply struct {
	Text    []byte        // a result that we made
	Outcome *call.Outcome // a server's answer, to be passed on as it is
	Error   *Error        // a JSON-RPC error
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int
	Message string
}

// Close frees what the reply holds.
func (r *Reply) Close() {
	if r.Outcome != nil {
		r.Outcome.Close()
	}
}

// Call answers a tools/call. The error is the cause of ctx's end; no reply is due then.
func (s *Surface) Call(ctx context.Context, request Request) (Reply, error) {
	switch request.Name {
	case openName:
		return s.openToolbox(ctx, request)
	case useName:
		return s.useTool(ctx, request)
	case "workbench_" + openName:
		return failed(fmt.Sprintf(`The tool '%s' is now called '%s'. Call it with {"toolbox":"toolbox-name"}`, request.Name, openName)), nil
	case "workbench_" + useName:
		return failed(fmt.Sprintf("The tool '%s' is now called '%s'. %s", request.Name, useName, newForm)), nil
	}
	if s.dynamic {
		return s.callNative(ctx, request)
	}
	return Reply{Error: &Error{protocol.CodeInvalidParams, fmt.Sprintf(
		"Unknown tool: '%.200s'. The tools of a toolbox are called through %s: %s", request.Name, useName, exampleCall)}}, nil
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

// namesFirst is from which length on instructions begin with a line of all names:
// some clients cut them after 512 characters.
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
	if text.Len() > namesFirst {
		return "Toolboxes: " + strings.Join(names, ", ") + "\n\n" + text.String()
	}
	return text.String()
}

// failed makes an error result of one or more text blocks.
func failed(blocks ...string) Reply {
	return Reply{Text: textResult(true, blocks...)}
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
func (s *Surface) run(ctx context.Context, request call.Request, notFound, broken string) (Reply, error) {
	outcome, err := call.Run(ctx, s.fleet, request)
	if err == nil {
		return Reply{Outcome: outcome}, nil
	}
	failure, ok := errors.AsType[*call.Failure](err)
	if !ok {
		return Reply{}, err
	}
	text := broken + failure.Message
	if failure.NotFound {
		text = notFound + failure.Message
	}
	if failure.Hint != "" {
		text += "\n" + failure.Hint
	}
	if failure.Schema != nil {
		return failed(text, "The tool's input schema: "+string(failure.Schema)), nil
	}
	return failed(text), nil
}
