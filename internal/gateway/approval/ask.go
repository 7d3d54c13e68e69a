package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/subject"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// progressTime is how often a client learns that its call still waits. Many clients give up after a minute of silence.
const progressTime = 5 * time.Second

// Ask implements policy.Asker: it returns nil when a person allows the call, or has allowed it before.
func (d *Desk) Ask(ctx context.Context, question *policy.Question) *call.Failure {
	a := d.newAsking(question)
	switch {
	case d.memory.allows(a.entry.session, a.entry.subject):
		a.settled = decision{answer: Once, by: byEarlier}
		return a.tell(nil)
	case !a.viaClient && len(a.entry.Via) == 0:
		return a.tell(a.cannotAsk())
	case !d.add(a.entry):
		return a.refusal("too many calls wait for approval already", "Try again when they are answered.")
	}
	defer d.remove(a.entry)
	if d.memory.allows(a.entry.session, a.entry.subject) { // by an answer to a call that waited until now
		a.settled = decision{answer: Once, by: byEarlier}
		return a.tell(nil)
	}
	if d.options.Observer != nil {
		d.options.Observer.Asked(question.Call, &a.entry.Waiting)
	}
	refusal := a.wait(ctx)
	a.withdraw()
	return a.tell(refusal)
}

// tell tells the observer how a question ended, and returns the refusal.
func (a *asking) tell(refusal *call.Failure) *call.Failure {
	if a.desk.options.Observer == nil {
		return refusal
	}
	answer := Unanswered
	switch {
	case refusal == nil:
		answer = a.settled.answer.String()
	case a.settled.by != 0:
		answer = No.String()
	}
	a.desk.options.Observer.Answered(a.question.Call, &a.entry.Waiting, answer, deciders[a.settled.by])
	return refusal
}

// asking is one call while people are asked about it.
type asking struct {
	desk     *Desk
	question *policy.Question
	client   call.Client
	isModern bool   // the client
	tool     string // quoted
	entry    *entry

	viaClient bool
	first     []string // the client is asked only if nobody watches who would answer by one of these ways

	form    *downstream.Question // that the client has not answered; nil: none
	answers chan clientAnswer    // of the client; gets one

	approved bool     // by a terminal or a page; the client has to come back
	settled  decision // that counts; zero while there is none
}

func (d *Desk) newAsking(question *policy.Question) *asking {
	asked, profile := question.Call, question.Call.Client.Profile()
	via, now, shows := question.Ask.Via, time.Now(), viewer{d.options.Mask}
	ways, first := d.waysBeside(via)
	return &asking{
		desk: d, question: question, client: asked.Client, isModern: profile.Modern(), answers: make(chan clientAnswer, 1),
		tool:      shownTool(question.Ref),
		viaClient: slices.Contains(via, config.AskClient) && profile.AnswersForms(),
		first:     first,
		entry: &entry{
			session: profile, subject: subject.New(question.Ref, asked.Tool, asked.Arguments), decided: make(chan decision, 1),
			Waiting: Waiting{
				Since: now, Deadline: now.Add(question.Ask.Timeout), Caller: question.Caller, Client: profile.Name(), Ref: question.Ref,
				Shown: shows.arguments(asked.Arguments), Rule: question.Reason.Where(), Because: shows.masked(question.Reason.Why()), Via: ways,
			},
		},
	}
}

// waysBeside returns those ways of the policy by which others than the client can answer, and which of them come first.
func (d *Desk) waysBeside(via []string) (ways, first []string) {
	if !d.options.Reachable {
		return nil, nil
	}
	for _, way := range via {
		if way == config.AskClient {
			first = ways[:len(ways):len(ways)]
			continue
		}
		ways = append(ways, way)
	}
	return ways, first
}

