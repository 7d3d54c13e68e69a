package call

import (
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// This file shows the requests that are in flight to those who look from outside. It costs a call two stores to
// memory: what is shown is read from the request itself.

// Running is a request to a server that is in flight.
type Running struct {
	Server *fleet.Server
	Method string
	Name   string // of a tool, for example; see Call.Name
	Began  time.Time
	Phase  Phase
	IsHeld bool // a person has to approve it or log in before it is sent

	of *run
}

// Phase is what a request waits for.
type Phase string

// The phases of a request in flight. It is in none for the moments that the workbench takes itself.
const (
	PhaseStart  Phase = "start"  // of the server
	PhaseServer Phase = "server" // which works on it
	PhasePerson Phase = "person" // who has to approve it, log in or answer a question
)

var phaseNames = [phases]Phase{inStart: PhaseStart, atServer: PhaseServer, awaitsServer: PhaseServer, atApproval: PhasePerson, atLogin: PhasePerson, atQuestion: PhasePerson}

// show has a request seen from outside, which is described and has begun.
func (t *Canceller) show(r *run) {
	r.asked = r.call.Name
	t.running.Store(r)
}

// ShowPart has the requests to servers seen that are sent with another canceller on behalf of this one's request.
func (t *Canceller) ShowPart(part *Canceller) { t.part.Store(part) }

// Running returns the request to a server that is in flight; ok is false without one. It neither waits nor holds up the
// request. Of several at once it is the one that began last.
func (t *Canceller) Running() (running Running, ok bool) {
	if r := t.running.Load(); r != nil && !r.isOver() {
		now := phase(atomic.LoadUint32(&r.timing.shown))
		return Running{
			Server: r.call.Server, Method: r.call.Method, Name: r.asked, Began: r.timing.began,
			Phase: phaseNames[now], IsHeld: now == atApproval || now == atLogin, of: r,
		}, true
	}
	if part := t.part.Load(); part != nil {
		return part.Running()
	}
	return Running{}, false
}

// isOver does not wait for the lock, which is held while messages are passed on: then the request is in flight.
func (r *run) isOver() bool {
	if !r.mu.TryLock() {
		return false
	}
	defer r.mu.Unlock()
	return r.over
}

var (
	idSeed     = maphash.MakeSeed()
	idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
)

// idLength is how many characters an ID has. It is short to be typed, and long enough that two requests hardly ever have the
// same.
const idLength = 7

// ID identifies the request while it is in flight.
func (r *Running) ID() string {
	sum := maphash.Comparable(idSeed, struct {
		of    *run
		began int64
	}{r.of, r.Began.UnixNano()})
	return idEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, sum))[:idLength]
}

// Stopped is the cause of a cancellation by a person, of which the client does not know: it gets an answer.
type Stopped struct {
	Toolbox, Server, Method, Name string
}

// Stop returns the cause for a person who cancels the request.
func (r *Running) Stop() *Stopped {
	return &Stopped{Toolbox: r.Server.Toolbox(), Server: r.Server.Name(), Method: r.Method, Name: r.Name}
}

func (s *Stopped) Error() string { return "a person cancelled the request" }

// Explain tells the client what happened, and what to do next.
func (s *Stopped) Explain() string {
	if s.Method == protocol.MethodToolsCall {
		return fmt.Sprintf("A person cancelled the call of tool '%s' in server '%s' (toolbox '%s'). It may have done a part of its work.\n"+
			"Do not call it again without being told to: ask the user what to do instead.", s.Name, s.Server, s.Toolbox)
	}
	return fmt.Sprintf("A person cancelled '%s' in server '%s' (toolbox '%s'). Ask the user before you send it again.", strings.ToValidUTF8(s.Method, ""), s.Server, s.Toolbox)
}

// stoppedReason is what the server is told, a JSON string.
var stoppedReason = []byte(`"A person cancelled the request"`)

// reasonOf returns what a server is told of a cancellation, a JSON string; nil: nothing.
func reasonOf(cause error) []byte {
	if cancelled, ok := errors.AsType[Cancelled](cause); ok {
		return cancelled.Reason
	}
	if _, ok := errors.AsType[*Stopped](cause); ok {
		return stoppedReason
	}
	return nil
}
