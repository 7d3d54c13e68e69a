package front

import (
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// chosenEra is the era that a client over stdio chose by its first requests.
type chosenEra int

const (
	undecided chosenEra = iota
	legacy              // by initialize
	modern              // by a request that declares its revision
)

// receive handles a frame of a client that has not chosen the legacy era.
func (p *pipe) receive(frame wire.Frame) {
	if frame.IsBatch() {
		p.session.receiveBatch(frame, p)
		return
	}
	message, err := wire.Parse(frame)
	if err != nil {
		p.respond(rejection(frame, err))
		return
	}
	method := string(message.Method)
	switch {
	case message.IsRequest() && method == protocol.MethodInitialize:
		p.era = legacy
		p.session.dispatch(&message, p)
	case message.IsRequest():
		p.receiveRequest(&message, p.meta.read(message.Params))
	case method == protocol.NotifyCancelled:
		p.session.dispatch(&message, p)
		p.statelessClients.cancelNamed(message.Params)
	default:
		p.session.dispatch(&message, p)
	}
}

// receiveRequest handles a request, which may be the one that chooses the modern era.
func (p *pipe) receiveRequest(message *wire.Message, meta requestMeta) {
	method := string(message.Method)
	if p.era == undecided && meta.revision.IsAbsent() && method != protocol.MethodDiscover && method != protocol.MethodListen {
		p.session.dispatch(message, p)
		return
	}
	if refused := meta.check(); refused != nil { // the client may still choose the other era
		p.respond(response{id: message.ID.Bytes(), answer: metatool.Answer{Error: refused}})
		return
	}
	if mark, ok := meta.hops.Text(); ok {
		p.mark = strings.Clone(mark)
	}
	if err := p.session.server.admit(p.mark); err != nil {
		p.respond(errorTo(message.ID.Bytes(), protocol.CodeInvalidRequest, err.Error()))
		return
	}
	p.era, meta.mark = modern, p.mark
	client := p.statelessClients.enter(p.session.sender, meta)
	if client == nil {
		p.respond(errorTo(message.ID.Bytes(), protocol.CodeInternalError,
			"The client declares something else with each request, and has too many of them in flight"))
		return
	}
	client.newRequest(p, idKey(message.ID), meta).start(message)
}
