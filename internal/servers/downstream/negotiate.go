package downstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// probeTime is how long the first request of a handshake is waited for alone. Then the other
// one is sent as well: some servers ignore what they do not know.
const probeTime = 3 * time.Second

// negotiation is a handshake under way: the probe and initialize, each of which may be unsent,
// unanswered or answered. Neither an error nor silence on one of them ends it while the other
// is unanswered.
type negotiation struct {
	*Session
	opening Opening

	probe       waiter       // nil while it is not under way
	initialized chan outcome // nil while it is not under way
	sentProbe   bool
	sentInit    bool // initialize was sent
	probedLast  bool // the probe was sent after initialize
	repeated    bool // the probe was sent again with the revision that the server named

	judged    bool         // the probe was answered
	hasModern bool         // by a modern server
	offered   wire.Payload // by that server
	refusal   error        // why initialize failed
	held      wire.Payload // a result of initialize, kept until the probe is answered
}

// outcome is what became of initialize.
type outcome struct {
	result wire.Payload
	err    error
}

// errUndecided says that a negotiation goes on.
var errUndecided = errors.New("the handshake goes on")

// handshake finds out the server's era and begins a session of it. For clients of the modern era
// the probe decides, unless initialize was sent as well and accepted. Those of the legacy era get
// a legacy session wherever initialize leads to one in which the server can ask them, whatever the
// probe said, so that their sessions are what they would be without us.
func (s *Session) handshake(ctx context.Context) error {
	n := &negotiation{Session: s, opening: s.options.Opening}
	ctx, stop := context.WithCancel(ctx)
	defer func() {
		stop()
		if n.initialized != nil {
			<-n.initialized // it ends with its context
		}
		s.remove(probeKey)
	}()
	if n.opening == ProbeFirst || n.opening == ProbeOnly {
		n.sendProbe()
	} else {
		n.sendInitialize(ctx)
	}
	limit := n.patience(ctx)
	silence := time.NewTimer(limit)
	defer silence.Stop()
	for {
		var err error
		select {
		case got := <-n.probe:
			n.probe = nil
			err = n.takeProbe(ctx, got)
		case got := <-n.initialized:
			n.initialized = nil
			err = n.takeInitialize(ctx, got)
		case <-silence.C:
			err = n.breakSilence(ctx)
		case <-ctx.Done():
			err = n.broken(unanswered(protocol.MethodInitialize, ctx.Err()))
		}
		if !errors.Is(err, errUndecided) {
			return err
		}
		silence.Reset(limit)
	}
}

// patience returns how long the first request is waited for alone. The other one needs time as
// well. A process that got initialize should not get the probe as long as it may be starting: one
// of the Go SDK would be modern from then on, and not ask any more.
func (n *negotiation) patience(ctx context.Context) time.Duration {
	deadline, limited := ctx.Deadline()
	left := time.Until(deadline)
	switch {
	case !limited:
		return probeTime
	case n.opening == InitializeFirst && n.options.Remote == nil:
		return left * 2 / 3
	}
	return min(probeTime, left/3)
}

func (n *negotiation) sendProbe() {
	n.probe = n.Session.sendProbe()
	n.sentProbe, n.probedLast = true, n.sentInit
}

func (n *negotiation) sendInitialize(ctx context.Context) {
	n.sentInit = true
	done := make(chan outcome, 1)
	n.initialized = done
	go func() {
		result, err := n.initialize(ctx)
		if err == nil {
			_, err = agreedOn(result) // a modern server may accept it, but for its own revision
		}
		done <- outcome{result, err}
	}()
}

// takeProbe goes on with the answer to the probe.
func (n *negotiation) takeProbe(ctx context.Context, got answer) error {
	if got.err != nil && n.Err() != nil {
		n.probe = make(waiter) // it was not answered
		method := protocol.MethodDiscover
		if n.sentInit {
			method = protocol.MethodInitialize
		}
		return n.broken(unanswered(method, n.Err()))
	}
	if !n.repeated && wantsAgain(got) {
		n.repeated = true
		n.sendProbe()
		return errUndecided
	}
	offer, modern, err := judge(got)
	switch {
	case n.hasModern && !modern:
		return errUndecided // it was asked again, and has turned to initialize meanwhile
	case err != nil && !n.sentInit:
		return err
	}
	n.judged, n.hasModern, n.offered = true, modern, offer
	n.eras = erasOf(got, offer, modern)
	// An initialize that it accepts after this would settle a process on the legacy era.
	settling := n.options.Remote == nil && n.initialized != nil
	switch {
	case modern && (n.options.Modern || n.opening == ProbeOnly) && !settling:
		return n.adopt(ctx, offer)
	case !n.held.IsAbsent() && !modern:
		return n.accept(ctx, n.held)
	case !n.held.IsAbsent():
		return n.goModern(ctx)
	case n.refusal != nil && !modern:
		return n.refusal
	case n.refusal != nil:
		return n.goModern(ctx)
	case modern && n.probedLast:
		return n.adopt(ctx, offer) // it answers this and not initialize, which came before
	case !n.sentInit:
		n.sendInitialize(ctx)
	}
	return errUndecided
}

