package passthrough

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// errand is one request on its way. One goroutine at a time has it.
type errand struct {
	passage *Passage
	request Request
	memory  *Memory
	carrier carrier
	kind    kind
	known   bool            // the method is one that we know
	scope   []*fleet.Server // that the request can be for
	sights  []sight         // of the servers in scope, once they were looked at
}

// choose finds the server for a request where that is not plain. Its goroutine ends at the
// latest with the request.
func (e *errand) choose() {
	ctx, stop := e.request.Canceller.Context()
	e.look()
	var then func()
	if ctx.Err() == nil {
		then = e.chooseAmong(ctx)
	}
	cause := context.Cause(ctx)
	stop()
	if cause != nil {
		e.request.Replier.Reply(call.Outcome{}, cause)
		return
	}
	then()
}

func (e *errand) chooseAmong(ctx context.Context) (then func()) {
	if !e.known {
		return e.findUnknown()
	}
	if e.kind.capability == "" || e.kind.list != nil {
		return e.kind.decide(e, ctx)
	}
	if able := e.able(e.kind.capability); len(able) == 1 && able[0].running && e.isPlain(able[0].server) {
		return func() { e.pass(able[0].server) }
	}
	return e.kind.decide(e, ctx)
}

// isPlain reports whether a request that only the one server seems able to answer can be passed
// on to it as it is.
func (e *errand) isPlain(only *fleet.Server) bool {
	for _, key := range []string{"uri", "taskId"} {
		if name, _ := e.request.Params.Member(key).Text(); isOurs(name) {
			return false
		}
	}
	return !e.memory.hasRenamed(originOf(only))
}

// look finds out what is known of the servers in scope.
func (e *errand) look() {
	e.sights = make([]sight, len(e.scope))
	for i, server := range e.scope {
		e.sights[i] = e.carrier.look(server)
	}
}

// able returns the servers that are known to have a capability, in order.
func (e *errand) able(capability string) (able []sight) {
	for _, s := range e.sights {
		if s.seen && declares(s.capabilities, capability) {
			able = append(able, s)
		}
	}
	return able
}

// running returns those of them that run.
func (e *errand) running(capability string) (servers []*fleet.Server) {
	for _, s := range e.able(capability) {
		if s.running {
			servers = append(servers, s.server)
		}
	}
	return servers
}

// unasked returns the servers that may have a capability but do not run.
func (e *errand) unasked(capability string) (servers []*fleet.Server) {
	for _, s := range e.sights {
		if !s.running && (!s.seen || declares(s.capabilities, capability)) {
			servers = append(servers, s.server)
		}
	}
	return servers
}

// declares reports whether a server has a capability. In the modern era, tasks are an
// extension.
func declares(capabilities wire.Payload, name string) bool {
	extensions := capabilities.Member("extensions")
	return protocol.Declares(capabilities.Member(name)) || protocol.Declares(extensions.Member(name)) ||
		name == tasks.Capability && protocol.Declares(extensions.Member(protocol.ExtensionTasks))
}

// pass gives the request to the one server that it can be for, as it is.
func (e *errand) pass(server *fleet.Server) {
	at, none := place{server: server}, e.kind.none
	switch e.request.Method {
	case protocol.MethodSetLevel:
		if level, _ := e.request.Params.Member("level").Text(); isLevel(level) {
			e.carrier.setLogLevel(e.plainParams())
		}
	default:
		topic, _, _ := downstream.TopicOf(e.request.Method, e.request.Params)
		at.asked, at.original = topic.ID, topic.ID
	}
	if e.passage.Mode == config.Direct && len(e.scope) == 1 {
		none = "" // the client knows what the server declared, and gets what it says
	}
	e.try([]place{at}, none)
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
	if places = e.ownPlaces(places); len(places) == 0 {
		e.refuseTask()
		return
	}
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
	f := forwarding{method: e.request.Method, params: e.request.Params, canceller: e.request.Canceller, replier: a}
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
	switch {
	case err != nil && !isFailure:
		a.request.Replier.Reply(outcome, err)
	case len(a.rest) > 0 && (isFailure || isMissing(outcome.Error, a.original)):
		a.try(a.rest, a.none)
	case isFailure && a.isUnknownTo(failure):
		a.refuse(protocol.CodeMethodNotFound, a.explain(a.server, failure), nil)
	case isFailure:
		a.refuse(protocol.CodeInternalError, a.explain(a.server, failure), nil)
	case a.isMissingTask(outcome.Error):
		a.refuseTask()
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
		for _, id := range entryNames(tasks, slices.Collect(outcome.Result.Member(tasks.Array).Elements())) {
			a.memory.learnTask(id, originOf(a.server))
		}
	}
	if l := a.kind.list; l != nil && l != tasks {
		outcome.Result = catalog.CleanPage(l, a.server.Name(), outcome.Result)
	}
	a.learnMade(outcome.Result)
	original, asked := "", ""
	switch a.request.Method {
	case protocol.MethodResourcesRead, protocol.MethodSkillsGet, protocol.MethodDirectoryRead:
		original, asked = a.original, a.asked
	default:
		if isAboutTask(a.request.Method) {
			original, asked = a.original, a.asked
		}
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
