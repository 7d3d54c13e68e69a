package downstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// probeTime is how long the first request of a handshake may stay unanswered before the other one is sent as well: some
// servers ignore unknown requests.
const probeTime = 3 * time.Second

// negotiation is a handshake in progress: the probe and initialize, each unsent, unanswered or answered. An error or
// silence on one of them does not end it while the other is unanswered.
type negotiation struct {
	*Session
	opening Opening

	probe       waiter       // nil while no answer is pending
	initialized chan outcome // nil while no answer is pending
	sentProbe   bool
	sentInit    bool // initialize was sent
	probedLast  bool // the probe was sent after initialize
	repeated    bool // the probe was repeated with the revision that the server named

	judged    bool         // the probe was answered
	hasModern bool         // the server is modern
	offered   wire.Payload // the offer of the modern server
	refusal   error        // why initialize failed
	held      wire.Payload // a result of initialize, held back until the probe is answered
}

// outcome is the outcome of initialize.
type outcome struct {
	result wire.Payload
	err    error
}

// errUndecided means that a negotiation continues.
var errUndecided = errors.New("the handshake continues")

// handshake detects the server's era and begins a session. For a modern client the probe decides, unless initialize was
// sent as well and accepted. A legacy client gets a legacy session wherever initialize leads to one in which the server
// can ask the client, whatever the probe's answer: its session is then the same as without the workbench.
func (s *Session) handshake(ctx context.Context) error {
	n := &negotiation{Session: s, opening: s.options.Opening}
	ctx, stop := context.WithCancel(ctx)
	defer func() {
		stop()
		if n.initialized != nil {
			<-n.initialized // ends with its context
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
			err = n.handleProbeAnswer(ctx, got)
		case got := <-n.initialized:
			n.initialized = nil
			err = n.handleInitializeAnswer(ctx, got)
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

// patience returns how long to wait for the first request alone. The second one needs time as well. A process that got
// initialize should not get the probe while it may still be starting: a server of the Go SDK would become modern by it,
// and no longer ask its client.
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
			_, err = agreedOn(result) // a modern server may accept it, with its own revision
		}
		done <- outcome{result, err}
	}()
}

// handleProbeAnswer handles the answer to the probe.
func (n *negotiation) handleProbeAnswer(ctx context.Context, got answer) error {
	if got.err != nil && n.Err() != nil {
		n.probe = make(waiter) // it was not answered
		method := protocol.MethodDiscover
		if n.sentInit {
			method = protocol.MethodInitialize
		}
		return n.broken(unanswered(method, n.Err()))
	}
	if lacksToken(got.err) {
		return got.err // the server answers no request before
	}
	if !n.repeated && wantsSameRevision(got) {
		n.repeated = true
		n.sendProbe()
		return errUndecided
	}
	offer, modern, err := evaluateProbe(got)
	switch {
	case n.hasModern && !modern:
		return errUndecided // the probe was repeated, and initialize has been sent since
	case err != nil && !n.sentInit:
		return err
	}
	n.judged, n.hasModern, n.offered = true, modern, offer
	n.eras = erasOf(got, offer, modern)
	// If the process accepts initialize after this, it is settled on the legacy era.
	settling := n.options.Remote == nil && n.initialized != nil
	switch {
	case modern && (n.options.Modern || n.opening == ProbeOnly) && !settling:
		return n.beginModern(ctx, offer)
	case !n.held.IsAbsent() && !modern:
		return n.beginLegacy(ctx, n.held)
	case !n.held.IsAbsent():
		return n.goModern(ctx)
	case n.refusal != nil && !modern:
		return n.refusal
	case n.refusal != nil:
		return n.goModern(ctx)
	case modern && n.probedLast:
		return n.beginModern(ctx, offer) // it answers the probe, but not initialize, which was sent before
	case !n.sentInit:
		n.sendInitialize(ctx)
	}
	return errUndecided
}

// handleInitializeAnswer handles the answer to initialize.
func (n *negotiation) handleInitializeAnswer(ctx context.Context, got outcome) error {
	if got.err == nil {
		return n.handleAccepted(ctx, got.result)
	}
	if n.Err() != nil || ctx.Err() != nil {
		n.initialized = make(chan outcome, 1) // it was not answered
		n.initialized <- got
		return n.broken(got.err)
	}
	n.refusal = got.err
	if status, ok := errors.AsType[*StatusError](got.err); ok && status.denied() || lacksToken(got.err) {
		return got.err // the server refuses any request
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

// handleAccepted handles a server that accepted initialize.
func (n *negotiation) handleAccepted(ctx context.Context, result wire.Payload) error {
	certain := n.options.Modern || n.opening == InitializeOnly || n.opening == ProbeOnly
	switch {
	case certain || n.transport.canAsk() || n.judged && !n.hasModern:
		if n.hasModern {
			n.eras = BothEras
		}
		return n.beginLegacy(ctx, result)
	case n.hasModern:
		return n.goModern(ctx)
	}
	// A server without sessions could not ask its client; a modern one can, in its results.
	n.held = result
	if n.probe == nil {
		n.sendProbe()
	}
	return errUndecided
}

// goModern handles a modern server with which initialize failed.
func (n *negotiation) goModern(ctx context.Context) error {
	process, settled := n.options.Remote == nil, n.sentProbe && !n.probedLast
	_, refused := errors.AsType[*RPCError](n.refusal)
	if refused && process && settled && listsLegacy(n.offered) && !n.options.Modern {
		// The probe settled the process on the modern era; a new process can use the other one.
		return &OpeningError{Ended: true, Instead: InitializeOnly, Eras: BothEras, Err: n.refusal}
	}
	if isConclusive(n.refusal) && (!process || !settled) {
		n.eras = OnlyModern
	}
	return n.beginModern(ctx, n.offered)
}

// breakSilence sends the request that was not sent yet if the other one is unanswered. A server that has not read the
// first one is still starting, and may answer yet.
func (n *negotiation) breakSilence(ctx context.Context) error {
	if n.transport.isUnread() {
		return errUndecided
	}
	switch {
	case !n.held.IsAbsent():
		return n.beginLegacy(ctx, n.held)
	case !n.sentInit && n.opening == ProbeFirst:
		n.sendInitialize(ctx)
	case n.initialized == nil || n.probe != nil:
	case n.hasModern && !n.probedLast, !n.sentProbe && n.opening == InitializeFirst:
		n.sendProbe() // its answer shows that initialize is ignored
	}
	return errUndecided
}

// broken returns the error of a handshake that broke off for a reason, with the opening that may have caused it.
func (n *negotiation) broken(reason error) error {
	if n.refusal != nil && (n.Err() == nil || n.probedLast) {
		return n.refusal // more helpful than that the probe was not answered
	}
	blame := OpeningError{Instead: InitializeOnly, Err: reason}
	open := n.initialized != nil
	switch {
	case n.probe != nil && !n.sentInit: // only the probe was sent
		blame.Alone = true
	case n.probe != nil && open, n.probe != nil && !n.probedLast: // either may be the cause
	case open && (n.hasModern || !n.sentProbe):
		blame.Alone, blame.Instead = true, ProbeOnly
	default:
		return reason
	}
	return n.transport.blame(blame)
}

func unanswered(method string, reason error) error {
	if lacksToken(reason) {
		return reason
	}
	return fmt.Errorf("no answer to '%s': %w", method, reason)
}
