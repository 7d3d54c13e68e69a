package call

import (
	"errors"
	"os"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// screener is a screen stage that is one function.
type screener func(call *Call) *Failure

func (s screener) Screen(call *Call) *Failure { return s(call) }

// What a screener refuses starts no server, whichever way it goes, and is observed.
func TestScreenedRequestStartsNothing(t *testing.T) {
	servers, log := serve(t, `{`+tools+`}`)
	refusal := &Failure{Message: "not by that name"}
	seen, c := newRecorder(t), newCaller()
	var refused bool
	router := NewRouter(Stages{
		Screen: []Screener{screener(func(call *Call) *Failure {
			if call.Server.Toolbox() != "T" || call.Server.Name() != "S" || call.Name != "x" || call.Method != "tools/call" || !call.Tool.IsAbsent() {
				t.Errorf("asked for %+v", call)
			}
			if refused {
				return refusal
			}
			return nil
		})},
		Admit: []Admitter{admitter(func(*Call) Verdict {
			if refused {
				t.Error("what was refused is to be admitted")
			}
			return Verdict{}
		})},
		Observe: []Observer{seen},
	})
	box, _ := servers.Toolbox("T")
	server, _ := box.Server("S")
	refused = true
	for _, send := range []func(){
		func() { c.callTool(router, servers, "x") },
		func() {
			router.Forward(server, &Forwarding{Method: "tools/call", Params: wire.Raw([]byte(`{"name":"x"}`)), Name: "x", Client: c, Canceller: new(Canceller), Replier: c})
		},
	} {
		seen.ended, seen.names = nil, nil
		send()
		if got := await(t, c.replies); !errors.Is(got.err, refusal) {
			t.Errorf("the reply is %+v", got)
		}
		if end, name := seen.only(); end.Status != StatusRefused || name != "T S tools/call x" {
			t.Errorf("observed was %s: %+v", name, end)
		}
	}
	if _, err := os.Stat(log); err == nil {
		t.Errorf("the server was started: %s", readAll(t, log))
	}
	refused = false
	c.callTool(router, servers, "x")
	if got := await(t, c.replies); got.err != nil {
		t.Errorf("the reply is %v", got.err)
	}
}
