package call

import (
	"context"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Stages are what every request passes on its way to a server. A stage that is not listed costs nothing.
type Stages struct {
	Screen  []Screener // asked first, before the server is started; the first that refuses ends the request
	Revise  []Reviser  // asked one after the other when the tool is known; the first that refuses ends the request
	Admit   []Admitter // asked one after the other; the first that refuses ends the request
	Observe []Observer // told one after the other
	Trace   Tracer     // asked first of all; nil: nothing is traced. Its requests are told to observers, too
	// Shape says that observers use Call.Shape, which costs an allocation.
	Shape bool
	// Hash says that stages use Call.Hash, which costs a hash of the definition.
	Hash bool
}

// Call describes one request to a server: a call of a tool, or any other request. A stage gets the same pointer
// for the same request, from CallBegan to CallEnded, and must not change it or keep it any longer.
type Call struct {
	Server *fleet.Server // the configured server
	Client Client
	Method string
	// Name is what the request is about: the name of the tool as the server offers it, a prompt's name, a resource's
	// URI, the id of a task; "" where the method has no such thing.
	Name string
	// Tool is the tool's definition. It is absent until the tool is resolved, and for other methods.
	Tool wire.Payload
	// Hash identifies the server's definition of the tool; see catalog.Tool.Hash. It is zero while Tool is absent, and unless
	// Stages.Hash is set.
	Hash catalog.Hash
	// HintsDoubted says that the annotations in Tool do not count; see catalog.Tool.
	HintsDoubted bool
	// Arguments are those of the tool, or the params of another method. They may be absent. Sending the request uses
	// up their buffer: CallEnded does not get them.
	Arguments wire.Payload
	Meta      wire.Payload // the request's _meta; as Arguments
	// Shape describes Arguments without their values, such as "path: string 12 B, depth: number", in at most maxShape
	// bytes. The names are the client's. It is "" without arguments, and unless Stages.Shape is set.
	Shape string
	// Trace is the trace that the request is a part of; nil unless it is recorded.
	Trace *Trace
}

// Screener refuses requests by what the client sent alone, so that no server is started for them.
type Screener interface {
	// Screen returns nil for a request that may go on. It must not block. The tool's definition is not known yet.
	Screen(call *Call) (refusal *Failure)
}

// Reviser changes what requests carry, to the server and back. It is asked when the tool is resolved, before the
// admitters, so that they decide about what is sent; and again if the request could not be sent and is sent elsewhere.
type Reviser interface {
	// Revise must not block.
	Revise(call *Call) Revision
}

// Revision is what changes in one request. The zero value changes nothing.
type Revision struct {
	Refusal   *Failure      // ends the request
	Arguments wire.Payload  // in place of those of the tool; absent: they stay. Not for other methods
	Answers   AnswerReviser // of what the server sends for the request; nil: it is passed on unchanged
}

// AnswerReviser changes what a server sends for one request. Its methods must not block. They may be called by several
// goroutines at once.
type AnswerReviser interface {
	// Response gets a result or an error object, also one that asks for input or begins a task. A failure takes its
	// place.
	Response(value wire.Payload) (wire.Payload, *Failure)
	// Interim gets the params of what does not come as the response: progress, log messages, questions, and what is
	// told of a task.
	Interim(params wire.Payload) wire.Payload
	// Text gets what is said about a failure.
	Text(text string) string
}

// Admitter decides whether requests are sent. It is asked after the server is connected and the tool is resolved,
// once for each request: the server's questions and the retries that follow are part of the same request, unless the client
// and the server are both modern. Then the request ends with StatusInputRequired, and the retry is another one.
// It is asked again only if the tool's definition changed before the request could be sent.
type Admitter interface {
	// Admit is called by a goroutine that reads messages, so that it must not block; see Verdict.Wait.
	Admit(call *Call) Verdict
}

// Verdict is the decision about a request. The zero value admits it.
type Verdict struct {
	// Refusal ends the request: a tool's error result or, for other methods, a JSON-RPC error has its message and hint.
	Refusal *Failure
	// Wait decides later. It runs in a goroutine of its own, and returns nil to admit the request. It must return soon
	// after ctx ends, which happens when the client cancels the request, and after MaxAdmission at the latest;
	// what it returns then does not matter.
	Wait func(ctx context.Context) (refusal *Failure)
	// IsOwnWork says that Wait does work of the workbench, such as writing to a disk: its time counts as the workbench's.
	// Otherwise it counts as the time of a person who decides.
	IsOwnWork bool
}

// MaxAdmission is the longest time that an admitter can take for its decision.
const MaxAdmission = 10 * time.Minute

// Observer watches requests. Its methods must not block, and are called exactly once for each request to a configured
// server, whether it is sent or not. They may be called by several goroutines at once.
type Observer interface {
	// CallBegan is called before the request is admitted, and before its server is started for it.
	CallBegan(call *Call, at time.Time)
	// CallEnded is called before the client gets the answer.
	CallEnded(call *Call, end End)
}

// End describes how a request ended.
type End struct {
	Status Status
	// ErrorType names the kind of error in a word: the code of a JSON-RPC error, or one of the types in errortype.go.
	// It is "" for a request that succeeded. Servers choose codes, so that their number has no bound.
	ErrorType string
	Rule      string // of the policy, which refused it, and its place; "" if none did
	Began     time.Time
	Took      time.Duration
	Start     time.Duration // part of Took: until the server was ready
	Server    time.Duration // part of Took: at the server, also until the client cancelled the request
	Waited    time.Duration // part of Took: for a person, who had to approve it, log in or answer questions
	Sent      time.Time     // to the server, the first time; zero if it was not
	Answered  time.Time     // by the server, the last time; zero if it was not

	RequestSize  int // bytes of the arguments or params
	ResponseSize int // bytes of the result or the error object; 0 if the client gets neither

	Usage *fleet.Usage            // what the server's processes used, if that was seen not long before the end; nil: unknown
	Over  *fleet.MemoryLimitError // the limit because of which the server was stopped, or not started; nil: it was not
}

// Workbench returns the part of the time that the workbench took itself.
func (e *End) Workbench() time.Duration { return e.Took - e.Start - e.Server - e.Waited }

// Status is the way in which a request ended.
type Status uint8

// The ways in which a request ends.
const (
	StatusOK            Status = iota + 1
	StatusToolError            // the tool answered with a result that is an error
	StatusRPCError             // the server answered with a JSON-RPC error
	StatusFailed               // there is no usable answer: the server could not be reached, or ended, or was silent for too long
	StatusRefused              // it was not sent: a stage refused it, or the server has no such tool
	StatusCancelled            // the client or a person cancelled it, or the client went away
	StatusInputRequired        // the server wants input first; the client will send the request again with it
)

func (s Status) String() string {
	switch s {
	case StatusOK:
		return "ok"
	case StatusToolError:
		return "tool error"
	case StatusRPCError:
		return "JSON-RPC error"
	case StatusFailed:
		return "failed"
	case StatusRefused:
		return "refused"
	case StatusCancelled:
		return "cancelled"
	case StatusInputRequired:
		return "input required"
	}
	return "unknown"
}
