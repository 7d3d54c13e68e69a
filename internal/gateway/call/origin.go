package call

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Originated is a Client that knows how its request reached the workbench.
type Originated interface {
	// TraceOrigin returns nil if requests are not traced.
	TraceOrigin() *Origin
}

// OriginOf returns how the request of a client reached the workbench; nil if that is not known, or not wanted.
func OriginOf(client any) *Origin {
	if originated, ok := client.(Originated); ok {
		return originated.TraceOrigin()
	}
	return nil
}

// Origin is a request of a client, for its trace, until it is answered: the workbench may answer it itself, or send it to
// one or several servers. Its exported fields do not change once it is handled.
type Origin struct {
	Method    string               // as the client wrote it
	Tool      string               // the meta-tool that it calls; "" for all others
	Header    tracecontext.Carrier // of its HTTP request; zero over stdio
	Meta      tracecontext.Carrier // of its _meta
	RequestID string               // as the client wrote it
	Revision  string               // of the protocol; "" if it is not known
	OverHTTP  bool
	Began     time.Time

	mu       sync.Mutex
	decided  bool
	trace    *Trace // without steps; nil if the request is not recorded
	answered bool
	routed   []Routed
	starts   []Start
}

// Routed is a part of a request that was for a server. End is zero while it is not over.
type Routed struct {
	Toolbox, Server string
	Tool, Prompt    string // as the server offers it; "" for others, and for one that the server does not have
	End             End
	Trace           *Trace // of the part, with its steps; nil while it is not over
}

// Start is a server for whose start a request waited that the workbench answers itself.
type Start struct {
	Toolbox, Server string
	Began, Ended    time.Time
	Failed          bool
}

// Answer is how a request of a client was answered. A zero Status stands for the result of a server.
type Answer struct {
	Status    Status
	ErrorType string // as in End
}

// Decide returns the trace of the request, which has no steps. It is decided about once; nil: it is not recorded.
func (o *Origin) Decide(decide func() *Trace) *Trace {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.decided {
		o.decided, o.trace = true, decide()
	}
	return o.trace
}

// maxParts bounds what is remembered of one request: servers that it was sent to, and servers that were started for it.
// Others are left out.
const maxParts = 64

// Route records a part of the request that is for a server; its End comes later, or with it. It returns false if the part
// cannot be told with the request, which has been answered, or has too many parts.
func (o *Origin) Route(part Routed) (isTold bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch last := len(o.routed) - 1; {
	case last >= 0 && o.routed[last].End.Status == 0 && o.routed[last].Server == part.Server && o.routed[last].Toolbox == part.Toolbox:
		o.routed[last] = part
	case last+1 < maxParts:
		o.routed = append(o.routed, part)
	default:
		return false
	}
	return !o.answered
}

// Answer ends the request, and returns its parts that are over. Those that end later, of a call that waits for its client,
// are told by themselves.
func (o *Origin) Answer() []Routed {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answered = true
	return slices.DeleteFunc(slices.Clone(o.routed), func(part Routed) bool { return part.Trace == nil })
}

// Routed returns the only part of the request that was for a server; ok is false if there is none, or several.
func (o *Origin) Routed() (part Routed, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.routed) != 1 {
		return Routed{}, false
	}
	return o.routed[0], true
}

// Starts returns the servers that were started for the request.
func (o *Origin) Starts() []Start {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.starts)
}

// Connect connects servers for the request, as fleet.Connect does, and records those that were not running. The origin may
// be nil.
func (o *Origin) Connect(ctx context.Context, servers []*fleet.Server, profile *fleet.ClientProfile, connected func(fleet.Opened)) []fleet.Opened {
	if o == nil {
		return fleet.Connect(ctx, servers, profile, connected)
	}
	running := make(map[*fleet.Server]bool)
	for _, server := range servers {
		if lease := server.TryLeaseFor(profile); lease != nil {
			lease.Release()
			running[server] = true
		}
	}
	began := time.Now()
	return fleet.Connect(ctx, servers, profile, func(opened fleet.Opened) {
		if !running[opened.Server] {
			o.started(Start{opened.Server.Toolbox(), opened.Server.Name(), began, time.Now(), opened.Err != nil})
		}
		if connected != nil {
			connected(opened)
		}
	})
}

func (o *Origin) started(start Start) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.starts) < maxParts {
		o.starts = append(o.starts, start)
	}
}
