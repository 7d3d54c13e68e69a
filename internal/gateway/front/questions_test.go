package front

import (
	"errors"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// fullPath is the way to a client that does not read.
type fullPath struct{ t *testing.T }

func (fullPath) tryNotify(outgoing) bool { return false }

func (p fullPath) notify(message outgoing) error {
	p.t.Errorf("it would block with %s", message.method)
	return errors.New("blocked")
}

func (fullPath) respond(response) {}

// Whoever asks has a limit of time, and does not wait for a client that does not read.
func TestClientThatDoesNotReadIsNotWaitedFor(t *testing.T) {
	s := newSession(newServer(Options{}), identity{})
	s.declare(protocol.Revision20251125, []byte(`{"elicitation":{}}`))
	r := &request{session: s, reply: reply{to: fullPath{t}}}
	r.TryNotify(protocol.NotifyProgress, []byte(`{}`))
	r.suspension.mu.Lock() // as by a notification of the server that blocks
	r.TryNotify(protocol.NotifyProgress, []byte(`{}`))
	r.suspension.mu.Unlock()

	refused := false
	question := downstream.NewQuestion(protocol.MethodElicitation, wire.Raw([]byte(`{}`)), func(response wire.Message, _ bool) {
		refused = !response.Error.IsAbsent()
	})
	r.Ask(question)
	if !refused || len(s.questions.open) > 0 {
		t.Errorf("refused is %t, and %d questions are open", refused, len(s.questions.open))
	}
}
