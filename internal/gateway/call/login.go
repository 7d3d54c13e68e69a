package call

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// This file handles requests that a server does not run before a person has logged in. Where the client can be asked to open
// a page, it is, and then the request is sent again.

const (
	// maxLogins is how often a person is asked to log in for one request: once for the login, and once more if that has too
	// few rights.
	maxLogins = 2
	// askAgain is how long a request of a modern client waits for the end of a login that the client agreed to. Then the
	// client is asked again, before it gives up waiting for a response.
	askAgain = 30 * time.Second
)

// failed ends a request that got no response, or has a person log in and sends it again.
func (r *run) failed(err error) {
	r.timing.enter(inWorkbench)
	refused, ok := errors.AsType[*downstream.RefusedError](err)
	if !ok || r.task != nil { // the task was begun before
		r.finish(Outcome{}, r.failure(err))
		return
	}
	request := r.unsent(refused.Params)
	needed, _ := errors.AsType[*fleet.LoginNeededError](r.lease.Explain(err))
	r.mu.Lock()
	lease := r.lease
	r.lease, r.again = nil, nil
	r.mu.Unlock()
	lease.Release()
	r.logIn(request, needed)
}

// unsent returns a request as it was before it was sent.
func (r *run) unsent(params wire.Payload) sendable {
	if r.forwarding != nil {
		return r.forwarding
	}
	server := r.call.Server
	request := &Request{
		Ref:    toolbox.Ref{Toolbox: server.Toolbox(), Server: server.Name(), Name: r.call.Name},
		Client: r.call.Client, Canceller: r.canceller, Replier: r.replier, PassErrors: r.passErrors,
	}
	for key, value := range params.Members() {
		switch string(key) {
		case "name":
		case "arguments":
			request.Arguments = clone(value)
		case "_meta":
			request.Meta = wire.Raw(wire.AppendEdited(nil, value, r.restoredToken(value)...))
		default:
			member := append(wire.AppendString(nil, string(key)), ':')
			request.Extra = joined(request.Extra, append(member, value.Bytes()...))
		}
	}
	return request
}

// restoredToken puts the client's progress token back into the _meta that was sent.
func (r *run) restoredToken(meta wire.Payload) []wire.Edit {
	token := meta.Member(protocol.ProgressToken)
	if token.IsAbsent() {
		return nil
	}
	return []wire.Edit{{Part: token, With: r.token}}
}

// logIn has a person log in, if that is possible by way of the client, and then sends a request again that was not run for
// want of a login. The run has no lease.
func (r *run) logIn(request sendable, needed *fleet.LoginNeededError) {
	r.logins++
	r.timing.enter(atLogin)
	ctx, stop := r.canceller.Context()
	refusal := r.askForLogin(ctx, needed)
	r.timing.enter(inWorkbench)
	cause := context.Cause(ctx)
	stop()
	switch {
	case cause != nil:
		r.finish(Outcome{}, cause)
	case refusal != nil:
		r.finish(Outcome{}, refusal)
	default:
		r.startAndSend(request)
	}
}

// askForLogin returns nil when a person has logged in.
func (r *run) askForLogin(ctx context.Context, needed *fleet.LoginNeededError) *Failure {
	opens := r.call.Client.Profile().OpensPages
	if needed.IsOwn() { // its page can be opened from anywhere
		opens = r.call.Client.Profile().OpensLinks
	}
	if r.forwarding != nil && r.forwarding.Guessed {
		return newLoginFailure(needed, "")
	}
	if !protocol.FindMethod(r.call.Method).MayAsk || !opens() || r.logins > maxLogins || needed.Err.Final {
		return loginFailure(needed, "")
	}
	login, err := needed.Begin(ctx)
	if err != nil {
		return newLoginFailure(needed, "a login could not be started: "+err.Error())
	}
	defer login.Close()
	page := &loginPage{
		client: r.call.Client, address: login.Page(), done: login.Done(), err: login.Err, id: rand.Text(), answers: make(chan loginAnswer, 1),
		text: fmt.Sprintf("Log in to server '%s' (toolbox '%s') of MCP Workbench: %s. The call continues when you have logged in.",
			needed.Server, needed.Toolbox, needed.Err.Reason),
	}
	return page.offer(ctx, needed)
}

// NotRun begins the message about a request that was not run for want of a login.
const NotRun = "nothing was run: "

// loginFailure returns the answer to a request that was not run for want of a login, with the link that a person logs in with
// where each has an account of their own; why says why nobody logged in, or is "".
func loginFailure(needed *fleet.LoginNeededError, why string) *Failure {
	return newLoginFailure(needed.WithPage(), why)
}

func newLoginFailure(needed *fleet.LoginNeededError, why string) *Failure {
	failure := &Failure{Message: NotRun, Cause: needed}
	if why != "" {
		failure.Message += why + "; "
	}
	failure.Message += needed.Error()
	failure.Hint = needed.Hint()
	return failure
}

// loginPage is the page of a login, which a client is asked to open.
type loginPage struct {
	client  Client
	address string
	done    <-chan struct{} // closed when somebody has logged in, or the login failed
	err     func() error    // why it failed, after that
	id      string          // of the elicitation
	text    string
	answers chan loginAnswer
}

type loginAnswer struct {
	response    wire.Message
	unsupported bool
}

// offer asks the client to open the page, and waits until a person has logged in.
func (p *loginPage) offer(ctx context.Context, needed *fleet.LoginNeededError) *Failure {
	modern := p.client.Profile().Modern()
	question := p.ask()
	ended := p.done
	if modern {
		// The client sends the request again when the person is done. The answer to the call would have to be kept until then.
		ended = nil
	}
	var overdue <-chan time.Time
	for {
		select {
		case got := <-p.answers:
			if why := got.refusal(); why != "" {
				return loginFailure(needed, why)
			}
			question, ended = nil, p.done
			if modern {
				overdue = time.After(askAgain)
			}
		case <-overdue:
			question, ended, overdue = p.ask(), nil, nil
		case <-ended:
			if question != nil {
				question.Withdraw()
			}
			if err := p.err(); err != nil {
				return loginFailure(needed, "the login failed: "+err.Error())
			}
			if !modern { // the modern era has no such notification
				_ = p.client.Notify(protocol.NotifyElicitationComplete, append(wire.AppendMember([]byte("{"), "elicitationId", p.id), '}')) // fails only if the client is gone
			}
			return nil
		case <-ctx.Done():
			if question != nil {
				question.Withdraw()
			}
			return nil // the caller looks at the cause
		}
	}
}

// ask sends the question to the client.
func (p *loginPage) ask() *downstream.Question {
	params := wire.AppendMember([]byte("{"), "mode", "url")
	params = wire.AppendMember(params, "message", p.text)
	params = wire.AppendMember(params, "elicitationId", p.id)
	params = append(wire.AppendMember(params, "url", p.address), '}')
	question := downstream.NewQuestion(protocol.MethodElicitation, wire.Raw(params), func(response wire.Message, unsupported bool) {
		p.answers <- loginAnswer{response, unsupported}
	})
	p.client.Ask(question)
	return question
}

// refusal returns why nobody opens the page; "" if somebody does.
func (a loginAnswer) refusal() string {
	action, _ := a.response.Result.Member("action").Text()
	switch {
	case a.unsupported:
		return "this client cannot be asked to open a page"
	case !a.response.Error.IsAbsent():
		return "the client could not be asked to open the page of the login"
	case action != "accept":
		return "the login was declined"
	}
	return ""
}
