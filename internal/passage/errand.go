package passage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/call"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// errand is one request on its way. One goroutine at a time has it.
type errand struct {
	passage *Passage
	request Request
	memory  *Memory
	carrier carrier
	scope   []*fleet.Server

	// Of the servers in scope, once they were asked:
	reached []reached
	failed  []*fleet.Server
}

// reached is a server that is there, with what it can do.
type reached struct {
	server       *fleet.Server
	capabilities wire.Payload
}

// choose finds the server for a request where there are several. Its goroutine ends at the
// latest with the request.
func (e *errand) choose(k kind) {
	ctx, stop := e.request.Ticket.Context()
	e.reach(ctx)
	for _, server := range e.failed {
		e.missed(server)
	}
	var then func()
	if ctx.Err() == nil {
		then = e.chooseAmong(ctx, k)
	}
	cause := context.Cause(ctx)
	stop()
	if cause != nil {
		e.request.Replier.Reply(call.Outcome{}, cause)
		return
	}
	then()
}

func (e *errand) chooseAmong(ctx context.Context, k kind) (then func()) {
	if k.capability == "" {
		return k.decide(e, ctx)
	}
	able := e.able(k.capability)
	switch {
	case len(able) == 0:
		return func() { k.nobody(e) }
	case len(able) == 1 && !e.memory.hasRenamed(originOf(able[0])):
		return func() { e.pass(k, able[0]) }
	}
	return k.decide(e, ctx)
}

// reach connects all servers in scope, in parallel, and learns what they can do.
func (e *errand) reach(ctx context.Context) {
	found := make([]reached, len(e.scope))
	failed := make([]bool, len(e.scope))
	var group sync.WaitGroup
	for i, server := range e.scope {
		group.Go(func() {
			capabilities, err := e.carrier.reach(ctx, server)
			found[i], failed[i] = reached{server, capabilities}, err != nil
		})
	}
	group.Wait()
	for i, server := range e.scope {
		if failed[i] { // the fleet has logged why
			e.failed = append(e.failed, server)
		} else {
			e.reached = append(e.reached, found[i])
		}
	}
}

// missed takes down that a server could not be asked, if the request is for a list.
func (e *errand) missed(server *fleet.Server) {
	if l := methods[e.request.Method].list; l != nil {
		e.memory.misses(l, originOf(server))
	}
}

// able returns the servers with a capability, in order.
func (e *errand) able(capability string) (servers []*fleet.Server) {
	for _, r := range e.reached {
		if declares(r.capabilities, capability) {
			servers = append(servers, r.server)
		}
	}
	return servers
}

// declares reports whether a server has a capability. In the modern era, tasks are an
// extension.
func declares(capabilities wire.Payload, name string) bool {
	return isDeclared(capabilities.Member(name)) ||
		name == tasks.capability && isDeclared(capabilities.Member("extensions").Member(protocol.ExtensionTasks))
}

func isDeclared(capability wire.Payload) bool {
	switch capability.Kind() {
	case "undefined", "null":
		return false
	case "boolean":
		return string(capability.Bytes()) == "true"
	}
	return true
}

// pass gives the request to the one server that it can be for, as it is.
func (e *errand) pass(k kind, server *fleet.Server) {
	at := place{server: server}
	switch e.request.Method {
	case protocol.MethodSetLevel:
		if level, _ := e.request.Params.Member("level").Text(); isLevel(level) {
			e.carrier.setLogLevel(e.plainParams())
		}
	default:
		topic, _, _ := downstream.TopicOf(e.request.Method, e.request.Params)
		at.asked, at.original = topic.ID, topic.ID
	}
	if e.passage.mode == config.Direct && len(e.scope) == 1 {
		k.none = "" // the client knows what the server declared, and gets what it says
	}
	e.try([]place{at}, k.none)
}

// place is where something may be.
type place struct {
	server *fleet.Server
	part   wire.Payload // of the params, that names it
	// asked is its name as the client knows it, original as the server does.
	asked, original string
}

// try sends the request to the first of the places, and to the next one if it is not
// there. none is as in kind.
func (e *errand) try(places []place, none string) {
	a := &attempt{errand: e, place: places[0], rest: places[1:], none: none}
	switch _, begins, ok := downstream.TopicOf(e.request.Method, e.request.Params); {
	case !ok:
	case begins:
		fresh, ok := e.memory.subscribe(a.subscribed(), a.asked, e.carrier.live(a.server))
		if !ok {
			e.refuse(protocol.CodeInternalError, fmt.Sprintf("Too many subscriptions: a client can have %d; end others with %s first", maxSubscriptions, protocol.MethodUnsubscribe), nil)
			return
		}
		a.fresh = fresh
	default:
		if shared := e.memory.unsubscribe(a.subscribed(), e.carrier.live(a.server)); shared {
			e.answer([]byte("{}")) // to the server, nothing changes
			return
		}
	}
	f := forwarding{method: e.request.Method, params: e.request.Params, ticket: e.request.Ticket, replier: a}
	if a.asked != a.original {
		f.edits, f.name = []wire.Edit{{Part: a.part, With: wire.AppendString(nil, a.original)}}, a.original
	}
	e.carrier.forward(a.server, f)
}

