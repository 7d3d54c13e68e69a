package approve

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

func TestWatch(t *testing.T) {
	w, find := runningWorkbench(t)
	person, terminal := newPerson(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := running(func() error { return person.Watch(ctx, find) })
	terminal.see("Waiting for calls that need approval")
	one, two, three := question("a", "dev/s/one"), question("b", "dev/s/two"), question("c", "dev/s/three")
	w.change(one)
	terminal.see("\a")
	terminal.see("Approve dev/s/one?")
	// Another one comes while the person is asked: the bell rings, and the question is repeated.
	w.change(one, two)
	terminal.see("\a")
	terminal.see("Another call waits: dev/s/two")
	terminal.see("Approve dev/s/one?")
	// The first ends elsewhere.
	w.change(two)
	terminal.see("It was answered elsewhere, or its caller gave up.")
	terminal.see("Approve dev/s/two?")
	terminal.enter("session")
	wrong := terminal.code()
	terminal.enter(wrong + "0")
	terminal.see("That is not the code, so nothing was answered.")
	terminal.see("Approve dev/s/two?")
	terminal.enter("session")
	// It ends while the code is typed.
	code := terminal.code()
	w.change(three)
	terminal.see("It was answered elsewhere")
	terminal.see("Approve dev/s/three?")
	terminal.enter(code)
	terminal.see("Type once, same")
	terminal.enter("skip")
	terminal.see("Waiting for further calls.")
	w.change(three, one)
	terminal.see("Approve dev/s/one?")
	terminal.enter("once")
	terminal.enter(terminal.code())
	terminal.see("Approved, for this call.")
	terminal.see("Waiting for further calls.")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := w.answered(); got != "a once" {
		t.Errorf("answered %s", got)
	}
	eventually(t, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.watchers) > 0 {
			return errors.New("it is still watched")
		}
		return nil
	})
}

// Watch waits for a workbench that is not running yet, and ends if it cannot look for one.
func TestWatchFinds(t *testing.T) {
	w, find := runningWorkbench(t, question("a", "dev/s/one"))
	person, terminal := newPerson(t)
	looked := 0
	ended := running(func() error {
		return person.Watch(t.Context(), func(ctx context.Context) ([]*control.Client, error) {
			switch looked++; looked {
			case 1:
				return nil, &toolbox.Error{Code: toolbox.NotRunning}
			case 2:
				return find(ctx)
			}
			if w.answered() == "" {
				return nil, &toolbox.Error{Code: toolbox.NotRunning}
			}
			return nil, fmt.Errorf("the folder is gone")
		})
	})
	terminal.see("Approve dev/s/one?")
	terminal.enter("no")
	if err := <-ended; err == nil || err.Error() != "the folder is gone" {
		t.Errorf("got %v", err)
	}
}
