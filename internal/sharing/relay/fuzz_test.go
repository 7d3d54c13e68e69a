package relay

import (
	"bytes"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Whatever either side sends, it is noted without harm, and what is for the client stays as
// it is.
func FuzzRecord(f *testing.F) {
	for _, seed := range []string{
		initialize, initialized, setLevel, subscribe, "#opened \"a\"", "#", "[]", "[" + setLevel + "," + initialized + "]",
		`{"jsonrpc":"2.0","id":"a\"b","result":{}}`, `{"jsonrpc":"2.0","id":`, `{"jsonrpc":"2.0","id":7,"method":"x"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || bytes.ContainsAny(data, "\r\n") {
			return
		}
		c, l := newRecord(), &link{}
		c.plan(l)
		requests, _ := c.recordSending(l, wire.NewFrame(bytes.Clone(data)))
		c.recordSent(l, requests)
		frame := wire.NewFrame(bytes.Clone(data))
		if c.recordReceived(l, frame) && !bytes.Equal(frame.Bytes(), data) {
			t.Errorf("%q became %q", data, frame.Bytes())
		}
		c.removeLost(l)
		c.plan(&link{})
	})
}