// attempt is one try.
type attempt struct {
	*errand
	place
	rest  []place
	none  string
	fresh bool // the subscription is new
}

// subscribed is what a request for updates is about, as the server knows it.
func (a *attempt) subscribed() subscribed {
	topic, _, _ := downstream.TopicOf(a.request.Method, a.request.Params)
	topic.ID = a.original
	return subscribed{originOf(a.server), topic}
}

// Reply implements call.Replier: it passes the answer on, or tries the next place.
func (a *attempt) Reply(outcome call.Outcome, err error) {
	failed := err != nil || !outcome.Error.IsAbsent()
	if failed && a.fresh {
		a.memory.unsubscribe(a.subscribed(), nil)
	}
	if !failed {
		a.finish(outcome)
		return
	}
	failure, isFailure := errors.AsType[*call.Failure](err)
	if isFailure {
		a.missed(a.server)
	}
	switch {
	case err != nil && !isFailure:
		a.request.Replier.Reply(outcome, err)
	case len(a.rest) > 0 && (isFailure || isMissing(outcome.Error, a.original)):
		a.try(a.rest, a.none)
	case isFailure && a.isUnknownTo(failure):
		a.refuse(protocol.CodeMethodNotFound, a.explain(a.server, failure), nil)
	case isFailure:
		a.refuse(protocol.CodeInternalError, a.explain(a.server, failure), nil)
	case a.none != "" && code(outcome.Error) == protocol.CodeMethodNotFound:
		a.answer([]byte(a.none))
	default:
		a.request.Replier.Reply(outcome, nil)
	}
}

// isUnknownTo reports whether a server over HTTP refused a method that nobody knows. Some do
// so below the protocol.
func (a *attempt) isUnknownTo(failure *call.Failure) bool {
	_, known := methods[a.request.Method]
	status, ok := errors.AsType[*downstream.StatusError](failure.Cause)
	return !known && ok && (status.Code == http.StatusBadRequest || status.Code == http.StatusNotFound)
}

// finish passes a result on, in which links lead where the client finds them.
func (a *attempt) finish(outcome call.Outcome) {
	if topic, begins, _ := downstream.TopicOf(a.request.Method, a.request.Params); begins {
		a.memory.subscribe(a.subscribed(), a.asked, a.carrier.live(a.server))
		if topic.IsTask {
			a.memory.learnTask(a.original, originOf(a.server))
		}
	}
	if a.request.Method == protocol.MethodTasksList {
		for _, id := range entryNames(tasks, slices.Collect(outcome.Result.Member(tasks.array).Elements())) {
			a.memory.learnTask(id, originOf(a.server))
		}
	}
	original, asked := "", ""
	if a.request.Method == protocol.MethodResourcesRead || isAboutTask(a.request.Method) {
		original, asked = a.original, a.asked
	}
	edits := a.memory.relink(originOf(a.server), outcome.Result, original, asked)
	if len(edits) > 0 {
		outcome.Result = wire.Raw(wire.AppendEdited(nil, outcome.Result, edits...))
	}
	a.request.Replier.Reply(outcome, nil)
}

func (e *errand) explain(server *fleet.Server, failure *call.Failure) string {
	text := fmt.Sprintf("'%s' failed in server '%s' (toolbox '%s'): %s", e.request.Method, server.Name(), server.Toolbox(), failure.Message)
	if failure.Hint != "" {
		text += "\n" + failure.Hint
	}
	return text
}

func (e *errand) answer(result []byte) {
	e.request.Replier.Reply(call.Outcome{Result: wire.Raw(result)}, nil)
}

// refuse answers with an error of ours; data is raw JSON, or nil.
func (e *errand) refuse(code int, message string, data []byte) {
	object := strconv.AppendInt([]byte(`{"code":`), int64(code), 10)
	object = wire.AppendMember(object, "message", message)
	if data != nil {
		object = append(append(object, `,"data":`...), data...)
	}
	e.request.Replier.Reply(call.Outcome{Error: wire.Raw(append(object, '}'))}, nil)
}

func code(rpcError wire.Payload) int {
	n, err := strconv.Atoi(string(rpcError.Member("code").Bytes()))
	if err != nil {
		return 0
	}
	return n
}

// isMissing reports whether an error says that the server does not have what it was asked
// for. Only resources have a code of their own for that, which not all servers use.
func isMissing(rpcError wire.Payload, name string) bool {
	switch code(rpcError) {
	case protocol.CodeResourceNotFound, protocol.CodeMethodNotFound:
		return true
	case protocol.CodeInvalidParams, protocol.CodeInternalError, 0: // 0 is what some SDKs make of any exception
	default:
		return false
	}
	message, _ := rpcError.Member("message").Text()
	message = strings.ToLower(message)
	for _, phrase := range []string{"not found", "unknown", "no such", "not exist", "nonexistent", "could not find", "cannot find"} {
		if strings.Contains(message, phrase) {
			return true
		}
	}
	return code(rpcError) == protocol.CodeInvalidParams && name != "" && strings.Contains(message, strings.ToLower(name))
}
