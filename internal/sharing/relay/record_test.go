package relay

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// A request is answered once, whenever its connection breaks off: by who writes it while it
// is being written, and then by who notices the end. What was not written is sent again.
func TestRequestWhoseConnectionBreaksOff(t *testing.T) {
	frame := func() wire.Frame {
		return wire.NewFrame([]byte(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{}}`))
	}
	begin := func() (*record, *link, []string) {
		c, l := newRecord(), &link{}
		c.plan(l)
		requests, ok := c.recordSending(l, frame())
		if !ok || len(requests) != 1 {
			t.Fatalf("sending: %v, %t", requests, ok)
		}
		return &c, l, requests
	}
	t.Run("after it was written", func(t *testing.T) {
		c, l, requests := begin()
		if lost := c.recordSent(l, requests); len(lost) != 0 {
			t.Errorf("lost at once: %q", lost)
		}
		if lost, _ := c.removeLost(l); len(lost) != 1 || string(lost[0]) != `"a"` {
			t.Errorf("lost: %q", lost)
		}
	})
	t.Run("while it was written", func(t *testing.T) {
		c, l, requests := begin()
		if lost, _ := c.removeLost(l); len(lost) != 0 {
			t.Errorf("lost too early: %q", lost)
		}
		if lost := c.recordSent(l, requests); len(lost) != 1 || string(lost[0]) != `"a"` {
			t.Errorf("lost: %q", lost)
		}
	})
	t.Run("before it was written", func(t *testing.T) {
		c, l, requests := begin()
		if !c.removeUnsent(requests) {
			t.Error("it is not sent again")
		}
		if lost, _ := c.removeLost(l); len(lost) != 0 {
			t.Errorf("lost: %q", lost)
		}
		if _, ok := c.recordSending(l, frame()); ok {
			t.Error("it is sent again on the same connection")
		}
	})
	t.Run("after it was answered", func(t *testing.T) {
		c, l, requests := begin()
		c.recordReceived(l, wire.NewFrame([]byte(`{"jsonrpc":"2.0","id":"a","result":{}}`)))
		if lost := c.recordSent(l, requests); len(lost) != 0 {
			t.Errorf("lost: %q", lost)
		}
		if lost, _ := c.removeLost(l); len(lost) != 0 {
			t.Errorf("lost: %q", lost)
		}
	})
}
