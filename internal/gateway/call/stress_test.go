package call

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// Whenever a client cancels, answers and refuses questions, a stage decides, and the server crashes: each request is
// answered once and observed once. The race detector finds most of what can go wrong here.
func TestConcurrentRequestsEndOnce(t *testing.T) {
	const questions = `"a":{"method":"elicitation/create","params":{}},"b":{"method":"elicitation/create","params":{}}`
	for name, spec := range map[string]string{
		"results": `{` + tools + `,"calls":{"y":[{"exit":3}]}}`,
		"rounds":  `{"era":"modern",` + tools + `,"calls":{"x":[{"result":{"resultType":"input_required","requestState":"s","inputRequests":{` + questions + `}}}],"y":[{"exit":3}]}}`,
		"tasks": `{"era":"modern",` + tools + `,"on":{"tasks/get":[{"result":{"status":"input_required","pollIntervalMs":1,"inputRequests":{` + questions + `}}}]},
			"calls":{"x":[{"result":{"resultType":"task","taskId":"t-1","status":"working","pollIntervalMs":1}}],"y":[{"exit":3}]}}`,
	} {
		for _, modern := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, modern %t", name, modern), func(t *testing.T) {
				servers, _ := serve(t, oneLine(spec))
				seen := newRecorder(t)
				router := NewRouter(Stages{Observe: []Observer{seen}, Admit: []Admitter{admitter(randomVerdict)}})
				var all sync.WaitGroup
				for worker := range 8 {
					all.Go(func() {
						for i := range 30 {
							tool := "x"
							if worker == 0 && i == 20 {
								tool = "y" // the server crashes
							}
							callAtRandom(t, router, servers, tool, modern)
						}
					})
				}
				all.Wait()
				if len(seen.open) > 0 || len(seen.ended) != 8*30 {
					t.Errorf("%d requests ended, %d did not", len(seen.ended), len(seen.open))
				}
			})
		}
	}
}

// pauseAtRandom lets other goroutines go first, or not.
func pauseAtRandom() {
	for range rand.IntN(1000) {
		runtime.Gosched()
	}
}

// hasty is a client that cancels its call at some time, or not.
type hasty struct {
	*answerer
	canceller Canceller
}

func (h *hasty) cancelAtRandom(one int) {
	if rand.IntN(one) == 0 {
		go func() {
			pauseAtRandom()
			h.canceller.Cancel(Cancelled{})
		}()
	}
}

// Ask implements Client.
func (h *hasty) Ask(q *downstream.Question) {
	h.cancelAtRandom(10)
	go func() {
		pauseAtRandom()
		if rand.IntN(10) == 0 {
			q.Refuse(-1, "no")
			return
		}
		q.Answer(respond(`{"action":"accept"}`))
	}()
}

func randomVerdict(call *Call) Verdict {
	switch rand.IntN(6) {
	case 0:
		return Verdict{Refusal: &Failure{Message: "no"}}
	case 1:
		return Verdict{Wait: func(ctx context.Context) *Failure {
			call.Client.(*hasty).cancelAtRandom(1)
			<-ctx.Done()
			return nil
		}}
	case 2:
		return Verdict{Wait: func(context.Context) *Failure { pauseAtRandom(); return nil }}
	}
	return Verdict{}
}

func callAtRandom(t *testing.T, router *Router, servers Toolboxes, tool string, modern bool) {
	options := everything
	options.Modern = modern
	client := &hasty{answerer: newAnswerer(t, options, nil)}
	router.CallTool(servers, &Request{
		Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: tool}, Arguments: wire.Raw([]byte(`{"a":1}`)), Meta: wire.Raw([]byte(`{"progressToken":1,` + hop + `}`)),
		Client: client, Canceller: &client.canceller, Replier: client,
	})
	client.cancelAtRandom(4)
	client.cancelAtRandom(4)
	await(t, client.replies)
	select {
	case again := <-client.replies:
		t.Errorf("answered twice: %+v", again)
	default:
	}
}
