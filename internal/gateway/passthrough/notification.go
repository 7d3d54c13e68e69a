package passthrough

import (
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Notice decides whether a client gets a notification of a server, and returns the params
// that it gets.
func (p *Passage) Notice(session Session, server *fleet.Server, message wire.Message) (params []byte, ok bool) {
	memory, o := session.Memory(), originOf(server)
	if !p.sees(session, server) || p.isForeign(session, server, message) {
		return nil, false
	}
	switch string(message.Method) {
	case protocol.NotifyResourcesList, protocol.NotifyPromptsList:
		memory.tells(string(message.Method))
	case protocol.NotifyResourceUpdated:
		return memory.updated(o, message, p.carry(session).servesOthers(server))
	case protocol.NotifyTasks, protocol.NotifyTaskStatus:
		return memory.ofTask(o, message), true
	}
	return rawParams(message), true
}

// updated returns the params of the notification with the URI as the client knows it; others
// says that the server is used by other persons as well.
func (m *Memory) updated(o origin, message wire.Message, others bool) (params []byte, ok bool) {
	part := message.Params.Member("uri")
	uri, isText := part.Text()
	asked, wanted := m.wantsUpdate(o, uri, others)
	if !wanted {
		return nil, false
	}
	params = rawParams(message)
	if isText {
		if asked == "" {
			m.mu.Lock()
			asked, _ = m.knownURI(o, uri)
			m.mu.Unlock()
		}
		if asked != uri {
			params = wire.AppendEdited(nil, message.Params, wire.Edit{Part: part, With: wire.AppendString(nil, asked)})
		}
	}
	return params, true
}

func rawParams(message wire.Message) []byte {
	if message.Params.IsAbsent() {
		return nil
	}
	return message.Params.Bytes()
}

// Begun is a session with a server that has just begun.
type Begun interface {
	// Send sends a request whose answer does not matter; it does not block.
	Send(method string, params []byte)
}

// Began takes in that a session with a server has begun in which the client has a part.
// If it is not the first one, the server is told again what the client had subscribed to.
// It does not block.
func (p *Passage) Began(session Session, server *fleet.Server, begun Begun) {
	for _, topic := range session.Memory().renew(originOf(server), begun) {
		begun.Send(topic.Subscribe())
	}
}

// Learn takes in the result of a tool call: if the server made the call a task, requests
// about that task are for the same server, and for clients of the same person.
func (p *Passage) Learn(session Session, ref toolbox.Ref, result wire.Payload) {
	task, ok := taskMade(result)
	if !ok {
		return
	}
	session.Memory().learnTask(task, origin{ref.Toolbox, ref.Server})
	if box, ok := p.Visible.Toolbox(ref.Toolbox); ok {
		if server, ok := box.Server(ref.Server); ok {
			p.carry(session).madeTask(server, task)
		}
	}
}

// Leave is to be called when a client leaves, before its party is closed. Servers whose sessions go on are told that
// its subscriptions ended, as far as nobody else has them. It does not block.
func (p *Passage) Leave(session Session) {
	carrier := p.carry(session)
	for key, of := range session.Memory().leave() {
		box, ok := p.Visible.Toolbox(key.origin.toolbox)
		if !ok {
			continue
		}
		server, ok := box.Server(key.origin.server)
		if !ok || carrier.live(server) != of {
			continue
		}
		method, params := key.topic.Unsubscribe()
		carrier.forward(server, forwarding{method: method, params: wire.Raw(params), canceller: &call.Canceller{}, replier: nobody{}})
	}
}

// nobody takes answers that do not matter.
type nobody struct{}

func (nobody) Reply(call.Outcome, error) {}
