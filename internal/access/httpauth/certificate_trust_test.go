package httpauth

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// When the authority of a certificate counts no more, so does the certificate: for the next request on its connection, and for those that
// run.
func TestCertificateOfFormerAuthority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var isFormer atomic.Bool
		ended := make(chan error, 1)
		next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			ended <- context.Cause(r.Context())
		})
		store, _ := openStore(t)
		gate := NewGate(next, GateOptions{
			Store: store, Rules: Rules{Clients: []config.ToolboxGrant{{Value: "ci"}}},
			Trusts: func(state *tls.ConnectionState) bool { return len(state.VerifiedChains) > 0 && !isFormer.Load() },
		})
		ctx, stop := context.WithCancel(t.Context())
		go gate.Watch(ctx)
		go func() {
			defer func() { _ = recover() }() // the connection is broken off
			ask(gate, withCertificate("ci", time.Now().Add(time.Hour)))
		}()
		time.Sleep(5 * time.Second)
		select {
		case err := <-ended:
			t.Fatal("the request ended:", err)
		default:
		}
		isFormer.Store(true)
		time.Sleep(2 * time.Second)
		select {
		case err := <-ended:
			if !errors.Is(err, ErrTokenEnded) {
				t.Error(err)
			}
		default:
			t.Error("the request goes on")
		}
		if response := ask(gate, withCertificate("ci", time.Now().Add(time.Hour))); response.Code != http.StatusUnauthorized {
			t.Errorf("another request: %d", response.Code)
		}
		stop()
		synctest.Wait()
	})
}
