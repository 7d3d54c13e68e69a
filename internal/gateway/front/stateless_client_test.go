package front

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestStatelessClientsAreToldApart(t *testing.T) {
	g := newStatelessClients(newServer(Options{}), 10)
	defer g.finish(nil, answerTime)
	enter := func(owner string, audience Audience, capabilities string) *statelessClient {
		client := g.enter(owner, account(owner), audience, declaring(capabilities))
		client.idle.release()
		return client
	}
	me := enter("me", Audience{}, `{}`)
	if me != enter("me", Audience{}, `{}`) {
		t.Error("the same client is another one")
	}
	for name, other := range map[string]*statelessClient{
		"another owner":      enter("you", Audience{}, `{}`),
		"other capabilities": enter("me", Audience{}, `{"roots":{}}`),
		"no toolboxes":       enter("me", Audience{Toolboxes: []string{}}, `{}`),
		"a toolbox":          enter("me", Audience{Toolboxes: []string{"a"}}, `{}`),
		"one toolbox":        enter("me", Audience{Only: "a"}, `{}`),
	} {
		if other == me {
			t.Errorf("%s: it is the same client", name)
		}
	}
	meta := declaring(`{}`)
	meta.distant = true
	distant := g.enter("me", "me", Audience{}, meta)
	if distant.idle.release(); distant == me {
		t.Error("a client on another machine is the same one")
	}
	if callerName(`a" "b`, Audience{}) == callerName("a", Audience{Only: "b"}) {
		t.Error("names can be confused")
	}
}

func TestIdleStatelessClientsAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStatelessClients(newServer(Options{}), 10)
		defer g.finish(nil, answerTime)
		idle := g.enter("idle", account("idle"), Audience{}, declaring(`{}`))
		busy := g.enter("busy", account("busy"), Audience{}, declaring(`{}`))
		idle.idle.release()
		<-time.After(defaultAway) // of the bubble
		g.sweep(defaultAway, anyOwner)
		if len(g.all()) != 2 {
			t.Errorf("%d clients are left, want both", len(g.all()))
		}
		<-time.After(time.Second) // of the bubble
		g.sweep(defaultAway, anyOwner)
		if all := g.all(); len(all) != 1 || all[0] != busy {
			t.Errorf("%d clients are left, want the busy one", len(all))
		}
		if len(g.server.sessions) != 1 {
			t.Errorf("the server knows %d sessions, want one", len(g.server.sessions))
		}
	})
}

func TestStatelessClientsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStatelessClients(newServer(Options{}), 2)
		defer g.finish(nil, answerTime)
		first := g.enter("first", account("first"), Audience{}, declaring(`{}`))
		first.idle.release()
		<-time.After(time.Second) // of the bubble
		second := g.enter("second", account("second"), Audience{}, declaring(`{}`))
		second.idle.release()
		third := g.enter("third", account("third"), Audience{}, declaring(`{}`))
		if third == nil || g.enter("second", account("second"), Audience{}, declaring(`{}`)) != second {
			t.Error("the one that was idle for the longest time did not make room")
		}
		if g.enter("fourth", account("fourth"), Audience{}, declaring(`{}`)) != nil {
			t.Error("there are more clients than allowed")
		}
		g.finish(nil, answerTime)
		if g.enter("fifth", account("fifth"), Audience{}, declaring(`{}`)) != nil {
			t.Error("a client came after the end")
		}
	})
}
