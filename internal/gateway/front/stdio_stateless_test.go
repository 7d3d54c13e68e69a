package front

import (
	"fmt"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Each request has its own terms, and goes on with what another began if it says so, however
// many were written alike before it.
func TestTermsOfRequestsThatAreWrittenAlike(t *testing.T) {
	meta := func(more string) string {
		return `,"_meta":{"` + protocol.MetaProtocolVersion + `":"2026-07-28","` + protocol.MetaClientCapabilities + `":{}` + more + `}`
	}
	plain, loud := meta(``), meta(`,"`+protocol.MetaLogLevel+`":"debug"`)
	other := meta(`,"` + protocol.MetaClientInfo + `":{"name":"x"}`)
	parking, another := newSuspendedCalls(), newSuspendedCalls()
	ours := plain + `,"` + protocol.RequestState + `":"` + parking.prefix + `1"`
	others := plain + `,"` + protocol.RequestState + `":"` + another.prefix + `1"`
	p := &pipe{session: &session{}}
	for i, more := range []string{plain, plain, loud, loud, plain, other, loud, meta(`,"progressToken":1`), meta(`,"progressToken":2`), ours, plain, ``, others, ours} {
		message, err := p.session.forms.Parse(wire.NewFrame(
			fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"n","arguments":{}%s}}`, i, more)))
		if err != nil {
			t.Fatal(err)
		}
		got, want := p.metaOf(&message), readMeta(message.Params.Member("_meta"))
		for name, pair := range map[string][2]wire.Payload{
			"revision": {got.revision, want.revision}, "capabilities": {got.capabilities, want.capabilities},
			"info": {got.info, want.info}, "level": {got.level, want.level}, "token": {got.token, want.token},
		} {
			if got, want := string(pair[0].Bytes()), string(pair[1].Bytes()); got != want {
				t.Errorf("request %d: the %s is %s, want %s", i, name, got, want)
			}
		}
		if brings := parking.isBroughtBy(&message); brings != (more == ours) {
			t.Errorf("request %d: that it brings a state of ours is %t", i, brings)
		}
		if _, problem := metatool.ReadCall(&message); problem != "" {
			t.Fatal(problem)
		}
	}
}
