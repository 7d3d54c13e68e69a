package approve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Person is who answers, at the controlling terminal. All texts about calls come from others, and are cleaned before they
// are shown.
type Person struct {
	screen *tty.Screen

	mu     sync.Mutex
	prompt string // what the person is asked now; "": nothing
}

// NewPerson returns the person at a terminal.
func NewPerson(screen *tty.Screen) *Person { return &Person{screen: screen} }

// The outcomes of a question that are not an answer.
var (
	errSkipped = errors.New("the person decides later")
	errEnded   = errors.New("the call does not wait any more")
)

// Choice is a word to answer with.
type Choice struct {
	Word, Meaning string
	Answer        approval.Answer
	Skips         bool
}

// Choices returns all words to answer with; that which skips is the last one.
func Choices() []Choice {
	return []Choice{
		{Word: "once", Meaning: "approve this call", Answer: approval.Once},
		{Word: "same", Meaning: "also later calls with the same arguments, in this session", Answer: approval.Same},
		{Word: "session", Meaning: "also later calls of this tool with any arguments, in this session", Answer: approval.Session},
		{Word: "no", Meaning: "refuse it", Answer: approval.No},
		{Word: "skip", Meaning: "decide later", Skips: true},
	}
}

// Meant returns the choice that a person typed, by its word or the beginning of it.
func Meant(choices []Choice, typed string) (Choice, bool) {
	var meant []Choice
	for _, c := range choices {
		if typed != "" && strings.HasPrefix(c.Word, strings.ToLower(typed)) {
			meant = append(meant, c)
		}
	}
	if len(meant) != 1 {
		return Choice{}, false
	}
	return meant[0], true
}

// outcomes say what an answer did.
var outcomes = map[approval.Answer]string{
	approval.Once:    "Approved, for this call.",
	approval.Same:    "Approved, also for later calls with the same arguments in this session.",
	approval.Session: "Approved, also for later calls of this tool in this session.",
	approval.No:      "Refused.",
}

// Outcome says what an answer did.
func Outcome(answer approval.Answer) string { return outcomes[answer] }

// Answer shows a call and, once the person has confirmed it with the code, gives the answer.
func (p *Person) Answer(ctx context.Context, one Waiting, answer approval.Answer) error {
	p.show(one)
	return notWaiting(one, during(ctx, one, func(ctx context.Context) error {
		if err := p.confirm(ctx); err != nil {
			return err
		}
		return p.give(ctx, one, answer)
	}))
}

// Decide shows a call, asks what to answer, and gives the answer.
func (p *Person) Decide(ctx context.Context, one Waiting) error {
	err := p.decide(ctx, one)
	if errors.Is(err, errSkipped) {
		return nil
	}
	return notWaiting(one, err)
}

func notWaiting(one Waiting, err error) error {
	if errors.Is(err, errEnded) {
		return control.NotWaiting(one.ID)
	}
	return err
}

// decide is Decide that tells calls apart which were skipped, or ended meanwhile. An approval is confirmed with the code; a
// refusal needs none.
func (p *Person) decide(ctx context.Context, one Waiting) error {
	p.show(one)
	width := 0
	choices := Choices()
	for _, c := range choices {
		width = max(width, len(c.Word))
	}
	for _, c := range choices {
		fmt.Fprintf(p.screen, "  %s  %s\n", p.screen.Paint(tty.Strong, fmt.Sprintf("%-*s", width, c.Word)), p.screen.Wrap(c.Meaning, width+4))
	}
	return during(ctx, one, func(ctx context.Context) error {
		chosen, err := p.choose(ctx, one)
		switch {
		case err != nil:
			return err
		case chosen.Skips:
			return errSkipped
		case chosen.Answer != approval.No:
			if err := p.confirm(ctx); err != nil {
				return err
			}
		}
		return p.give(ctx, one, chosen.Answer)
	})
}

// during asks until the call's time is over. A call that ends meanwhile gives errEnded.
func during(ctx context.Context, one Waiting, ask func(context.Context) error) error {
	limited, cancel := context.WithDeadlineCause(ctx, one.Deadline, errEnded)
	defer cancel()
	err := ask(limited)
	if err != nil && errors.Is(context.Cause(limited), errEnded) {
		return errEnded
	}
	return err
}

