package call

import (
	"bytes"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Forwarding is any request of a client that goes to one server as it is. What comes back
// is passed on as it is, too, errors included.
type Forwarding struct {
	Method    string
	Params    wire.Payload // as the client sent them; may be absent
	Edits     []wire.Edit  // of parts of Params
	Name      string       // of what the request is about, if it has a name
	Client    Client
	Canceller *Canceller // cancels the request
	Replier   Replier
}

// Forward begins to send a request to a configured server, which is started if needed; it
// does not block.
func Forward(server *fleet.Server, request Forwarding) {
	party := request.Client.Party()
	if lease := server.For(party).TryLease(); lease != nil {
		if request.logLevelToRequest(lease.Session) != "" {
			lease.Release()
		} else if request.send(lease) {
			return
		}
	}
	go startAndSend(server, party, &request, request.Canceller, request.Replier)
}

// logLevelToRequest implements sending.
func (request *Forwarding) logLevelToRequest(session *downstream.Session) (level string) {
	return logLevelToRequest(request.Client, session, request.Params.Member("_meta"))
}

// send implements sending.
func (request *Forwarding) send(lease *fleet.Lease) bool {
	if outcome, ok := request.answerHere(lease.Session); ok {
		lease.Release()
		request.Replier.Reply(outcome, nil)
		return true
	}
	isList := strings.HasSuffix(request.Method, "/list")
	if !isList { // reading a list leaves nothing behind
		lease.Called(request.Client.Party())
	}
	r := &run{
		client: request.Client, canceller: request.Canceller, replier: request.Replier, lease: lease, raw: true, passErrors: true,
		method: request.Method, about: request.Name, isList: isList, crossing: crossingOf(request.Client, lease.Session),
		token: bytes.Clone(request.Params.Member("_meta").Member(protocol.ProgressToken).Bytes()),
	}
	forward := downstream.Forward{
		Method: request.Method, Params: request.Params, Edits: request.Edits, Name: request.Name,
		Asker: downstream.Asker{Modern: request.Client.Party().Modern()},
	}
	if r.crossing == toLegacy && protocol.FindMethod(r.method).MayAsk && !request.Params.Member(protocol.RequestState).IsAbsent() {
		lease.Release()
		request.Replier.Reply(unknownState, nil)
		return true
	}
	if r.crossing != sameEra {
		r.translateForward(&forward)
	}
	var err error
	r.mu.Lock() // an answer has to wait until the id is known
	r.id, err = lease.Session.Forward(forward, r)
	r.mu.Unlock()
	if err != nil {
		lease.Release()
		return false
	}
	request.Canceller.setHook(r)
	return true
}
