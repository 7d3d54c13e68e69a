package downstream

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file is about what a server says of the eras that it speaks. How its answers decide is
// in negotiate.go.

// The probe's id on the wire, and in Session.pending. It is none of the numbers, so that
// theirs begin with the first request of either era.
const (
	probeID         = `"discover"`
	probeKey uint64 = math.MaxUint64
)

// Eras says which eras a server speaks, as far as it told.
type Eras int32

// What is known of a server's eras. OnlyModern is one that refuses initialize, whatever it is
// asked before, or that gives out no session over HTTP in which it could ask its client. That it
// lists no legacy revision does not make it one: the SDKs list modern revisions only.
const (
	ErasUnknown Eras = iota
	OnlyLegacy
	OnlyModern
	BothEras
)

// Eras returns what the handshake found out about the server's eras.
func (s *Session) Eras() Eras { return s.eras }

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
	if s.options.Hops != "" && s.options.MarkMessages {
		message = wire.AppendMember(message, hops.Meta, s.options.Hops)
	}
	s.transport.send(outgoing{message: append(message, "}}"+wire.Suffix...), id: probeKey, method: protocol.MethodDiscover})
	return probe
}

// wantsAgain reports whether a server refused the revision of the probe, and names that very
// one as what it supports.
func wantsAgain(got answer) bool {
	rpc := got.response.Error
	return !rpc.IsAbsent() && NewRPCError(rpc).Code == protocol.CodeUnsupportedRevision &&
		slices.Contains(revisionsIn(rpc.Member("data").Member("supported")), protocol.Revision20260728)
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
	case modern && listsLegacy(offer):
		return BothEras
	case modern || got.err != nil || got.response.Error.IsAbsent():
		return ErasUnknown
	}
	switch NewRPCError(got.response.Error).Code {
	case protocol.CodeInternalError, protocol.CodeHeaderMismatch, protocol.CodeMissingCapability, protocol.CodeUnsupportedRevision:
		return ErasUnknown // it may answer otherwise another time
	}
	return OnlyLegacy
}

// listsLegacy reports whether a server that answered the probe also names a revision that
// begins with initialize.
func listsLegacy(offer wire.Payload) bool {
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
