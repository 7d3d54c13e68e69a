package fleet

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// lone returns a configured server, of which nothing is ever started.
func lone(t *testing.T) *Server {
	t.Helper()
	f := New(Options{Config: &config.Config{Toolboxes: []config.Toolbox{{Name: "T", Servers: []config.Server{{Name: "S", Command: "x"}}}}}})
	box, _ := f.Toolbox("T")
	return box.Servers[0]
}

func TestRestEndsWhatNobodyElseIsThereFor(t *testing.T) {
	server := lone(t)
	a, b, plain := newMember(t, `{"elicitation":{}}`), newMember(t, `{"elicitation":{}}`), newMember(t, "")
	rooted := newMember(t, `{"roots":{}}`)
	shared, own := server.For(a.ClientProfile), server.For(rooted.ClientProfile)
	if server.For(b.ClientProfile) != shared || server.For(plain.ClientProfile) != server {
		t.Fatal("the clients are not where they belong")
	}
	rooted.MarkAway()
	if !own.isDismissed() {
		t.Error("the session of a client that is away goes on")
	}
	plain.MarkAway()
	if server.isDismissed() {
		t.Error("the configured server ended with a client")
	}
	a.MarkAway()
	if shared.isDismissed() {
		t.Error("a session ended that somebody is there for")
	}
	if a.MarkPresent(); server.For(a.ClientProfile) != shared {
		t.Error("who was away has lost a session that went on")
	}
	a.MarkAway()
	b.MarkAway()
	if !shared.isDismissed() {
		t.Error("a session goes on that nobody is there for")
	}
	if all := server.allVariants(); len(all) != 1 {
		t.Errorf("%d variants are left", len(all)-1)
	}

	rooted.MarkPresent()
	a.MarkPresent()
	again, next := server.For(rooted.ClientProfile), server.For(a.ClientProfile)
	if again == own || again.isDismissed() || next == shared || next.isDismissed() {
		t.Error("who came back did not get a session anew")
	}
	if b.MarkPresent(); server.For(b.ClientProfile) != next {
		t.Error("who came back later does not share the session")
	}
}

func TestWhoReturnsKeepsWhatWasNotAbandoned(t *testing.T) {
	server := lone(t)
	m := newMember(t, `{"roots":{}}`)
	own := server.For(m.ClientProfile)
	m.away.Store(true)
	m.MarkPresent()
	own.abandon() // as one that began when the client was away, and comes too late
	if own.isDismissed() || server.For(m.ClientProfile) != own {
		t.Error("the session of a client that is there was ended")
	}
	m.Close()
	if m.MarkPresent(); !m.away.Load() {
		t.Error("a client that is gone came back")
	}
}

func TestSharedSessionLingersForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := lone(t)
		a, b := newMember(t, `{"elicitation":{}}`), newMember(t, `{"elicitation":{}}`)
		first := server.For(a.ClientProfile)
		first.lives.Add(1) // as if it ran
		a.Close()
		<-time.After(lingerTime / 2) // of the bubble
		if server.For(b.ClientProfile) != first {
			t.Error("the session did not wait for the next client")
		}
		b.Close()
		<-time.After(lingerTime + time.Second)
		if !first.isDismissed() || len(server.allVariants()) != 1 {
			t.Error("the session waits for ever")
		}
		c := newMember(t, `{"elicitation":{}}`)
		second := server.For(c.ClientProfile)
		first.abandon() // as a timer of before would
		if all := server.allVariants(); len(all) != 2 || all[1] != second {
			t.Error("the end of a session takes the next one with it")
		}
		if c.Close(); !second.isDismissed() || len(server.allVariants()) != 1 {
			t.Error("a session that never began waits for the next client")
		}
	})
}

func TestAwayMembersDoNotKeepASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := lone(t)
		a, b := newMember(t, `{"elicitation":{}}`), newMember(t, `{"elicitation":{}}`)
		shared := server.For(a.ClientProfile)
		server.For(b.ClientProfile)
		a.MarkAway()
		if clients := shared.clients(); len(clients) != 2 || clients[0] != b.ClientProfile {
			t.Error("who is away comes before who is there")
		}
		b.Close()
		<-time.After(lingerTime + time.Second) // of the bubble
		if !shared.isDismissed() {
			t.Error("a session goes on for a client that is away")
		}
	})
}

// idleAfter has servers stopped after a short time without use.
func idleAfter(limit time.Duration) func(*config.Server) {
	return func(s *config.Server) { s.Timeouts.Idle = limit }
}

func TestIdleServerStaysForALiveCaller(t *testing.T) {
	const limit = 20 * time.Millisecond
	for name, end := range map[string]func(*ClientProfile){"closed": (*ClientProfile).Close, "away": (*ClientProfile).MarkAway} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"S": `{"tools":[{"name":"x","inputSchema":{}}]}`}, idleAfter(limit), Options{})
			server, m := r.server(t, "S"), newMember(t, "")
			lease, err := server.For(m.ClientProfile).Lease(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			lease.RecordCaller(m.ClientProfile)
			lease.RecordCaller(m.ClientProfile)
			lease.RecordCaller(nil)
			in := lease.instance
			lease.Release()
			eventually(t, "a look at the idle server", func() bool {
				_, held := server.retireIdle(in, limit)
				return held
			})
			signal(in.left) // looking again changes nothing
			if running := server.tryLease(""); running == nil {
				t.Fatal("the server was stopped while its caller was there")
			} else {
				running.Release()
			}
			end(m.ClientProfile)
			eventually(t, "the idle stop", func() bool { return server.Status().State == Idle })
		})
	}
}

func TestIdleLimitOfServersThatSayNothing(t *testing.T) {
	for _, test := range []struct{ configured, usual, want time.Duration }{
		{config.IdleUnset, 0, 0},
		{config.IdleUnset, time.Hour, time.Hour},
		{0, time.Hour, 0},
		{time.Minute, time.Hour, time.Minute},
	} {
		server := lone(t)
		server.config.Timeouts.Idle, server.fleet.options.Idle = test.configured, test.usual
		if got := server.idleLimit(); got != test.want {
			t.Errorf("with %s, and usually %s, the limit is %s; want %s", test.configured, test.usual, got, test.want)
		}
	}
}
