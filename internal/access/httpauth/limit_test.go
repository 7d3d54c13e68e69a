package httpauth

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestWrongTokensAreLimited(t *testing.T) {
	s, token := openStore(t)
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(inside, GateOptions{Store: s})
		from := func(remote, token string) int {
			r := request("POST", "/mcp", "Authorization: Bearer "+token)
			r.RemoteAddr = remote
			response := ask(g, r)
			if (response.Code == http.StatusTooManyRequests) != (response.Header().Get("Retry-After") == "1") {
				t.Errorf("status %d with headers %v", response.Code, response.Header())
			}
			return response.Code
		}
		for i := range wrongBurst {
			if got := from(fmt.Sprintf("10.0.0.1:%d", 1000+i), "wrong"); got != 401 {
				t.Fatalf("wrong token %d: status %d", i+1, got)
			}
		}
		for remote, want := range map[string]int{"10.0.0.1:5": 429, "[::ffff:10.0.0.1]:5": 429, "10.0.0.2:5": 401, "[2001:db8::1]:5": 401} {
			if got := from(remote, "wrong"); got != want {
				t.Errorf("%s: status %d, want %d", remote, got, want)
			}
		}
		if got := from("10.0.0.1:5", token); got != 200 {
			t.Errorf("the right token was locked out: status %d", got)
		}
		r := request("POST", "/mcp")
		r.RemoteAddr = "10.0.0.1:5"
		if got := ask(g, r).Code; got != 401 {
			t.Errorf("a missing token was taken for a wrong one: status %d", got)
		}
		<-time.After(time.Second) // of the bubble
		if first, second := from("10.0.0.1:5", "wrong"), from("10.0.0.1:5", "wrong"); first != 401 || second != 429 {
			t.Errorf("after a second: status %d and %d", first, second)
		}
	})
}

func TestLimiterIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		remote := func(i int) string { return fmt.Sprintf("[2001:db8:%x:%x::1]:80", i>>16, i&0xffff) }
		for i := range 2 * maxAddresses {
			l.allow(remote(i))
		}
		if len(l.counts) != maxAddresses {
			t.Errorf("%d addresses are counted", len(l.counts))
		}
		if l.allow(remote(3 * maxAddresses)) {
			t.Error("a newcomer has a count of its own although the table is full")
		}
		<-time.After(wrongBurst * time.Second) // of the bubble
		if !l.allow(remote(3*maxAddresses)) || len(l.counts) != 1 {
			t.Errorf("%d addresses are counted that did nothing for long", len(l.counts))
		}
	})
	if NetworkOf("[2001:db8::1]:80") != NetworkOf("[2001:db8::ffff]:81") || NetworkOf("10.0.0.1:80") == NetworkOf("10.0.0.2:80") {
		t.Error("addresses are not told apart by network")
	}
}