// wait returns nil when somebody allows the call.
func (a *asking) wait(ctx context.Context) *call.Failure {
	deadline := time.NewTimer(time.Until(a.entry.Deadline))
	defer deadline.Stop()
	tick := time.NewTicker(progressTime)
	defer tick.Stop()
	a.report()
	for {
		isForOthers, changed := a.desk.isWatched(a.first)
		if a.viaClient && a.form == nil && !a.approved && !isForOthers {
			a.askClient()
		}
		select {
		case decided := <-a.entry.decided:
			if refusal, isOver := a.handleDecision(decided); isOver {
				return refusal
			}
		case got := <-a.answers:
			if refusal, isOver := a.handleAnswer(got); isOver {
				return refusal
			}
		case <-tick.C:
			a.report()
		case <-changed:
		case <-deadline.C:
			return a.late()
		case <-ctx.Done():
			return a.late() // unless the call was cancelled, of which the caller knows
		}
	}
}

// askClient sends the form to the client.
func (a *asking) askClient() {
	a.form = downstream.NewQuestion(protocol.MethodElicitation, params(a.message(), a.isModern), func(response wire.Message, unsupported bool) {
		a.answers <- read(response, unsupported)
	})
	a.client.Ask(a.form)
}

// withdraw takes the form back that the client has not answered.
func (a *asking) withdraw() {
	if a.form != nil {
		a.form.Withdraw()
	}
}

// handleDecision handles a decision that did not come from the client; isOver is false if the call waits for the client
// all the same: a modern client that was asked gets the result only when it comes back, and the result would have to be
// kept until then.
func (a *asking) handleDecision(decided decision) (refusal *call.Failure, isOver bool) {
	if decided.answer == No || a.form == nil {
		return a.verdict(decided), true
	}
	select {
	case got := <-a.answers: // at the same time
		if got.isNo() {
			decided = decision{answer: No, by: byClient}
		}
		return a.verdict(decided), true
	default:
	}
	if a.approved = a.isModern; a.approved {
		a.settled = decided
		a.desk.remember(a.entry, decided.answer)
		return nil, false
	}
	return a.verdict(decided), true
}

// handleAnswer handles the client's answer; isOver is false if others are still asked.
func (a *asking) handleAnswer(got clientAnswer) (refusal *call.Failure, isOver bool) {
	a.form = nil
	switch {
	case a.approved && (got.dismissed || got.unable):
		return nil, true
	case got.unable && len(a.entry.Via) > 0:
		a.viaClient = false
		return nil, false
	case got.unable:
		a.viaClient = false
		return a.cannotAsk(), true
	}
	a.desk.remove(a.entry) // from now on nobody else can decide
	select {
	case other := <-a.entry.decided:
		if other.answer == No {
			return a.verdict(other), true
		}
	default:
	}
	by := byClient
	if got.dismissed {
		by = byDismissal
	}
	return a.verdict(decision{answer: got.answer, by: by}), true
}

// verdict returns what follows from a decision.
func (a *asking) verdict(decided decision) *call.Failure {
	a.settled = decided
	switch {
	case decided.answer != No:
		a.desk.remember(a.entry, decided.answer)
		return nil
	case decided.by == byStop:
		return a.refusal("the workbench ends", "")
	case decided.by == byDismissal:
		return a.refusal("the question was dismissed without an answer", "Ask the user whether to try again.")
	}
	return a.refusal("a person said no", "Do not try again: use another tool, or ask the user what to do instead.")
}

// late is for a call about which nobody decided in time.
func (a *asking) late() *call.Failure {
	a.desk.remove(a.entry) // from now on nobody can decide
	select {
	case decided := <-a.entry.decided: // at the last moment
		if refusal, isOver := a.handleDecision(decided); isOver {
			return refusal
		}
	default:
	}
	if a.approved {
		return a.refusal(fmt.Sprintf("a person allowed it %s, but the client did not come back for it within %s", places[a.settled.by], short(a.question.Ask.Timeout)), "Try again.")
	}
	hint := fmt.Sprintf("Ask %s to be ready to answer %s, and try again.", a.answerers(), strings.Join(a.ways(), " or "))
	return a.refusal(fmt.Sprintf("nobody approved it within %s", short(a.question.Ask.Timeout)), hint)
}

