package passthrough

import (
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Notification decides whether a client gets a notification of a server, and returns its params for the client.
func (f *Forwarder) Notification(session Session, server *fleet.Server, message wire.Message) (params []byte, ok bool) {
	memory, o := session.Memory(), originOf(server)
	if !f.seesLists(session, server) || isAboutForeignTask(session, server, message) {
		return nil, false
	}
	switch string(message.Method) {
	case protocol.NotifyResourcesList, protocol.NotifyPromptsList:
		memory.recordNotified(string(message.Method))
	case protocol.NotifyResourceUpdated:
		return memory.updateParams(o, message, server.ServesOthers(session.Profile()))
	case protocol.NotifyTasks, protocol.NotifyTaskStatus:
		message.Params = f.Router.ReviseTaskNotice(server, session, message.Params)
		return memory.taskParams(o, message), true
	}
	return rawParams(message), true
}

// updateParams returns the params of an update with the URI that the client knows; ok is false if the client does not
// want it. servesOthers says that other people use the server too.
func (m *Memory) updateParams(o origin, message wire.Message, servesOthers bool) (params []byte, ok bool) {
	part := message.Params.Member(protocol.SubjectURI)
	uri, isText := part.Text()
	clientURI, wanted := m.wantsUpdate(o, uri, servesOthers)
	if !wanted {
		return nil, false
	}
	params = rawParams(message)
	if isText {
		if clientURI == "" {
			m.mu.Lock()
			clientURI, _ = m.clientURI(o, uri)
			m.mu.Unlock()
		}
		if clientURI != uri {
			params = wire.AppendEdited(nil, message.Params, wire.Edit{Part: part, With: wire.AppendString(nil, clientURI)})
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

// SessionBegan renews the subscriptions of a client in a new session with a server. It does not block.
func (f *Forwarder) SessionBegan(session Session, server *fleet.Server, begun *downstream.Session) {
	for _, topic := range session.Memory().moveSubscriptions(originOf(server), begun) {
		begun.Send(topic.Subscribe())
	}
}

// LearnTask records the task that a tool call became, if it did: requests about it go to the same server, and are
// allowed to clients of the same person.
func (f *Forwarder) LearnTask(session Session, ref toolbox.Ref, result wire.Payload) {
	id, ok := createdTask(result)
	if !ok {
		return
	}
	o := origin{ref.Toolbox, ref.Server}
	session.Memory().learnTask(id, o)
	if server := f.findServer(o); server != nil {
		server.RecordTask(session.Profile(), id)
	}
}

// ClientLeft ends the subscriptions of a client that no other client has, in the sessions that go on. Call it before the
// client's client is closed. It does not block.
func (f *Forwarder) ClientLeft(session Session) {
	for key, in := range session.Memory().dropSubscriptions() {
		server := f.findServer(key.origin)
		if server == nil || liveSession(server, session) != in {
			continue
		}
		method, params := key.topic.Unsubscribe()
		f.Router.Forward(server, &call.Forwarding{
			Method: method, Params: wire.Raw(params), Client: session, Canceller: &call.Canceller{}, Replier: make(waiter, 1),
		})
	}
}
