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
		client := g.enter(sender{person: owner, account: account(owner), audience: audience}, declaring(capabilities))
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
	distant := g.enter(sender{person: "me", account: "me", audience: Audience{}}, meta)
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
		idle := g.enter(sender{person: "idle", account: account("idle"), audience: Audience{}}, declaring(`{}`))
		busy := g.enter(sender{person: "busy", account: account("busy"), audience: Audience{}}, declaring(`{}`))
		idle.idle.release()
		<-time.After(defaultAway) // of the bubble
		g.sweep(defaultAway, anybody)
		if len(g.all()) != 2 {
			t.Errorf("%d clients are left, want both", len(g.all()))
		}
		<-time.After(time.Second) // of the bubble
		g.sweep(defaultAway, anybody)
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
		first := g.enter(sender{person: "first", account: account("first"), audience: Audience{}}, declaring(`{}`))
		first.idle.release()
		<-time.After(time.Second) // of the bubble
		second := g.enter(sender{person: "second", account: account("second"), audience: Audience{}}, declaring(`{}`))
		second.idle.release()
		third := g.enter(sender{person: "third", account: account("third"), audience: Audience{}}, declaring(`{}`))
		if third == nil || g.enter(sender{person: "second", account: account("second"), audience: Audience{}}, declaring(`{}`)) != second {
			t.Error("the one that was idle for the longest time did not make room")
		}
		if g.enter(sender{person: "fourth", account: account("fourth"), audience: Audience{}}, declaring(`{}`)) != nil {
			t.Error("there are more clients than allowed")
		}
		g.finish(nil, answerTime)
		if g.enter(sender{person: "fifth", account: account("fifth"), audience: Audience{}}, declaring(`{}`)) != nil {
			t.Error("a client came after the end")
		}
	})
}
