// Package call sends requests of clients to servers: it resolves the server and the tool, passes the request through the
// screen, revise, admit and observe stages, translates between the protocol eras, and shapes the response.
package call

import (
	"bytes"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/era"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Client is the client that sent a request.
type Client interface {
	// Notify sends a notification to the client; params are raw JSON, or nil, and are not used
	// after it returns. It blocks while the client's queue is full, until its session ends.
	Notify(method string, params []byte) error
	// TryNotify is Notify for what may be lost: it does not block, and drops a notification that the client has no room for.
	TryNotify(method string, params []byte)
	// Ask sends a request of the server to the client. It does not block.
	Ask(question *downstream.Question)
	// Profile identifies the client to the fleet; nil for a client that declares nothing.
	Profile() *fleet.ClientProfile
}

// Remote is a Client that knows the address which its request came from.
type Remote interface {
	// RemoteAddress returns an address with its port; "" if the request did not come over a network.
	RemoteAddress() string
}

// Request is one call of a tool.
type Request struct {
	Ref       toolbox.Ref
	Arguments wire.Payload // an object; absent means {}. The call takes over its buffer
	Meta      wire.Payload // the request's _meta; may be absent
	Extra     []byte       // raw text of further members of the params; may be nil
	Client    Client
	Canceller *Canceller // cancels the call
	Replier   Replier

	// PassErrors: JSON-RPC errors of the server are passed on instead of being turned into error results.
	PassErrors bool
	// Check validates the arguments; may be nil.
	Check Check
	// Admit decides about the tool's definition, before the stages; may be nil.
	Admit Admit
}

// Check validates the arguments of a call against the tool's input schema. If it returns an error object,
// that is the response, and the tool is not called.
type Check func(inputSchema, arguments wire.Payload) (rpcError wire.Payload)

// Admit decides by the definition of a tool whether it may be called in this way. A refusal is the response.
type Admit func(ref toolbox.Ref, tool catalog.Tool) (refusal *Failure)

// Outcome is the response of a server: a result, or an error that is passed on to the client.
type Outcome struct {
	Result wire.Payload
	Error  wire.Payload // the error object; absent if there is a result
}

// Replier receives the response to a request.
type Replier interface {
	// Reply is called exactly once: with the outcome, or with an error that is a *Failure
	// or the cause of the cancellation. It may be called before the router returns, or later by
	// the goroutine that reads the server's messages.
	Reply(outcome Outcome, err error)
}

// Failure is a request without a response that could be passed on, described for people.
type Failure struct {
	// NotFound: the toolbox, server or tool does not exist.
	NotFound bool
	Message  string // phrased to follow "Error executing tool 'x': ", such as "it is denied by …"
	Hint     string // what to do next; may be empty
	// Schema is the tool's input schema, if the server rejected the arguments.
	Schema []byte
	// Rule names the rule of the policy that refused the request, and its place; "" if none did.
	Rule string
	// IsUnable: a stage refused the request because it could not do its work, not because of a rule or a person.
	IsUnable bool
	Cause    error
}

func (f *Failure) Error() string { return f.Message }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// Cancelled is the cause of a cancellation by the client.
type Cancelled struct {
	Reason []byte // the client's reason, a JSON string; nil without one
}

func (Cancelled) Error() string { return "the client cancelled the request" }

// describe fills in the description for the stages.
func (request *Request) describe(call *Call, server *fleet.Server) {
	call.Server, call.Client, call.Method, call.Name = server, request.Client, protocol.MethodToolsCall, request.Ref.Name
	call.Arguments, call.Meta = request.Arguments, request.Meta
}

// keep copies a request that has to wait to the heap. The others stay on the stack.
func (request *Request) keep() *Request {
	later := *request
	return &later
}

// logLevelToRequest implements sendable.
func (request *Request) logLevelToRequest(session *downstream.Session) (level string) {
	return logLevelToRequest(request.Client, session, request.Meta)
}

// send implements sendable.
func (request *Request) send(r *run, lease *fleet.Lease) bool {
	r.lease = lease
	if !request.prepare(r) {
		return true
	}
	if later, next, now := r.askStages(0); !now {
		if later.Wait != nil {
			go r.waitAndSend(request.keep(), later, next)
		}
		return true
	}
	return request.dispatch(r)
}

// prepare finds the tool. It returns false if the tool cannot be called, which ended the request.
func (request *Request) prepare(r *run) bool {
	tool, isDenied, err := resolveTool(r.lease.Tools, request.Ref)
	if err != nil {
		r.refuse(Outcome{}, err)
		return false
	}
	r.denied = isDenied
	if request.Admit != nil && !isDenied {
		if refusal := request.Admit(request.Ref, tool); refusal != nil {
			r.deny(refusal)
			return false
		}
	}
	if request.Check != nil && !isDenied {
		if problem := request.Check(tool.Definition.Member("inputSchema"), request.Arguments); !problem.IsAbsent() {
			r.errorType = typeArguments
			r.refuse(Outcome{Error: problem}, nil)
			return false
		}
	}
	r.crossing = crossingOf(request.Client, r.lease.Session)
	if r.crossing == toLegacy && era.BringsState(request.Extra) {
		r.refuse(unknownState, nil)
		return false
	}
	if r.admitted { // before a session ended that it could not be sent to
		r.admitted = !isDenied && bytes.Equal(r.call.Tool.Bytes(), tool.Definition.Bytes()) && r.call.HintsDoubted == tool.HintsDoubted
	}
	r.call.Name, r.call.Tool, r.call.HintsDoubted = tool.Name, tool.Definition, tool.HintsDoubted
	if r.router.stages.Hash {
		r.call.Hash = tool.Hash()
	}
	r.call.Arguments, r.call.Meta = request.Arguments, request.Meta
	arguments, ok := r.revise()
	request.Arguments = arguments
	return ok
}

// dispatch implements sendable.
func (request *Request) dispatch(r *run) bool {
	r.lease.RecordCaller(request.Client.Profile())
	// Copied first: sending overwrites the buffer that the token is in.
	r.token = bytes.Clone(request.Meta.Member(protocol.ProgressToken).Bytes())
	call := downstream.ToolCall{Name: r.call.Name, Arguments: request.Arguments, Meta: request.Meta, Untracked: len(r.token) == 0, Extra: request.Extra}
	r.call.Arguments, r.call.Meta = wire.Payload{}, wire.Payload{}
	switch {
	case r.crossing != sameEra:
		r.translateCall(&call)
	case r.mayAskPerson():
		r.keepCall(&call)
	}
	call.Requester.Modern = request.Client.Profile().Modern()
	r.timing.enter(atServer)
	r.mu.Lock() // the response has to wait until the id is known
	err := r.sendCall(call)
	r.mu.Unlock()
	return r.wasSent(err)
}
