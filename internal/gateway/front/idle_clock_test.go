package front

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestIdleClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock idleClock
		clock.hold()
		clock.hold()
		clock.release()
		<-time.After(time.Minute)
		if _, isIdle := clock.idleFor(); isIdle {
			t.Error("idle while the second is under way")
		}
		clock.release()
		<-time.After(time.Minute)
		if idle, isIdle := clock.idleFor(); !isIdle || idle != time.Minute {
			t.Errorf("idle for %v, %v; want a minute", idle, isIdle)
		}
	})
}

// idleWatch is a reply path that asks whether the session is idle when the response comes.
type idleWatch struct {
	noAnswer
	client *session
	isIdle bool
}

func (w *idleWatch) respond(response) { _, w.isIdle = w.client.idle.idleFor() }

// A request counts until its response, however long its HTTP request lasts.
func TestSessionIsNotIdleWhileARequestIsInFlight(t *testing.T) {
	client := newHTTPSession(newServer(Options{}), newSpillBuffer().of(""), sender{})
	message, err := wire.Parse(wire.NewFrame([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)))
	if err != nil {
		t.Fatal(err)
	}
	watch := &idleWatch{client: client.session}
	client.dispatch(&message, watch)
	if watch.isIdle {
		t.Error("idle with a request in flight")
	}
	if _, isIdle := client.idle.idleFor(); !isIdle {
		t.Error("not idle without a request")
	}
}
