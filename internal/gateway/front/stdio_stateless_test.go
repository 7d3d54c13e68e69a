package front

import (
	"fmt"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// A request resumes a suspended call if it brings a state that this workbench gave out.
func TestRequestBringsAState(t *testing.T) {
	ours, another := newSuspendedCalls(), newSuspendedCalls()
	state := func(of *suspendedCalls) string { return `,"` + protocol.RequestState + `":"` + of.prefix + `1"` }
	for _, test := range []struct {
		members string
		want    bool
	}{{``, false}, {state(ours), true}, {state(another), false}} {
		message, err := wire.Parse(wire.NewFrame(
			fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n","arguments":{}%s}}`, test.members)))
		if err != nil {
			t.Fatal(err)
		}
		if brings := ours.isOurs(message.Params.Member(protocol.RequestState)); brings != test.want {
			t.Errorf("%s: that it brings a state of ours is %t", test.members, brings)
		}
	}
}