// answerers says who can answer: at the client, its user.
func (a *asking) answerers() string {
	if a.viaClient {
		return "the user"
	}
	return policy.Advisers(a.entry.Caller)
}

// ways says where a person can answer, in the order of the policy.
func (a *asking) ways() (ways []string) {
	for _, via := range a.question.Ask.Via {
		switch {
		case via == config.AskClient && a.viaClient:
			ways = append(ways, "in this client")
		case via != config.AskClient && slices.Contains(a.entry.Via, via):
			ways = append(ways, commands[via])
		}
	}
	return ways
}

// commands are how people answer who are not at the client.
var commands = map[string]string{
	config.AskTerminal: "with 'mcp-workbench approve'",
	config.AskPage:     "on the page of 'mcp-workbench ui'",
}

// places are where people were who allowed a call for which the client has to come back.
var places = map[decider]string{byTerminal: "at a terminal", byPage: "on the page", byEarlier: "earlier"}

// cannotAsk is for a call that nobody can be asked about.
func (a *asking) cannotAsk() *call.Failure {
	via := a.question.Ask.Via
	hint := "Do not try again: use another tool, or ask " + policy.Advisers(a.entry.Caller)
	switch {
	case !slices.ContainsFunc(via, func(way string) bool { return way != config.AskClient }):
		return a.refusal("this client cannot be asked", hint+", who can allow 'terminal' or 'page' in policy.ask.via, or use a client that supports elicitation.")
	case !slices.Contains(via, config.AskClient):
		return a.refusal(unreachable(via)+" cannot reach this workbench", hint+", who can use a shared workbench.")
	}
	return a.refusal("nobody can be asked: there is no person at this client, and "+unreachable(via)+" cannot reach this workbench", hint+".")
}

// unreachable names the commands with which a person would answer.
func unreachable(via []string) string {
	if slices.Contains(via, config.AskTerminal) {
		return "'mcp-workbench approve'"
	}
	return "'mcp-workbench ui'"
}

// rule is the rule that asks, as the client may read it. Those who answer elsewhere read more.
func (a *asking) rule() string { return a.question.Reason.ShownTo(a.entry.Caller).Where() }

// refusal is the error of a call that was not approved.
func (a *asking) refusal(why, hint string) *call.Failure {
	text := fmt.Sprintf("it "+Needed+"(%s)", a.rule())
	if a.entry.Because != "" {
		text += ": " + a.entry.Because
	}
	return &call.Failure{Message: text + NotRun + why, Hint: hint, Rule: a.entry.Rule}
}

// Parts of the message about a call that was not approved: the rule is between them, and the reason after them.
const (
	Needed = "needs approval by the policy "
	NotRun = ". It was not run: "
)

// message is what the person reads who is asked through the client.
func (a *asking) message() string {
	text := fmt.Sprintf("MCP Workbench asks before it calls the tool %s", a.tool)
	if a.entry.Shown == "" {
		text += " without arguments."
	} else {
		text += " with these arguments:\n  " + strings.ReplaceAll(a.entry.Shown, "\n", "\n  ")
	}
	text += "\nThe policy asks: " + oneLine(a.rule())
	if a.entry.Because != "" {
		text += "\nReason: " + oneLine(a.entry.Because)
	}
	return text
}

// report tells the client that its call waits, if it wants to know.
func (a *asking) report() {
	token := a.question.Call.Meta.Member(protocol.ProgressToken)
	if token.IsAbsent() || !time.Now().Before(a.entry.Deadline) {
		return
	}
	text := fmt.Sprintf("waiting for approval of %s", a.tool)
	switch {
	case slices.Contains(a.entry.Via, config.AskTerminal):
		text += fmt.Sprintf(" (mcp-workbench approve %s)", a.entry.ID)
	case a.entry.ID != "":
		text += " (mcp-workbench ui)"
	}
	a.client.TryNotify(protocol.NotifyProgress, call.WaitProgress(token.Bytes(), time.Now(), text))
}

// short writes a duration without what is zero.
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}
