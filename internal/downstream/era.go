package downstream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// probeTime is how long the probe is waited for alone. Then initialize is sent as well:
// some legacy servers ignore what they do not know. It is also how long the probe is
// waited for once initialize was refused.
const probeTime = 3 * time.Second

// The probe's id on the wire, and in Session.pending. It is none of the numbers, so that
// theirs begin with the first request of either era.
const (
	probeID         = `"discover"`
	probeKey uint64 = math.MaxUint64
)

// ProbeError is the end of a handshake in which the probe was not answered and may have
// been what the server did not survive.
type ProbeError struct {
	// Ended says for sure that the server read the probe and ended then, or is settled on an
	// era that it was not wanted in.
	Ended bool
	// Eras is what the probe found out, if it was answered after all.
	Eras Eras
	Err  error
}

// Eras says which eras a server speaks, as far as it told.
type Eras int32

// What is known of a server's eras.
const (
	ErasUnknown Eras = iota
	OnlyLegacy
	OnlyModern
	BothEras
)

// Eras returns what the handshake found out about the server's eras.
func (s *Session) Eras() Eras { return s.eras }

func (e *ProbeError) Error() string { return e.Err.Error() }

// Unwrap returns what happened.
func (e *ProbeError) Unwrap() error { return e.Err }

// handshake finds out the server's era and begins a session of it. The probe is a request
// of the modern era. A legacy server answers it with any error, and then, or when it is
// silent, gets initialize; the first valid answer of the two decides. A server that offers
// both is spoken to in the era of its clients, whose sessions with it are then what they
// would be without us.
func (s *Session) handshake(ctx context.Context) error {
	if s.options.InitializeFirst {
		return s.initializeFirst(ctx)
	}
	probe := s.sendProbe()
	limit := probeTime
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/3) // initialize needs time as well
	}
	alone := time.NewTimer(limit)
	defer alone.Stop()
	for repeated := false; ; repeated = true {
		select {
		case got := <-probe:
			if repeated || !wantsAgain(got) {
				return s.probed(ctx, got)
			}
			probe = s.sendProbe()
		case <-alone.C:
			return s.initializeToo(ctx, probe)
		case <-ctx.Done():
			return s.initializeToo(ctx, probe)
		}
	}
}

// wantsAgain reports whether a server refused the revision of the probe, and names that very
// one as what it supports.
func wantsAgain(got answer) bool {
	rpc := got.response.Error
	return !rpc.IsAbsent() && NewRPCError(rpc).Code == protocol.CodeUnsupportedRevision &&
		slices.Contains(revisionsIn(rpc.Member("data").Member("supported")), protocol.Revision20260728)
}

// probed goes on with a server that answered the probe.
func (s *Session) probed(ctx context.Context, got answer) error {
	if got.err != nil && s.Err() != nil {
		return s.transport.blame(fmt.Errorf("no answer to '%s': %w", protocol.MethodDiscover, s.Err()))
	}
	offer, modern, err := judge(got)
	if err != nil {
		return err
	}
	s.eras = erasOf(got, offer, modern)
	if s.eras == OnlyModern || modern && s.options.Modern {
		return s.adopt(ctx, offer)
	}
	result, err := s.initialize(ctx)
	if _, refused := errors.AsType[*RPCError](err); refused && modern {
		return s.settled(ctx, offer, err)
	}
	if err != nil {
		return err
	}
	return s.accept(ctx, result)
}

// settled goes on with a server of both eras that refused initialize after the probe, with
// err. The probe has settled a process on the modern era; a fresh one can be had in the
// other.
func (s *Session) settled(ctx context.Context, offer wire.Payload, err error) error {
	if s.options.Remote == nil {
		return &ProbeError{Ended: true, Eras: BothEras, Err: err}
	}
	return s.adopt(ctx, offer)
}

