package oauth

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
)

func TestAsksForLogin(t *testing.T) {
	for _, test := range []struct {
		name, challenge string
		status          int
		want            bool
	}{
		{"challenge", "Bearer", http.StatusUnauthorized, true},
		{"no challenge", "", http.StatusUnauthorized, true},
		{"forbidden with a challenge", `Bearer error="insufficient_scope"`, http.StatusForbidden, true},
		{"forbidden", "", http.StatusForbidden, false},
		{"open", "", http.StatusOK, false},
		{"no session", "", http.StatusBadRequest, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			requests := 0
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests++
				if test.challenge != "" {
					w.Header().Set("Www-Authenticate", test.challenge)
				}
				w.WriteHeader(test.status)
			}))
			defer web.Close()
			manager := New(Options{Store: credentials.Open(t.TempDir(), credentials.Options{})})
			defer manager.Close()
			got, err := manager.For(Server{URL: web.URL}).AsksForLogin(t.Context())
			if err != nil || got != test.want || requests != 1 {
				t.Errorf("got %v, %v after %d requests", got, err, requests)
			}
		})
	}
}