// takeInitialize goes on with the answer to initialize.
func (n *negotiation) takeInitialize(ctx context.Context, got outcome) error {
	if got.err == nil {
		return n.takeResult(ctx, got.result)
	}
	if n.Err() != nil || ctx.Err() != nil {
		n.initialized = make(chan outcome, 1) // it was not answered
		n.initialized <- got
		return n.broken(got.err)
	}
	n.refusal = got.err
	if status, ok := errors.AsType[*StatusError](got.err); ok && status.denied() {
		return got.err // to whatever it is asked
	}
	switch {
	case n.hasModern:
		return n.goModern(ctx)
	case n.judged:
		return got.err
	case n.probe == nil:
		n.sendProbe()
	}
	return errUndecided
}

// takeResult goes on with a server that accepted initialize.
func (n *negotiation) takeResult(ctx context.Context, result wire.Payload) error {
	certain := n.options.Modern || n.opening == InitializeOnly || n.opening == ProbeOnly
	switch {
	case certain || n.transport.canAsk() || n.judged && !n.hasModern:
		if n.hasModern {
			n.eras = BothEras
		}
		return n.accept(ctx, result)
	case n.hasModern:
		return n.goModern(ctx)
	}
	// A server without sessions could not ask; a modern one can, with its results.
	n.held = result
	if n.probe == nil {
		n.sendProbe()
	}
	return errUndecided
}

// goModern goes on with a modern server with which initialize led to nothing.
func (n *negotiation) goModern(ctx context.Context) error {
	process, settled := n.options.Remote == nil, n.sentProbe && !n.probedLast
	_, refused := errors.AsType[*RPCError](n.refusal)
	if refused && process && settled && listsLegacy(n.offered) && !n.options.Modern {
		// The probe has settled the process on the modern era; a fresh one can be had in the other.
		return &OpeningError{Ended: true, Instead: InitializeOnly, Eras: BothEras, Err: n.refusal}
	}
	if isConclusive(n.refusal) && (!process || !settled) {
		n.eras = OnlyModern
	}
	return n.adopt(ctx, n.offered)
}

// breakSilence sends the request that was not sent yet, if the other one is not answered.
// A server that has not read it is about to start, and may answer still.
func (n *negotiation) breakSilence(ctx context.Context) error {
	if n.transport.isUnread() {
		return errUndecided
	}
	switch {
	case !n.held.IsAbsent():
		return n.accept(ctx, n.held)
	case !n.sentInit && n.opening == ProbeFirst:
		n.sendInitialize(ctx)
	case n.initialized == nil || n.probe != nil:
	case n.hasModern && !n.probedLast, !n.sentProbe && n.opening == InitializeFirst:
		n.sendProbe() // the answer tells that initialize is ignored
	}
	return errUndecided
}

// broken returns the error of a handshake that broke off for a reason, with the opening to blame
// for it, if that may be.
func (n *negotiation) broken(reason error) error {
	if n.refusal != nil && (n.Err() == nil || n.probedLast) {
		return n.refusal // says more than that the probe was not answered
	}
	blame := OpeningError{Instead: InitializeOnly, Err: reason}
	open := n.initialized != nil
	switch {
	case n.probe != nil && !n.sentInit: // only the probe was sent
		blame.Alone = true
	case n.probe != nil && open, n.probe != nil && !n.probedLast: // either may be the reason
	case open && (n.hasModern || !n.sentProbe):
		blame.Alone, blame.Instead = true, ProbeOnly
	default:
		return reason
	}
	return n.transport.blame(blame)
}

func unanswered(method string, reason error) error {
	return fmt.Errorf("no answer to '%s': %w", method, reason)
}