// initializeToo goes on with a server that has not answered the probe yet. It may be slow
// to start, and of either era.
func (s *Session) initializeToo(ctx context.Context, probe waiter) error {
	defer s.remove(probeKey)
	asking, stop := context.WithCancel(ctx)
	defer stop()
	type outcome struct {
		result wire.Payload
		err    error
	}
	initialized := make(chan outcome, 1)
	go func() {
		result, err := s.initialize(asking)
		initialized <- outcome{result, err}
	}()
	var refusal error
	var both wire.Payload // what a server of both eras offers, from which the legacy one is wanted
	var grace <-chan time.Time
	for {
		select {
		case got := <-probe:
			if got.err != nil && s.Err() != nil {
				return s.transport.blame(fmt.Errorf("no answer to '%s': %w", protocol.MethodInitialize, s.Err()))
			}
			offer, modern, _ := judge(got)
			s.eras = erasOf(got, offer, modern)
			if s.eras == OnlyModern || modern && s.options.Modern {
				return s.adopt(ctx, offer)
			}
			switch {
			case refusal != nil && modern:
				return s.settled(ctx, offer, refusal)
			case refusal != nil:
				return refusal
			}
			probe, both = nil, offer // answered: the other answer decides
		case got := <-initialized:
			if got.err == nil {
				return s.accept(ctx, got.result)
			}
			_, refused := errors.AsType[*RPCError](got.err)
			switch {
			case probe == nil && s.eras == BothEras && refused:
				return s.settled(ctx, both, got.err)
			case probe == nil:
				return got.err
			case !refused:
				return s.transport.blame(got.err)
			}
			// A modern server that is slow may refuse initialize before it answers the probe.
			refusal = got.err
			grace = time.After(probeTime)
		case <-grace:
			return refusal
		}
	}
}

// initializeFirst is the handshake with a server that the probe may do harm to.
func (s *Session) initializeFirst(ctx context.Context) error {
	result, err := s.initialize(ctx)
	if err == nil {
		return s.accept(ctx, result)
	}
	if _, refused := errors.AsType[*RPCError](err); !refused {
		return err
	}
	defer s.remove(probeKey)
	patience := time.NewTimer(probeTime)
	defer patience.Stop()
	select {
	case got := <-s.sendProbe():
		if offer, modern, _ := judge(got); modern {
			s.eras = OnlyModern // whatever it says: it refused the other
			return s.adopt(ctx, offer)
		}
	case <-patience.C:
	case <-ctx.Done():
	}
	return err
}

// sendProbe asks the server for what it speaks.
func (s *Session) sendProbe() waiter {
	probe := make(waiter, 1)
	s.mu.Lock()
	if s.err != nil {
		probe <- answer{err: s.err}
	} else {
		s.pending[probeKey] = pending{sink: probe, heard: time.Since(s.began)}
	}
	s.mu.Unlock()
	message := append([]byte(nil), `{"jsonrpc":"2.0","id":`+probeID+`,"method":"`+protocol.MethodDiscover+`","params":{"_meta":{`...)
	message = append(message, s.modernMembers()...)
	s.transport.send(outgoing{message: append(message, "}}"+wire.Suffix...), id: probeKey, method: protocol.MethodDiscover})
	return probe
}

// judge reads the answer to the probe: what the server offers if it is modern. Anything
// but the two answers that the modern era knows means that it is not; an error means that
// it is, but that there is no revision in common.
func judge(got answer) (offer wire.Payload, modern bool, err error) {
	offer = got.response.Result // absent, as is the error, if the answer is unusable
	supported := revisionsIn(offer.Member("supportedVersions"))
	if rpc := got.response.Error; !rpc.IsAbsent() && NewRPCError(rpc).Code == protocol.CodeUnsupportedRevision {
		supported = revisionsIn(rpc.Member("data").Member("supported"))
	}
	common := len(supported) == 0
	for _, revision := range supported {
		if revision == protocol.Revision20260728 && !offer.IsAbsent() {
			return offer, true, nil
		}
		common = common || revision.Known() || revision == protocol.Revision20260728
	}
	if !common {
		err = fmt.Errorf("it speaks protocol revisions %.200q, and the workbench speaks %s", supported, spoken())
	}
	return offer, false, err
}

// erasOf says what an answer to the probe that was judged tells of the server's eras.
func erasOf(got answer, offer wire.Payload, modern bool) Eras {
	switch {
	case modern && speaksLegacy(offer):
		return BothEras
	case modern:
		return OnlyModern
	case got.err != nil || got.response.Error.IsAbsent():
		return ErasUnknown
	}
	switch NewRPCError(got.response.Error).Code {
	case protocol.CodeInternalError, protocol.CodeHeaderMismatch, protocol.CodeMissingCapability, protocol.CodeUnsupportedRevision:
		return ErasUnknown // it may answer otherwise another time
	}
	return OnlyLegacy
}

// speaksLegacy reports whether a server that answered the probe also knows a revision that
// begins with initialize.
func speaksLegacy(offer wire.Payload) bool {
	return slices.ContainsFunc(revisionsIn(offer.Member("supportedVersions")), protocol.Revision.Known)
}

func revisionsIn(list wire.Payload) (revisions []protocol.Revision) {
	for element := range list.Elements() {
		if revision, ok := element.Text(); ok {
			revisions = append(revisions, protocol.Revision(revision))
		}
	}
	return revisions
}
