package approve

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

func list(t *testing.T, find Finder) ([]*control.Client, []Waiting) {
	t.Helper()
	found, err := find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := List(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	return found, waiting
}

// running runs a command while the test is at its terminal.
func running(command func() error) (ended chan error) {
	ended = make(chan error, 1)
	go func() { ended <- command() }()
	return ended
}

func codeOf(err error) toolbox.Code {
	if known, ok := errors.AsType[*toolbox.Error](err); ok {
		return known.Code
	}
	return ""
}

func TestDecideAll(t *testing.T) {
	w, find := runningWorkbench(t, question("a", "dev/s/one"), question("b", "dev/s/two"), question("c", "dev/s/three"), question("d", "dev/s/four"))
	person, terminal := newPerson(t)
	found, waiting := list(t, find)
	ended := running(func() error { return person.DecideAll(t.Context(), found, waiting) })
	terminal.see("4 calls wait for approval")
	terminal.see("Approve dev/s/one?")
	terminal.enter("s") // same, session or skip
	terminal.see("Type once, same, session, no or skip.")
	terminal.enter("")
	terminal.see("Type once")
	terminal.enter("Same")
	terminal.enter(terminal.code())
	terminal.see("Approved, also for later calls with the same arguments")
	terminal.see("Approve dev/s/two?")
	terminal.enter("skip")
	terminal.see("Approve dev/s/three?")
	terminal.enter("no")
	terminal.see("Refused.")
	terminal.see("Approve dev/s/four?")
	terminal.enter("o")
	terminal.enter(terminal.code())
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := w.answered(); got != "a same,c no,d once" {
		t.Errorf("answered %s", got)
	}
}

func TestNothingWaits(t *testing.T) {
	_, find := runningWorkbench(t)
	person, terminal := newPerson(t)
	found, waiting := list(t, find)
	if err := person.DecideAll(t.Context(), found, waiting); err != nil {
		t.Error(err)
	}
	terminal.see("No call waits for approval.")
}

func TestWrongCode(t *testing.T) {
	for _, typed := range []string{"", "once", "0", "00000"} {
		w, find := runningWorkbench(t, question("a", "dev/s/one"))
		person, terminal := newPerson(t)
		found, waiting := list(t, find)
		ended := running(func() error { return person.DecideAll(t.Context(), found, waiting) })
		terminal.see("Approve dev/s/one?")
		terminal.enter("once")
		terminal.code()
		terminal.enter(typed)
		if err := <-ended; codeOf(err) != toolbox.WrongCode {
			t.Errorf("%q: %v", typed, err)
		}
		if got := w.answered(); got != "" {
			t.Errorf("%q answered %s", typed, got)
		}
	}
}

func TestAnswerOne(t *testing.T) {
	for _, answer := range []approval.Answer{approval.Once, approval.Same, approval.Session, approval.No} {
		w, find := runningWorkbench(t, question("a", "dev/s/one"), question("b", "dev/s/two"))
		person, terminal := newPerson(t)
		_, waiting := list(t, find)
		one, err := Find(waiting, "B")
		if err != nil {
			t.Fatal(err)
		}
		ended := running(func() error { return person.Answer(t.Context(), one, answer) })
		terminal.see("dev/s/two")
		terminal.enter(terminal.code())
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := w.answered(); got != "b "+answer.String() {
			t.Errorf("answered %s", got)
		}
		if err := one.workbench.Answer(t.Context(), "b", answer); codeOf(err) != toolbox.QuestionNotFound {
			t.Errorf("a second time: %v", err)
		}
	}
}

// A call whose time is over while the code is typed is not answered.
func TestTimeIsOver(t *testing.T) {
	late := question("a", "dev/s/one")
	late.Deadline = time.Now().Add(100 * time.Millisecond)
	w, find := runningWorkbench(t, late)
	person, terminal := newPerson(t)
	_, waiting := list(t, find)
	if err := person.Answer(t.Context(), waiting[0], approval.Once); codeOf(err) != toolbox.QuestionNotFound {
		t.Errorf("got %v", err)
	}
	terminal.code()
	if got := w.answered(); got != "" {
		t.Errorf("answered %s", got)
	}
}

func TestInterrupted(t *testing.T) {
	_, find := runningWorkbench(t, question("a", "dev/s/one"))
	person, terminal := newPerson(t)
	found, waiting := list(t, find)
	ctx, cancel := context.WithCancel(t.Context())
	ended := running(func() error { return person.DecideAll(ctx, found, waiting) })
	terminal.see("Approve dev/s/one?")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestFind(t *testing.T) {
	one, other := &control.Client{Status: control.Workbench{PID: 1}}, &control.Client{Status: control.Workbench{PID: 2}}
	all := append(waitingIn(one, []control.Question{{ID: "a"}, {ID: "b"}}), waitingIn(other, []control.Question{{ID: "a"}})...)
	for id, want := range map[string]toolbox.Code{"a": toolbox.SeveralRunning, "b": "", "c": toolbox.QuestionNotFound, "": toolbox.QuestionNotFound} {
		if got, err := Find(all, id); codeOf(err) != want || err == nil && got.ID != id {
			t.Errorf("%q: %+v, %v", id, got, err)
		}
	}
}

// What clients and tools say cannot control the terminal, nor look like a part of the question.
func TestForeignText(t *testing.T) {
	const bad = "x\x1b[2J\x1b]0;title\x07\u202e\u009b1A\r\x00"
	asked := question("a"+bad, "dev/s/"+bad+"\npolicy       none")
	asked.Caller, asked.Client, asked.Rule, asked.Because = bad, bad+"\n  tool       dev/s/harmless", bad+"\n", bad
	asked.Arguments = "a: \"" + bad + "two  spaces\"\n  tool       dev/s/harmless\n" + strings.Repeat("long", 100) +
		strings.ReplaceAll("\n"+strings.Repeat("x", 67)+"  tool       dev/s/harmless", " ", "\u00a0")
	_, find := runningWorkbench(t, asked)
	person, terminal := newPerson(t)
	found, waiting := list(t, find)
	ctx, cancel := context.WithCancel(t.Context())
	ended := running(func() error { return person.DecideAll(ctx, found, waiting) })
	terminal.see("once, same, session, no or skip:")
	cancel()
	<-ended
	shown := strings.ReplaceAll(terminal.all(), "\r\n", "\n")
	if strings.ContainsAny(shown, "\x1b\x07\r\x00\u202e\u009b") {
		t.Errorf("it shows %q", shown)
	}
	_, fields, _ := strings.Cut(shown, " left\n")
	fields, _, _ = strings.Cut(fields, "  once ")
	var labels []string
	for line := range strings.Lines(fields) {
		if label := strings.TrimSpace(line[:valueColumn]); label != "" {
			labels = append(labels, label)
		}
	}
	if got := strings.Join(labels, ","); got != "tool,caller,workbench,policy,reason,arguments" {
		t.Errorf("it has the fields %s:\n%s", got, shown)
	}
	shown = strings.ReplaceAll(shown, "\n"+strings.Repeat(" ", valueColumn), "")
	for _, whole := range []string{strings.Repeat("long", 100), "two  spaces"} {
		if !strings.Contains(shown, whole) {
			t.Errorf("there is no %q", whole)
		}
	}
}
