package front

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestGuestsAreToldApart(t *testing.T) {
	g := newStatelessClients(newServer(Options{}), 10)
	defer g.end(nil)
	enter := func(owner string, audience Audience, capabilities string) *statelessClient {
		client := g.enter(owner, account(owner), audience, modernTerms(capabilities))
		client.release()
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
	if callerName(`a" "b`, Audience{}) == callerName("a", Audience{Only: "b"}) {
		t.Error("names can be confused")
	}
}

func TestIdleGuestsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStatelessClients(newServer(Options{}), 10)
		defer g.end(nil)
		idle := g.enter("idle", account("idle"), Audience{}, modernTerms(`{}`))
		busy := g.enter("busy", account("busy"), Audience{}, modernTerms(`{}`))
		idle.release()
		<-time.After(defaultAway) // of the bubble
		g.sweep(defaultAway)
		if len(g.all()) != 2 {
			t.Errorf("%d guests are left, want both", len(g.all()))
		}
		<-time.After(time.Second) // of the bubble
		g.sweep(defaultAway)
		if all := g.all(); len(all) != 1 || all[0] != busy {
			t.Errorf("%d guests are left, want the busy one", len(all))
		}
		if len(g.server.sessions) != 1 {
			t.Errorf("the server knows %d sessions, want one", len(g.server.sessions))
		}
	})
}

func TestGuestsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStatelessClients(newServer(Options{}), 2)
		defer g.end(nil)
		first := g.enter("first", account("first"), Audience{}, modernTerms(`{}`))
		first.release()
		<-time.After(time.Second) // of the bubble
		second := g.enter("second", account("second"), Audience{}, modernTerms(`{}`))
		second.release()
		third := g.enter("third", account("third"), Audience{}, modernTerms(`{}`))
		if third == nil || g.enter("second", account("second"), Audience{}, modernTerms(`{}`)) != second {
			t.Error("the one that was idle for the longest time did not make room")
		}
		if g.enter("fourth", account("fourth"), Audience{}, modernTerms(`{}`)) != nil {
			t.Error("there are more guests than allowed")
		}
		g.end(nil)
		if g.enter("fifth", account("fifth"), Audience{}, modernTerms(`{}`)) != nil {
			t.Error("a guest came after the end")
		}
	})
}
