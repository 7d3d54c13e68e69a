//go:build linux

package team

import (
	"net/http"
	"testing"
)

// TestForwarded: wrong tokens are counted for the address that a trusted proxy names, and for the proxy if it is not trusted.
func TestForwarded(t *testing.T) {
	for _, test := range []struct {
		name    string
		trusted []string
		limited bool // whether another address is
	}{
		{"trusted", []string{"127.0.0.0/8"}, false},
		{"not trusted", []string{"10.0.0.0/8"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, issuer := newClub(t, nil, members{"trustedProxies": test.trusted})
			wrong := func(address string) int {
				return m.send(request{token: "a.b.c", message: initialize, header: http.Header{"X-Forwarded-For": {address}}}).status
			}
			limited := 0
			for range 40 { // more than come back while it is counted
				if wrong("203.0.113.1") == http.StatusTooManyRequests {
					limited++
				}
			}
			if limited == 0 {
				t.Error("nothing was limited")
			}
			others := make(map[int]int)
			for range 5 {
				others[wrong("203.0.113.2")]++
			}
			if others[http.StatusTooManyRequests] > 0 != test.limited {
				t.Errorf("wrong tokens of another address get %v", others)
			}
			if got := m.send(request{token: issuer.Token(m.claims(nil)), message: initialize, header: http.Header{"X-Forwarded-For": {"203.0.113.1"}}}); got.status != http.StatusOK {
				t.Errorf("a right token of an address with wrong ones: %+v", got)
			}
		})
	}
}
