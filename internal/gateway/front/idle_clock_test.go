package front

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
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

func TestHTTPSessionIsNotIdleWhileACallOutlastsItsPOST(t *testing.T) {
	client := newHTTPSession(newServer(Options{}), newSpillBuffer().of(""), "", Audience{})
	client.idle.hold() // as dispatch does
	r := &request{session: client.session, reply: reply{to: noAnswer{}, key: "1"}}
	if _, ok := client.requests.add("1", r); !ok {
		t.Fatal("the request was refused")
	}
	if _, isIdle := client.idle.idleFor(); isIdle {
		t.Error("idle with a request in flight")
	}
	r.respond(metatool.Answer{Text: []byte("{}")})
	if _, isIdle := client.idle.idleFor(); !isIdle {
		t.Error("not idle without a request")
	}
}
