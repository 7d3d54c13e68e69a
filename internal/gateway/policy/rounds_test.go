package policy

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

var modern = fleet.ProfileOptions{Caller: "stdio", Modern: true}

func limitOf(calls int) config.PolicyRule {
	return config.PolicyRule{File: "f", Else: config.Deny, Limit: &config.PolicyLimit{Calls: calls, Window: time.Hour}}
}

// counter counts without a limit.
type counter struct{ taken int }

func (c *counter) Take([]Claim) (over int, again time.Duration, err error) {
	c.taken++
	return -1, 0, nil
}

// trial is a stage with what it uses.
type trial struct {
	t      *testing.T
	who    *asker
	counts *counter
	rounds *Rounds
	policy *Policy
	stage  *Stage
}

func newTrial(t *testing.T, rules ...config.PolicyRule) *trial {
	a := &trial{t: t, who: &asker{answer: approve}, counts: &counter{}, rounds: NewRounds(), policy: of(config.PolicyFile{Rules: rules})}
	a.stage = NewStage(a.policy, StageOptions{Asker: a.who, Ledger: a.counts, Rounds: a.rounds, Current: func() *Policy { return a.policy }})
	return a
}

// send sends a request, and checks how often a person was asked and the ledger counted by now.
func (a *trial) send(step string, request call.Call, status call.Status, asked, counted int) {
	a.t.Helper()
	if refusal := admit(a.stage, &request); refusal != "" {
		a.t.Errorf("%s: %s", step, refusal)
	}
	a.rounds.CallEnded(&request, call.End{Status: status})
	if len(a.who.asked) != asked || a.counts.taken != counted {
		a.t.Errorf("%s: asked %d times, want %d; counted %d times, want %d", step, len(a.who.asked), asked, a.counts.taken, counted)
	}
	if len(a.rounds.begun) > 0 {
		a.t.Errorf("%s: %d requests are kept after their end", step, len(a.rounds.begun))
	}
}

func TestRoundsOfOneCall(t *testing.T) {
	request := *requestBy(t, modern)
	a := newTrial(t, all(config.Ask), limitOf(1))
	a.send("the call", request, call.StatusInputRequired, 1, 1)
	a.send("its second round", request, call.StatusInputRequired, 1, 1)
	rewritten := request
	rewritten.Arguments = wire.Raw([]byte(`{ "n": 1.0 }`))
	a.send("its third round, written otherwise", rewritten, call.StatusOK, 1, 1)
	a.send("another call", request, call.StatusOK, 2, 2)
	for i, status := range []call.Status{
		call.StatusOK, call.StatusToolError, call.StatusRPCError, call.StatusFailed, call.StatusRefused, call.StatusCancelled,
	} {
		a.send("a call after one that is over", request, status, 3+i, 3+i)
	}
}

// What is approved or counted is one call of one client.
func TestOtherCallsAreNoRounds(t *testing.T) {
	first := *requestBy(t, modern)
	for name, change := range map[string]func(*call.Call){
		"arguments":    func(c *call.Call) { c.Arguments = wire.Raw([]byte(`{"n":2}`)) },
		"no arguments": func(c *call.Call) { c.Arguments = wire.Payload{} },
		"tool":         func(c *call.Call) { c.Name = "other" },
		"definition":   func(c *call.Call) { c.Tool = tool(`{"readOnlyHint":true}`) },
		"doubt":        func(c *call.Call) { c.HintsDoubted = true },
		"client":       func(c *call.Call) { c.Client = requestBy(t, modern).Client },
	} {
		a := newTrial(t, all(config.Ask), limitOf(1))
		other := first
		change(&other)
		a.send(name, first, call.StatusInputRequired, 1, 1)
		a.send(name, other, call.StatusOK, 2, 2)
		a.send(name, first, call.StatusOK, 2, 2)
	}
	odd, a := first, newTrial(t, all(config.Ask))
	odd.Arguments = wire.Raw([]byte(`{"n":1,"n":1}`))
	a.send("read in different ways", odd, call.StatusInputRequired, 1, 0)
	a.send("read in different ways", odd, call.StatusInputRequired, 2, 0)
	older, a := *requestOf(t, "stdio"), newTrial(t, all(config.Ask))
	a.send("an older client", older, call.StatusInputRequired, 1, 0)
	a.send("an older client", older, call.StatusInputRequired, 2, 0)
	if len(a.rounds.open) > 0 {
		t.Error("a request of a client that never sends it again is kept")
	}
}