// show writes what is known of a call. Nothing is cut: a person cannot approve what they do not see.
func (p *Person) show(one Waiting) {
	caller := one.Caller
	if one.Client != "" {
		caller += ", " + one.Client
	}
	left := time.Until(one.Deadline).Round(time.Second)
	fmt.Fprintf(p.screen, "\n%s  %s\n", p.screen.Paint(tty.Strong, "Call "+tty.CleanLine(one.ID)+" waits for approval"),
		p.screen.Paint(tty.Faint, fmt.Sprintf("%s left", max(left, 0))))
	p.field("tool", tty.CleanLine(one.Tool), tty.Name)
	p.field("caller", tty.CleanLine(caller), tty.Plain)
	p.field("workbench", tty.CleanLine(fmt.Sprintf("pid %d: %s", one.PID, one.workbench.Status.Describe())), tty.Plain)
	p.field("policy", tty.CleanLine(one.Rule), tty.Plain)
	if one.Because != "" {
		p.field("reason", tty.CleanLine(one.Because), tty.Plain)
	}
	if strings.TrimSpace(one.Arguments) == "" {
		p.field("arguments", "none", tty.Plain)
		return
	}
	label := "arguments"
	for line := range strings.SplitSeq(one.Arguments, "\n") {
		p.field(label, tty.Clean(line), tty.Plain) // spaces matter here
		label = ""
	}
}

// Describe returns all that is known of a call, as lines for a screen.
func Describe(screen *tty.Screen, one Waiting) []string {
	var out bytes.Buffer
	NewPerson(screen.On(&out)).show(one)
	return strings.Split(strings.Trim(out.String(), "\n"), "\n")
}

// valueColumn is where the values of fields begin. Nothing of a value is left of it, so that no text of others can look like
// a field.
const valueColumn = 13

func (p *Person) field(label, value string, style tty.Style) {
	width, _ := p.screen.Size()
	margin := strings.Repeat(" ", valueColumn)
	var lines []string
	for line := range strings.SplitSeq(p.screen.Wrap(value, valueColumn), "\n"+margin) {
		// A word that does not fit is broken here, since the terminal would continue it in the first column.
		for part := range strings.SplitSeq(runewidth.Wrap(line, max(width-valueColumn, 1)), "\n") {
			lines = append(lines, p.screen.Paint(style, part))
		}
	}
	name := p.screen.Paint(tty.Faint, label) + strings.Repeat(" ", valueColumn-2-len(label))
	fmt.Fprintf(p.screen, "  %s%s\n", name, strings.Join(lines, "\n"+margin))
}

// shortName names the tool on one line, where it was or will be shown in full.
func shortName(one Waiting) string { return tty.Cut(tty.CleanLine(one.Tool), 40) }

// choose asks until one of the choices is meant.
func (p *Person) choose(ctx context.Context, one Waiting) (Choice, error) {
	choices := Choices()
	var words []string
	for _, c := range choices {
		words = append(words, c.Word)
	}
	list := strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	for {
		typed, err := p.ask(ctx, fmt.Sprintf("Approve %s? %s:", shortName(one), list))
		if err != nil {
			return Choice{}, err
		}
		if meant, ok := Meant(choices, typed); ok {
			return meant, nil
		}
		fmt.Fprintf(p.screen, "Type %s.\n", list)
	}
}

// WrongCode says what came of another code than the one that was shown.
const WrongCode = "That is not the code, so nothing was answered"

// confirm has the person type a code that is shown only here, so that a program without a terminal cannot answer, and that
// nothing is approved by what a person happened to type.
func (p *Person) confirm(ctx context.Context) error {
	code, err := tty.NewCode()
	if err != nil {
		return err
	}
	typed, err := p.ask(ctx, fmt.Sprintf("To confirm, type the code %s:", code))
	if err != nil {
		return err
	}
	if typed != code {
		return &toolbox.Error{Code: toolbox.WrongCode, Message: WrongCode, Hint: "The call still waits. Try again: mcp-workbench approve"}
	}
	return nil
}

// give passes the answer on. The answer ends the call's wait, and with it the context, so the wait for its receipt does not
// depend on that.
func (p *Person) give(ctx context.Context, one Waiting, answer approval.Answer) error {
	err := one.workbench.Answer(context.WithoutCancel(ctx), one.ID, answer)
	if err == nil {
		fmt.Fprintln(p.screen, Outcome(answer))
	}
	return err
}

func (p *Person) ask(ctx context.Context, question string) (string, error) {
	p.setPrompt(question)
	defer p.setPrompt("")
	return p.screen.Ask(ctx, question, "")
}

func (p *Person) setPrompt(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prompt = text
}

// ring rings the bell for another call. If the person is being asked, the call is named, and the question repeated.
func (p *Person) ring(one Waiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprint(p.screen, "\a")
	text := "Another call waits: " + shortName(one)
	if !one.AnswersVia(config.AskTerminal) {
		if text = elsewhere(one); p.prompt == "" {
			p.say(text)
		}
	}
	if p.prompt != "" {
		fmt.Fprintf(p.screen, "\n%s\n%s ", p.screen.Paint(tty.Caution, text), p.prompt)
	}
}

// say writes a remark that is not part of a question.
func (p *Person) say(text string) { fmt.Fprintln(p.screen, p.screen.Paint(tty.Faint, text)) }
