package top

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/approve"
)

// dialog is a question that is answered, as approve does it: with a word, and to approve it with a code that is shown on
// this screen alone. Whatever else writes to the terminal does not know the code, and what is pasted does not count.
type dialog struct {
	text  text
	one   approve.Waiting
	bench *bench
	typed string
	meant approve.Choice
	code  string // to be typed; "" while the answer is chosen
	said  string // what came of what was typed
	ended bool   // it was answered, or waits no more
}

const maxTyped = 20 // characters of an answer or a code

// answer shows the selected question to answer it.
func (m *model) answer() {
	one, ok := m.table().selected()
	if !ok || m.current != questionsPane {
		m.note = "Select a question in pane 5 to answer it"
		return
	}
	question := *questionOf(one)
	switch {
	case !question.AnswersVia(config.AskTerminal):
		m.showPageOnly(one)
		return
	case !m.isPerson:
		m.note = "Questions are answered on the controlling terminal, which this is not"
		return
	}
	d := &dialog{one: approve.In(one.bench.Status, question), bench: one.bench}
	d.text.title = "Approve this call?"
	d.text.make = func(width int) []string {
		screen := screenOf(width)
		lines := append(approve.Describe(screen, d.one), "")
		for _, c := range approve.Choices() {
			lines = append(lines, strings.Split(screen.Wrap(fmt.Sprintf("  %-8s %s", c.Word, c.Meaning), 11), "\n")...)
		}
		return append(lines, "  same as  "+m.command(d.bench, "approve "+quote(question.ID)+" WORD"))
	}
	m.mode, m.dialog = answering, d
}

// screenOf is a screen of a width, for what lays out its lines itself.
func screenOf(width int) *tty.Screen {
	return tty.New(&bytes.Buffer{}, nil, func(name string) string { return map[string]string{"COLUMNS": strconv.Itoa(width)}[name] })
}

// check ends a question that waits no more.
func (d *dialog) check(now *state, at time.Time) {
	if d.ended || now.waits(d.one, at) {
		return
	}
	d.ended, d.code, d.said = true, "", approve.HowEnded(d.one)
}

// waits reports whether a question still waits for an answer.
func (s *state) waits(one approve.Waiting, at time.Time) bool {
	b := s.find(one.PID)
	return b != nil && at.Before(one.Deadline) && slices.ContainsFunc(b.questions, func(q control.Question) bool { return q.ID == one.ID })
}

// prompt is what the person is asked, at the end of the screen.
func (d *dialog) prompt() string {
	switch {
	case d.ended:
		return "Press Enter to go back."
	case d.code != "":
		return fmt.Sprintf("To confirm, type the code %s: %s", d.code, d.typed)
	}
	return "once, same, session, no or skip: " + d.typed
}

// typeAnswer is a key for a question.
func (m *model) typeAnswer(pressed tea.KeyPressMsg) {
	d := m.dialog
	switch pressed.Keystroke() {
	case "up", "down", "pgup", "pgdown", "home", "end":
		m.scroll(pressed)
		return
	case "esc":
		m.leaveDialog("Nothing was answered")
		return
	case "enter":
		if d.ended {
			m.leaveDialog(d.said)
			return
		}
		typed := strings.TrimSpace(d.typed)
		d.typed = ""
		m.enter(d, typed)
		return
	}
	if d.ended {
		return // what is still typed for it must not do anything else
	}
	d.said = ""
	d.typed = edit(d.typed, pressed, maxTyped)
}

func (m *model) leaveDialog(note string) { m.mode, m.dialog, m.note = moving, nil, note }

// enter takes a word or the code.
func (m *model) enter(d *dialog, typed string) {
	if d.code != "" {
		code := d.code
		d.code = "" // each is good for one attempt
		if typed != code {
			d.said = approve.WrongCode
			return
		}
		m.give(d)
		return
	}
	meant, ok := approve.Meant(approve.Choices(), typed)
	switch {
	case !ok:
		d.said = "Type once, same, session, no or skip"
	case meant.Skips:
		m.leaveDialog("Nothing was answered")
	case meant.Answer == approval.No:
		d.meant = meant
		m.give(d)
	case !d.text.isAtEnd():
		d.said = "Read it to the end first: press PgDn" // nobody approves what they have not seen
	default:
		d.meant = meant
		code, err := tty.NewCode()
		if err != nil {
			d.said = err.Error()
			return
		}
		d.code = code
	}
}

// answeredMsg says what became of an answer.
type answeredMsg struct {
	id   string // of the row
	note string
	err  error
}

// give passes the answer on. The question is gone from here at once, so that nobody answers it again.
func (m *model) give(d *dialog) {
	id, name := questionID(d.one.PID, d.one.ID), tty.CleanLine(d.one.ID)
	m.answered[id] = true
	m.leaveDialog("Answer " + name + "…")
	m.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(m.ctx, actTime)
		defer cancel()
		m.send(answeredMsg{id, approve.Outcome(d.meant.Answer), d.bench.Answer(ctx, d.one.ID, d.meant.Answer)})
	})
}

func (m *model) takeAnswered(message answeredMsg) {
	m.note = message.note
	if message.err != nil {
		delete(m.answered, message.id)
		m.note = explain(message.err)
	}
}

// questionID is the id of the row of a question.
func questionID(pid int, id string) string { return fmt.Sprintf("%d %s", pid, id) }

// waiting returns the questions of a workbench that wait for an answer.
func (m *model) waiting(b *bench) []*control.Question {
	var all []*control.Question
	for i := range b.questions {
		if !m.answered[questionID(b.pid(), b.questions[i].ID)] {
			all = append(all, &b.questions[i])
		}
	}
	return all
}
