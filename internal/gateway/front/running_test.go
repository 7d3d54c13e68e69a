package front

import (
	"sync"
	"testing"
)

// A list of what runs is made while calls come and go, and shows each as its client asked for it.
func TestRunningBesideCalls(t *testing.T) {
	c := newEchoClient(t, "legacy")
	call, want := c.useTool()
	ended := make(chan struct{})
	var lookers sync.WaitGroup
	for range 2 {
		lookers.Go(func() {
			for {
				for _, one := range c.server.Running() {
					if one.ID() == "" || one.Name != "echo" || one.Client != "t" {
						t.Errorf("it runs as %+v", one)
					}
				}
				if c.server.Cancel("nobody's") {
					t.Error("a call that does not exist was cancelled")
				}
				select {
				case <-ended:
					return
				default:
				}
			}
		})
	}
	for range 500 {
		c.expect(call, want)
	}
	close(ended)
	lookers.Wait()
	if left := c.server.Running(); len(left) > 0 {
		t.Errorf("all calls are answered, and %d run", len(left))
	}
}
