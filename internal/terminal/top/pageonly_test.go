package top

import (
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// show begins with questions, and opens the one in front.
func (r *rig) show(questions ...control.Question) {
	for i := range questions {
		questions[i].Caller, questions[i].Client, questions[i].Deadline = "stdio", "claude", r.at.Add(time.Hour)
	}
	r.start(1, control.Event{Servers: servers(1), Questions: &questions})
}

var (
	form = control.Question{
		ID: "abcdef", Kind: control.Elicitation, Server: "dev/s0000", Tool: "dev/s0000/drop", Via: []string{"page"}, Message: "Which one?\nSay \x1b[2Jit.",
		Schema: []byte(`{"type":"object","properties":{"zone":{"type":"string"},"age":{"type":"integer"}}}`),
	}
	address  = control.Question{ID: "ghijkl", Kind: control.Elicitation, Server: "dev/s0000", Via: []string{"page"}, Message: "Log in", URL: "https://example.com/x"}
	pageOnly = control.Question{ID: "mnopq", Kind: control.Approval, Server: "dev/s0000", Tool: "dev/s0000/drop", Via: []string{"page"}, Rule: "rule '*'", Arguments: "n: 1"}
	anywhere = control.Question{ID: "rstuv", Kind: control.Approval, Server: "dev/s0000", Tool: "dev/s0000/drop", Via: []string{"page", "terminal"}}
)

// checkUnanswerable types all that answers elsewhere, and sees that it does nothing.
func (r *rig) checkUnanswerable() {
	r.Helper()
	r.see("answer it at: mcp-workbench ui")
	for _, word := range []string{"once", "session", "no"} {
		r.dontSee("Approve this call?", word+" ", "once, same", "WORD", "mcp-workbench approve", "type the code")
		r.press(word, "1234")
		if r.dialog != nil {
			r.Errorf("it can be answered with %q:\n%s", word, r.shows())
		}
		r.press("5")
		if asked := r.asked(); asked != "" {
			r.Errorf("answered %q", asked)
		}
		r.press("enter")
	}
}

func TestQuestionOfAServerIsShown(t *testing.T) {
	for _, isPerson := range []bool{true, false} {
		r := newRig(t, 80, 24)
		r.isPerson = isPerson
		r.show(form)
		r.press("5")
		r.see("> dev/s0000/drop", "Which one?")
		r.press("enter")
		r.see("A server asks a person", "server      dev/s0000", "call        dev/s0000/drop", "client      stdio, claude", "workbench   pid 1", "message     Which one?", "            Say it.",
			"fields      zone", "            age", "deadline", "1h00m left", "same as     mcp-workbench ui", "answer it at: mcp-workbench ui")
		r.dontSee("address", "policy", "\x1b")
		r.checkUnanswerable()
		r.tell(eventMsg{1, control.Event{Questions: &[]control.Question{}}})
		r.see("It was answered elsewhere")
		r.dontSee("answer it at", "same as")
		r.press("enter")
		r.see("no question waits")
	}
}

func TestAddressOfAServerIsShown(t *testing.T) {
	r := newRig(t, 40, 20)
	r.show(address)
	r.press("5")
	r.see("> dev/s0000")
	r.press("enter")
	r.see("message     Log in", "address     https://example.com/x", "same as     mcp-workbench ui", "answer it at: mcp-workbench ui")
	r.dontSee("fields", "call  ")
	r.checkUnanswerable()
	r.at = r.at.Add(2 * time.Hour)
	r.tell(clockMsg{})
	r.see("Its time is over")
}

func TestApprovalOnThePageOnlyIsShown(t *testing.T) {
	r := newRig(t, 80, 24)
	r.show(pageOnly)
	r.press("5", "enter")
	r.see("This call waits for approval", "Call mnopq waits for approval", "tool", "dev/s0000/drop", "policy", "rule '*'", "arguments", "n: 1", "same as", "mcp-workbench ui")
	r.checkUnanswerable()
}

func TestWhatWaitsIsCountedApart(t *testing.T) {
	for _, test := range []struct {
		questions []control.Question
		want      []string
	}{
		{[]control.Question{form, anywhere}, []string{"! 1 question of a server waits for an answer: mcp-workbench ui", "! 1 call waits for approval: mcp-workbench approve, or press 5"}},
		{[]control.Question{form, address}, []string{"! 2 questions of servers wait for an answer: mcp-workbench ui"}},
		{[]control.Question{pageOnly}, []string{"! 1 call waits for approval: mcp-workbench ui"}},
		{[]control.Question{anywhere, pageOnly, anywhere}, []string{"! 2 calls wait for approval: mcp-workbench approve, or press 5", "! 1 call waits for approval: mcp-workbench ui"}},
	} {
		r := newRig(t, 100, 24)
		r.show(test.questions...)
		r.see(test.want...)
		if strings.Count(r.shows(), "! ") != len(test.want) {
			t.Errorf("want %q alone in\n%s", test.want, r.shows())
		}
	}
}