// A round is judged as any call: what nobody was asked about is asked, and what is denied by now is refused.
func TestRoundsAreJudged(t *testing.T) {
	request := *requestBy(t, modern)
	a := newTrial(t, limitOf(1))
	a.send("counted", request, call.StatusInputRequired, 0, 1)
	now := roundOf(&request, &Query{Ref: aRef})
	if a.rounds.resume(&request, now, a.policy, true) {
		t.Error("nobody was asked about the call, and nobody is asked about its next round")
	}
	a.policy = of(config.PolicyFile{Rules: []config.PolicyRule{limitOf(1)}})
	a.send("the same rules, read again", request, call.StatusInputRequired, 0, 1)
	former := a.policy
	a.policy = of(config.PolicyFile{Rules: []config.PolicyRule{limitOf(2)}})
	a.send("other rules", request, call.StatusOK, 0, 2)
	a.policy = of(config.PolicyFile{Rules: []config.PolicyRule{all(config.Deny)}})
	if admit(a.stage, &request) == "" {
		t.Error("a round is not refused that is denied by now")
	}
	a.policy = former
	a.rounds.PolicyChanged()
	a.send("the former rules again", request, call.StatusOK, 0, 3)
}

// A person who is asked while the policy changes approves the call of the new one.
func TestPolicyChangesInARound(t *testing.T) {
	request := *requestBy(t, modern)
	a := newTrial(t, all(config.Ask))
	later := of(config.PolicyFile{Rules: []config.PolicyRule{all(config.Ask), limitOf(1)}})
	a.who.answer = func() *call.Failure {
		a.policy = later
		return nil
	}
	a.send("the call", request, call.StatusInputRequired, 1, 1)
	a.send("its next round", request, call.StatusOK, 1, 1)
}

// Of requests at the same time, one is the next round.
func TestRoundsAreUsedOnce(t *testing.T) {
	request := *requestBy(t, modern)
	a := newTrial(t, limitOf(1))
	a.send("the call", request, call.StatusInputRequired, 0, 1)
	now := roundOf(&request, &Query{Ref: aRef})
	var resumed [20]bool
	var wg sync.WaitGroup
	for i := range resumed {
		wg.Go(func() {
			again := request
			resumed[i] = a.rounds.resume(&again, now, a.policy, false)
			a.rounds.CallEnded(&again, call.End{Status: call.StatusOK})
		})
	}
	wg.Wait()
	if n := len(slices.DeleteFunc(resumed[:], func(is bool) bool { return !is })); n != 1 {
		t.Errorf("%d requests are the next round", n)
	}
	// Two calls have a next round each.
	one, two := request, request
	for _, each := range []*call.Call{&one, &two} {
		if refusal := a.stage.Admit(each).Wait(context.Background()); refusal != nil {
			t.Fatal(refusal)
		}
	}
	a.rounds.CallEnded(&one, call.End{Status: call.StatusInputRequired})
	a.rounds.CallEnded(&two, call.End{Status: call.StatusInputRequired})
	a.send("the first", request, call.StatusOK, 0, 3)
	a.send("the second", request, call.StatusOK, 0, 3)
	a.send("a third", request, call.StatusOK, 0, 4)
}

func TestRoundsAreForgotten(t *testing.T) {
	request := *requestBy(t, modern)
	synctest.Test(t, func(t *testing.T) {
		a := newTrial(t, limitOf(1))
		a.send("the call", request, call.StatusInputRequired, 0, 1)
		time.Sleep(roundTime - time.Second)
		a.send("in time", request, call.StatusInputRequired, 0, 1)
		time.Sleep(roundTime - time.Second)
		a.send("in time again", request, call.StatusInputRequired, 0, 1)
		time.Sleep(roundTime)
		a.send("late", request, call.StatusInputRequired, 0, 2)
		if len(a.rounds.open) != 1 {
			t.Errorf("%d calls are kept", len(a.rounds.open))
		}
	})
	a := newTrial(t, limitOf(1))
	numbered := func(i int) call.Call {
		other := request
		other.Arguments = wire.Raw(fmt.Appendf(nil, `{"n":%d}`, i))
		return other
	}
	for i := range maxRounds + 1 {
		a.send("many", numbered(i), call.StatusInputRequired, 0, i+1)
	}
	a.send("the oldest that is kept", numbered(1), call.StatusOK, 0, maxRounds+1)
	a.send("the oldest", numbered(0), call.StatusOK, 0, maxRounds+2)
	request.Client.Profile().Close()
	if len(a.rounds.open) > 0 || len(a.rounds.sessions) > 0 {
		t.Errorf("%d calls of %d clients are kept that are gone", len(a.rounds.open), len(a.rounds.sessions))
	}
	a.send("after its client", numbered(1), call.StatusInputRequired, 0, maxRounds+3)
	if len(a.rounds.open) > 0 || len(a.rounds.sessions) > 0 {
		t.Error("a call is kept that ended after its client")
	}
}
