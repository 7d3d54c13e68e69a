package call

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Router sends the requests of clients to servers, through its stages. All requests take this way: calls of tools,
// and whatever else clients ask for. A router without stages is ready as new(Router).
type Router struct{ stages Stages }

// NewRouter makes a router with these stages.
func NewRouter(stages Stages) *Router { return &Router{stages} }

// CallTool begins a call of a tool; it does not block. When the canceller is cancelled, so is the call.
// Whether the client opened the toolbox, where it has to, was decided before.
func (router *Router) CallTool(visible Toolboxes, request *Request) {
	server, err := resolveServer(visible, request.Ref)
	if err != nil {
		request.Replier.Reply(Outcome{}, err)
		return
	}
	r := request.Canceller.newRun()
	r.canceller, r.replier, r.passErrors = request.Canceller, request.Replier, request.PassErrors
	request.describe(&r.call, server)
	if !router.begin(r) {
		return
	}
	if lease := r.tryLease(request.Meta); lease != nil && request.send(r, lease) {
		return
	}
	go r.startAndSend(request.keep())
}

// Forward begins to send any other request to a configured server, which is started if needed; it does not block.
func (router *Router) Forward(server *fleet.Server, request *Forwarding) {
	r := request.Canceller.newRun()
	r.canceller, r.replier, r.passErrors, r.raw, r.forwarding = request.Canceller, request.Replier, true, true, request
	request.describe(&r.call, server)
	if !router.begin(r) {
		return
	}
	if lease := r.tryLease(request.meta); lease != nil && request.send(r, lease) {
		return
	}
	go r.startAndSend(request)
}

// begin tells the observers that a request begins. It returns false if the request was refused, which ended it.
func (router *Router) begin(r *run) bool {
	r.router = router
	if len(router.stages.Observe) > 0 {
		r.requestSize = len(r.call.Arguments.Bytes())
		if router.stages.Shape {
			r.call.Shape = shapeOf(r.call.Arguments)
		}
		r.timing.begin()
		r.trace()
		for _, observer := range router.stages.Observe {
			observer.CallBegan(&r.call, r.timing.began)
		}
	}
	r.canceller.show(r)
	for _, screener := range router.stages.Screen {
		if refusal := screener.Screen(&r.call); refusal != nil {
			r.deny(refusal)
			return false
		}
	}
	return true
}

// tryLease returns a lease of a server that can get the request at once; nil if the server has to be started, or asked
// for log messages first.
func (r *run) tryLease(meta wire.Payload) *fleet.Lease {
	lease := r.call.Server.TryLeaseFor(r.call.Client.Profile())
	if lease != nil && logLevelToRequest(r.call.Client, lease.Session, meta) != "" {
		lease.Release()
		return nil
	}
	return lease
}

// sendable is a request that is on its way to a server.
type sendable interface {
	// send sends it once it is admitted. It returns false if the session had ended: the server cannot have seen it
	// then, so that it may be sent to the next one. What may have been seen is never sent again.
	send(r *run, lease *fleet.Lease) bool
	// dispatch does the same for a request that is prepared and admitted, with the lease of the run.
	dispatch(r *run) bool
	// logLevelToRequest is the log level to request from the server before sending; "" if none is needed.
	logLevelToRequest(session *downstream.Session) (level string)
}

// startAndSend sends a request to a server that has to be started first, or to be asked for log messages.
func (r *run) startAndSend(request sendable) {
	r.timing.enter(inStart)
	ctx, stop := r.canceller.Context()
	lease, err := r.call.Server.LeaseFor(ctx, r.call.Client.Profile())
	if err == nil {
		switch level := request.logLevelToRequest(lease.Session); {
		case level != "":
			lease.Session.AskForLogs(ctx, level)
		case lease.ReadySince().Before(r.timing.since):
			r.timing.now = inWorkbench // it was there
		}
	}
	r.timing.enter(inWorkbench)
	cause := context.Cause(ctx)
	stop()
	switch {
	case cause != nil:
		if lease != nil {
			lease.Release()
		}
		r.finish(Outcome{}, cause)
	case err != nil:
		if needed, ok := errors.AsType[*fleet.LoginNeededError](err); ok {
			r.logIn(request, needed)
			return
		}
		r.errorType = typeOfStart(err)
		r.finish(Outcome{}, &Failure{Message: err.Error(), Cause: err})
	case !request.send(r, lease):
		err := lease.Explain(lease.Session.Err())
		r.finish(Outcome{}, &Failure{Message: err.Error(), Cause: err})
	}
}

// askStages asks the admitters from a number on, and returns whether the request can be sent now. Otherwise it was
// refused, which ended it; or later decides, and the others are to be asked from next on.
func (r *run) askStages(from int) (later Verdict, next int, now bool) {
	if r.admitted {
		return Verdict{}, 0, true
	}
	stages := r.router.stages.Admit
	for i := from; i < len(stages); i++ {
		switch verdict := stages[i].Admit(&r.call); {
		case verdict.Refusal != nil:
			r.deny(verdict.Refusal)
			return Verdict{}, 0, false
		case verdict.Wait != nil:
			return verdict, i + 1, false
		}
	}
	if r.denied { // by a policy that came into force after the stages were made
		r.deny(&Failure{Message: "it is denied by the policy"})
		return Verdict{}, 0, false
	}
	r.admitted = true
	return Verdict{}, 0, true
}

// waitAndSend sends a request when it is admitted. The lease keeps the server that the decision is about. Then the tool is
// resolved again: if it is another one by now, the stages are asked about that one.
func (r *run) waitAndSend(request sendable, later Verdict, next int) {
	for now := false; !now; {
		if later.Wait == nil || !r.isAdmittedBy(later) {
			return
		}
		later, next, now = r.askStages(next)
	}
	if r.call.Server.IsOutdated() { // it runs until its calls end, but this one has not begun
		r.refuse(Outcome{}, &Failure{Message: "its server was changed or removed in the configuration while the call waited", Hint: "Try again."})
		return
	}
	decidedOn := r.lease
	defer decidedOn.Release()
	r.lease = nil
	r.startAndSend(request)
}

// isAdmittedBy waits for a decision. A request that was not admitted ended.
func (r *run) isAdmittedBy(later Verdict) bool {
	ctx, stop := r.canceller.Context()
	bounded, end := context.WithTimeout(ctx, MaxAdmission)
	if !later.IsOwnWork {
		r.timing.enter(atApproval)
	}
	refusal := later.Wait(bounded)
	r.timing.enter(inWorkbench)
	expired := bounded.Err() != nil
	end()
	cause := context.Cause(ctx)
	stop()
	switch {
	case cause != nil:
		r.finish(Outcome{}, cause)
	case refusal != nil:
		r.deny(refusal)
	case expired:
		r.errorType = typeTimeout
		r.refuse(Outcome{}, &Failure{Message: fmt.Sprintf("nobody decided within %s whether it may be sent: timeout", MaxAdmission)})
	default:
		return true
	}
	return false
}

// deny ends a request that a stage refused.
func (r *run) deny(refusal *Failure) {
	if r.errorType = typeDenied; refusal.IsUnable {
		r.errorType = typeRefused
	}
	r.refuse(Outcome{}, refusal)
}

// refuse ends a request that was not sent.
func (r *run) refuse(outcome Outcome, err error) {
	r.status = StatusRefused
	r.finish(outcome, err)
}
