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

// This file detects the eras of a server from its answers. negotiate.go decides what follows from that.

// The probe's id on the wire and in Session.pending. It is not a number, so that numbers begin with the first request
// of either era.
const (
	probeID         = `"discover"`
	probeKey uint64 = math.MaxUint64
)

// Eras is what is known of the eras that a server supports.
type Eras int32

// OnlyModern is a server that refuses initialize, whatever was sent before, or that opens no session over HTTP in which
// it could ask its client. A server that lists no legacy revision need not be OnlyModern: the SDKs list modern
// revisions only.
const (
	ErasUnknown Eras = iota
	OnlyLegacy
	OnlyModern
	BothEras
)

// Eras returns what the handshake found out about the server's eras.
func (s *Session) Eras() Eras { return s.eras }

// sendProbe asks the server which revisions it supports.
func (s *Session) sendProbe() waiter {
	probe := make(waiter, 1)
	s.mu.Lock()
	if s.err != nil {
		probe <- answer{err: s.err}
	} else {
		s.pending[probeKey] = pending{sink: probe, lastSign: time.Since(s.began)}
	}
	s.mu.Unlock()
	message := append([]byte(nil), `{"jsonrpc":"2.0","id":`+probeID+`,"method":"`+protocol.MethodDiscover+`","params":{"_meta":{`...)
	message = append(message, s.modernMembers()...)
	if s.options.Hops != "" && s.options.MarkMessages {
		message = wire.AppendMember(message, hops.Meta, s.options.Hops)
	}
	s.send(outgoing{message: append(message, "}}"+wire.Suffix...), id: probeKey, method: protocol.MethodDiscover})
	return probe
}

// wantsSameRevision reports whether a server refused the revision of the probe, but names that same revision as supported.
func wantsSameRevision(got answer) bool {
	rpc := got.response.Error
	return !rpc.IsAbsent() && NewRPCError(rpc).Code == protocol.CodeUnsupportedRevision &&
		slices.Contains(revisionsIn(rpc.Member("data").Member("supported")), protocol.Revision20260728)
}

// evaluateProbe evaluates the answer to the probe, and returns the offer of a modern server. Any answer that the modern era
// does not define means a legacy server. An error means a modern server without a revision in common.
func evaluateProbe(got answer) (offer wire.Payload, modern bool, err error) {
	offer = got.response.Result // absent, like the error, if the answer is unusable
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

// erasOf returns the server's eras, from a judged answer to the probe.
func erasOf(got answer, offer wire.Payload, modern bool) Eras {
	switch {
	case modern && listsLegacy(offer):
		return BothEras
	case modern || got.err != nil || got.response.Error.IsAbsent():
		return ErasUnknown
	}
	switch NewRPCError(got.response.Error).Code {
	case protocol.CodeInternalError, protocol.CodeHeaderMismatch, protocol.CodeMissingCapability, protocol.CodeUnsupportedRevision:
		return ErasUnknown // the answer may be different the next time
	}
	return OnlyLegacy
}

// listsLegacy reports whether a modern server also lists a revision with initialize.
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
