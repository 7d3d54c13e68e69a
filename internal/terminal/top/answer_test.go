package top

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/approve"
)

// ask has a call wait.
func (r *rig) ask(arguments string) {
	r.start(1, control.Event{Servers: servers(1), Questions: &[]control.Question{{
		ID: "abcde", Tool: "dev/s0000/drop", Caller: "stdio", Client: "claude", Arguments: arguments, Rule: "rule '*'", Deadline: r.at.Add(time.Hour),
	}}})
	r.see("! 1 call waits for approval: mcp-workbench approve, or press 5")
	r.press("5")
	r.see("[5 questions 1]", "> dev/s0000/drop", "abcde", "stdio")
	r.press("enter")
}

var shownCode = regexp.MustCompile(`To confirm, type the code ([0-9]{4}): *$`)

// code returns the code that is asked for.
func (r *rig) code() string {
	r.Helper()
	found := shownCode.FindStringSubmatch(r.shows())
	if found == nil {
		r.Fatalf("no code is asked for:\n%s", r.shows())
	}
	return found[1]
}

func TestApprove(t *testing.T) {
	for _, word := range []string{"once", "same", "session"} {
		r := newRig(t, 80, 24)
		r.ask("name: \"x\"")
		r.see("Call abcde waits for approval", "tool", "dev/s0000/drop", "caller", "stdio, claude", "policy", "rule '*'", "arguments", `name: "x"`, "mcp-workbench approve abcde WORD", "once, same, session, no or skip:")
		r.press(word, "enter")
		r.press(r.code()[:3], "enter") // too short
		r.see(approve.WrongCode)
		if asked := r.asked(); asked != "" {
			t.Fatalf("with a wrong code: %s", asked)
		}
		r.press(word, "enter")
		wrong := []byte(r.code())
		wrong[0] = '0' + (wrong[0]-'0'+1)%10
		r.press(string(wrong), "enter")
		r.see(approve.WrongCode, "once, same, session, no or skip:")
		r.press(word, "enter")
		r.tell(tea.PasteMsg{Content: r.code()})
		r.press("enter")
		r.see(approve.WrongCode) // what is pasted is not typed
		r.press(word, "enter")
		r.press(r.code())
		if asked := r.asked(); asked != "" {
			t.Fatalf("without Enter: %s", asked)
		}
		r.press("enter")
		if asked := r.asked(); asked != "answer abcde "+word {
			t.Errorf("answered %q", asked)
		}
		r.see("Approved")
	}
}

func TestRefuseAndSkip(t *testing.T) {
	r := newRig(t, 80, 24)
	r.ask("")
	r.press("x", "enter")
	r.see("Type once, same, session, no or skip")
	r.press("s", "enter") // of several
	r.see("Type once, same, session, no or skip")
	r.press("skip", "enter")
	r.press("enter", "esc")
	r.see("Nothing was answered")
	if asked := r.asked(); asked != "" {
		t.Errorf("answered %q", asked)
	}
	r.press("a", "n", "enter")
	if asked := r.asked(); asked != "answer abcde no" {
		t.Errorf("answered %q", asked)
	}
	r.see("no question waits", "Refused.") // though the workbench has not told yet
}

// Nobody approves what they have not seen.
func TestLongQuestionIsReadFirst(t *testing.T) {
	r := newRig(t, 70, 16)
	r.ask(strings.Repeat("line\n", 40) + "last: \"harm\"")
	r.dontSee("harm")
	r.press("once", "enter")
	r.see("Read it to the end first: press PgDn")
	for range 10 {
		r.press("pgdown")
	}
	r.press("up", "down")
	r.see("mcp-workbench approve abcde WORD")
	r.press("once", "enter")
	r.press(r.code(), "enter")
	if asked := r.asked(); asked != "answer abcde once" {
		t.Errorf("answered %q", asked)
	}
}

func TestQuestionThatEnds(t *testing.T) {
	r := newRig(t, 80, 24)
	r.ask("")
	r.press("once", "enter")
	code := r.code()
	r.tell(eventMsg{1, control.Event{Questions: &[]control.Question{{ID: "other", Deadline: r.at.Add(time.Hour)}}}})
	r.see("Press Enter to go back")
	r.press(code, "enter")
	if asked := r.asked(); asked != "" {
		t.Errorf("another question was answered: %q", asked)
	}
	r.see("[5 questions 1]")
	r.press("enter")
	r.at = r.at.Add(2 * time.Hour)
	r.tell(clockMsg{})
	r.see("Press Enter to go back")
}

func TestAnswerThatFails(t *testing.T) {
	r := newRig(t, 80, 24)
	r.ask("")
	r.live.benches[0].Answer = func(context.Context, string, approval.Answer) error { return control.NotWaiting("abcde") }
	r.press("no", "enter")
	r.settle()
	r.see("[5 questions 1]", "> dev/s0000/drop", "No call waits for approval as 'abcde'")
}

// A program that gives the command a terminal of its own is no person at the controlling one.
func TestOnlyAPersonAnswers(t *testing.T) {
	r := newRig(t, 100, 24)
	r.isPerson = false
	r.ask("")
	r.see("Questions are answered on the controlling terminal")
	r.press("once", "enter")
	if asked := r.asked(); asked != "" {
		t.Errorf("answered %q", asked)
	}
}
