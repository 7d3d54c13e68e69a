package fleet

import (
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// startHints are what was learned of a server for its next start. Its variants share them.
type startHints struct {
	instead   atomic.Int32 // the downstream.Opening that the last start asked for; ProbeFirst: none
	eras      atomic.Int32 // a downstream.Eras that is certain
	speaksSSE atomic.Bool  // see connectRemote
	slowLists atomic.Bool  // see startLists

	isWorkbench atomic.Bool // it is a workbench; see mayForward
	isOther     atomic.Bool // it is none; see hopsFor
}

// opening returns what a session for clients of an era begins with; known says that it follows
// from what the server told, so that it is not what fails. A process that has answered the probe
// may refuse initialize from then on (that of the Python SDK does), so that for legacy clients
// that can be asked initialize comes first: only then can such a server ask them.
func (h *startHints) opening(modern, canBeAsked bool) (opening downstream.Opening, known bool) {
	switch downstream.Eras(h.eras.Load()) {
	case downstream.OnlyLegacy:
		return downstream.InitializeOnly, true
	case downstream.OnlyModern:
		return downstream.ProbeOnly, true
	case downstream.BothEras:
		if modern {
			return downstream.ProbeOnly, true
		}
		return downstream.InitializeOnly, true
	}
	if instead := downstream.Opening(h.instead.Load()); instead != downstream.ProbeFirst {
		return instead, false
	}
	if !modern && canBeAsked {
		return downstream.InitializeFirst, false
	}
	return downstream.ProbeFirst, false
}

// setNextOpening has the next start begin with an opening; ProbeFirst leaves it to what is known then.
func (h *startHints) setNextOpening(instead downstream.Opening) { h.instead.Store(int32(instead)) }

// learnEras remembers what a server told about its eras, if it did.
func (h *startHints) learnEras(eras downstream.Eras) {
	if eras != downstream.ErasUnknown {
		h.eras.Store(int32(eras))
	}
}

// forget is for a start that failed although it relied on what was learned.
func (h *startHints) forget() {
	h.eras.Store(int32(downstream.ErasUnknown))
	h.setNextOpening(downstream.ProbeFirst)
}

// canBeAsked reports whether the server's clients declared that they answer questions.
func (s *Server) canBeAsked() bool {
	declared := wire.Raw(s.capabilities)
	for _, question := range []string{"elicitation", "sampling", "roots"} {
		if !declared.Member(question).IsAbsent() {
			return true
		}
	}
	return false
}
