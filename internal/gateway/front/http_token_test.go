package front

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// A person sees the name of a client's token, and a client whose token was removed is not there any more.
func TestHTTPClientsByToken(t *testing.T) {
	server := newServer(Options{})
	var isRemoved atomic.Bool
	sweeps := make(chan struct{})
	address, _ := listen(t, server, HTTPOptions{
		ClientIdle: 4 * sweepPause,
		Identify: func(r *http.Request) Identity {
			name := r.Header.Get("Test-Token")
			return Identity{ID: "id of " + name, Caller: "token:" + name, Credential: Credential{ID: "one of " + name}}
		},
		Valid: func() func(id, credential string, expires time.Time) bool {
			select {
			case sweeps <- struct{}{}:
			default: // nobody waits for one
			}
			return func(id, credential string, _ time.Time) bool {
				return id == "id of laptop" && credential == "one of laptop" || !isRemoved.Load()
			}
		},
	})
	for _, name := range []string{"laptop", "phone"} {
		join(t, address+"/mcp", "Test-Token: "+name)
	}
	tokens := func() (names []string) {
		for _, client := range server.Clients() {
			names = append(names, client.Caller)
		}
		return names
	}
	if got := tokens(); len(got) != 2 || got[0] != "token:laptop" || got[1] != "token:phone" {
		t.Fatalf("the tokens of the clients are %q", got)
	}
	isRemoved.Store(true)
	for range 2 { // the first has ended when the second begins
		select {
		case <-sweeps:
		case <-time.After(10 * time.Second):
			t.Fatal("nothing looks for removed tokens")
		}
	}
	if got := tokens(); len(got) != 1 || got[0] != "token:laptop" {
		t.Errorf("the token of 'phone' was removed, and there are clients of %q", got)
	}
}
