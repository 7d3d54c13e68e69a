package approval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// hasty is a client that answers at any time, twice, or not at all.
type hasty struct{ profile *fleet.ClientProfile }

func (h hasty) Profile() *fleet.ClientProfile { return h.profile }
func (hasty) Notify(string, []byte) error     { return nil }
func (hasty) TryNotify(string, []byte)        {}

func (hasty) Ask(question *downstream.Question) {
	for range rand.IntN(3) {
		go func() {
			for range rand.IntN(200) { // others go first
				runtime.Gosched()
			}
			word := []string{"once", "same", "session", "no", "never"}[rand.IntN(5)]
			question.Answer(wire.Message{Result: wire.Raw([]byte(accept(word)))})
		}()
	}
}

// Answers of clients and terminals, cancellations, ends of sessions and reloads at once: every question ends, and nothing is left.
func TestEverythingAtOnce(t *testing.T) {
	d := newDesk(true)
	var asking, meddling sync.WaitGroup
	var isOver atomic.Bool
	for range 2 {
		meddling.Go(func() {
			changes, end := d.Subscribe(config.AskTerminal)
			defer end()
			for !isOver.Load() {
				select {
				case <-changes:
				case <-time.After(time.Millisecond):
					d.PolicyChanged()
				}
				for _, one := range d.Waiting() {
					_ = d.Answer(one.ID, Answer(rand.IntN(4)), []string{config.AskTerminal, config.AskPage}[rand.IntN(2)]) // another may have been faster
				}
			}
		})
	}
	for i := range 20 {
		asking.Go(func() {
			for n := range 100 {
				c := hasty{fleet.NewClientProfile(fleet.ProfileOptions{Capabilities: []byte(forms), Modern: i%2 == 0})}
				var calls sync.WaitGroup
				for range 3 {
					calls.Go(func() {
						ctx, cancel := context.WithTimeout(context.Background(), rand.N(3*time.Millisecond))
						defer cancel()
						question := (&client{profile: c.profile}).question(try{via: everywhere, arguments: fmt.Sprintf(`{"n":%d}`, n%2), caller: fmt.Sprint(i)})
						question.Call.Client = c
						d.Ask(ctx, question)
					})
				}
				if n%3 == 0 {
					c.profile.Close()
				}
				calls.Wait()
				c.profile.Close()
			}
		})
	}
	asking.Wait()
	isOver.Store(true)
	meddling.Wait()
	if len(d.waiting) > 0 || len(d.watchers) > 0 || len(d.memory.sessions) > 0 || d.memory.order.Len() > 0 {
		t.Errorf("left: %d calls, %d watchers, %d sessions, %d approvals", len(d.waiting), len(d.watchers), len(d.memory.sessions), d.memory.order.Len())
	}
	d.Close()
}
