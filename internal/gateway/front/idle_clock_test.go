package front

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPresence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p idleClock
		p.hold()
		p.hold()
		p.release()
		<-time.After(time.Minute)
		if _, isIdle := p.idleFor(); isIdle {
			t.Error("idle while the second is under way")
		}
		p.release()
		<-time.After(time.Minute)
		if idle, isIdle := p.idleFor(); !isIdle || idle != time.Minute {
			t.Errorf("idle for %v, %v; want a minute", idle, isIdle)
		}
	})
}

func TestHTTPSessionIsNotIdleWhileACallOutlastsItsPOST(t *testing.T) {
	client := newHTTPSession(newServer(Options{}), newSpillBuffer().of(""), "", Audience{})
	client.inFlight["1"] = nil
	if _, isIdle := client.idleFor(); isIdle {
		t.Error("idle with a request in flight")
	}
	delete(client.inFlight, "1")
	if _, isIdle := client.idleFor(); !isIdle {
		t.Error("not idle without a request")
	}
}
