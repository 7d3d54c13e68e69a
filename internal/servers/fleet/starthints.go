package fleet

import (
	"sync/atomic"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// startHints hold what earlier starts of a server revealed, for the next start. Its variants share them.
type startHints struct {
	instead   atomic.Int32 // the downstream.Opening for the next start; ProbeFirst: none
	eras      atomic.Int32 // the downstream.Eras that are certain
	speaksSSE atomic.Bool  // see connectRemote
	slowLists atomic.Bool  // see startLists

	isWorkbench atomic.Bool // it is a workbench; see mayForward
	isOther     atomic.Bool // it is not a workbench; see hopsFor
}

// opening returns the opening of a session for clients of an era. known means that the server declared its eras, so that
// the opening cannot be the reason of a failure. A process that answered the probe may refuse initialize afterwards (the
// Python SDK does). For legacy clients that answer questions, initialize therefore comes first: otherwise such a server
// could not ask them.
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

// setNextOpening sets the opening of the next start; ProbeFirst removes it.
func (h *startHints) setNextOpening(instead downstream.Opening) { h.instead.Store(int32(instead)) }

// learnEras records the eras of the server, unless they are unknown.
func (h *startHints) learnEras(eras downstream.Eras) {
	if eras != downstream.ErasUnknown {
		h.eras.Store(int32(eras))
	}
}

// forget removes the hints about eras after a start that failed in spite of them.
func (h *startHints) forget() {
	h.eras.Store(int32(downstream.ErasUnknown))
	h.setNextOpening(downstream.ProbeFirst)
}

// canBeAsked reports whether the server's clients declared that they answer questions of servers.
func (s *Server) canBeAsked() bool {
	declared := wire.Raw(s.capabilities)
	for _, question := range []string{"elicitation", "sampling", "roots"} {
		if !declared.Member(question).IsAbsent() {
			return true
		}
	}
	return false
}
