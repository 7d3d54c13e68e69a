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

// routing is one request on its way to a server. One goroutine at a time uses it.
type routing struct {
	Request
	forwarder *Forwarder
	memory    *Memory
	method    *protocol.Method
	rule      rule
	isKnown   bool            // the method has a rule
	scope     []*fleet.Server // the servers that the request can be for
	states    []serverState   // of the servers in scope, once they are loaded

	// The attempt that is under way.
	candidate
	others   []candidate // tried next, in order
	fallback string      // see rule
	isNew    bool        // the subscription did not exist before
}

// candidate is a server that may have the subject of a request.
type candidate struct {
	server     *fleet.Server
	part       wire.Payload // of the params, that names the subject
	clientName string       // of the subject, as the client knows it
	serverName string       // and as the server does
}

func (f *Forwarder) newRouting(request Request) *routing {
	r := &routing{Request: request, forwarder: f, memory: request.Session.Memory(), method: protocol.FindMethod(request.Method)}
	r.rule, r.isKnown = rules[request.Method]
	r.scope = f.Servers(request.Session)
	if r.rule.aboutLists {
		r.scope = f.listedServers(request.Session)
	}
	return r
}

// start finds the server for the request, or answers it. It does not block.
func (r *routing) start() {
	switch {
	case len(r.scope) == 1 && r.mayUseOnly(r.scope[0]) && r.mayAskForList():
		if r.method.List != nil {
			r.memory.recordServed(r.method.List, r.states)
		}
		r.forwardUnchanged(r.scope[0])
	case r.isKnown && len(r.scope) == 0:
		r.rule.refuse(r)
	default:
		go r.choose()
	}
}

// mayUseOnly reports whether the only server in scope gets the request unchanged. A server that is not running is
// started only for a request that is certainly for it, and never for a list.
func (r *routing) mayUseOnly(only *fleet.Server) bool {
	if r.memory.hasRenamed(originOf(only)) || r.method.List == tasks && only.ServesOthers(r.Session.Profile()) {
		return false
	}
	if !r.isKnown || liveSession(only, r.Session) != nil {
		return true
	}
	if r.forwarder.Mode == config.Direct {
		return r.method.List == nil && r.Method != protocol.MethodSetLevel
	}
	return r.rule.startsOnly && r.Session.IsOpen(only.Toolbox())
}

// mayAskForList reports whether the only server may be asked for a list. A server that declares the list and has not
// sent it yet is not waited for.
func (r *routing) mayAskForList() bool {
	list := r.method.List
	if list == nil {
		return true
	}
	r.loadStates()
	only := r.states[0]
	return list == tasks || only.lists[list] != nil || !list.IsDeclared(only.capabilities)
}

// choose finds the server for a request that several servers may answer. Its goroutine ends with the request at the
// latest.
func (r *routing) choose() {
	ctx, stop := r.Canceller.Context()
	r.loadStates()
	var then func()
	if ctx.Err() == nil {
		then = r.chooseServer(ctx)
	}
	cause := context.Cause(ctx)
	stop()
	if cause != nil {
		r.Replier.Reply(call.Outcome{}, cause)
		return
	}
	then()
}

func (r *routing) chooseServer(ctx context.Context) (then func()) {
	if !r.isKnown {
		return r.routeUnknown()
	}
	if r.method.Subject != "" {
		if able := r.declaring(r.method); len(able) == 1 && able[0].running && r.knowsSameNames(able[0].server) {
			return func() { r.forwardUnchanged(able[0].server) }
		}
	}
	return r.rule.route(r, ctx)
}

// knowsSameNames reports whether the server knows the subject of the request by the name that the client uses.
func (r *routing) knowsSameNames(only *fleet.Server) bool {
	for _, key := range []string{protocol.SubjectURI, protocol.SubjectTask} {
		if name, _ := r.Params.Member(key).Text(); isOwnURI(name) {
			return false
		}
	}
	return !r.memory.hasRenamed(originOf(only))
}

// forwardUnchanged sends the request to the one server that it can be for.
func (r *routing) forwardUnchanged(server *fleet.Server) {
	if r.Method == protocol.MethodSetLevel {
		if level, _ := r.Params.Member("level").Text(); protocol.Severity(level) >= 0 {
			r.keepLogLevel(r.paramsForSeveral())
		}
	}
	topic, _, _ := downstream.TopicOf(r.Method, r.Params)
	fallback := r.rule.fallback
	if r.forwarder.Mode == config.Direct && len(r.scope) == 1 {
		fallback = "" // the client knows the server's own capabilities
	}
	r.try([]candidate{{server: server, clientName: topic.ID, serverName: topic.ID}}, fallback)
}

// try sends the request to the first candidate, and to the next one if the subject is not there.
func (r *routing) try(candidates []candidate, fallback string) {
	if candidates = r.withoutForeignTasks(candidates); len(candidates) == 0 {
		r.refuseTask()
		return
	}
	r.candidate, r.others, r.fallback, r.isNew = candidates[0], candidates[1:], fallback, false
	switch r.method.Subscription {
	case protocol.Subscribes:
		isNew, ok := r.memory.subscribe(r.subscription(), r.clientName, liveSession(r.server, r.Session))
		if !ok {
			r.refuse(protocol.CodeInternalError, fmt.Sprintf("Too many subscriptions: a client can have %d; end others with %s first", maxSubscriptions, protocol.MethodUnsubscribe), nil)
			return
		}
		r.isNew = isNew
	case protocol.Unsubscribes:
		if shared := r.memory.unsubscribe(r.subscription(), liveSession(r.server, r.Session)); shared {
			r.answer([]byte("{}")) // the server keeps the subscription for another client
			return
		}
	}
	request := &call.Forwarding{Method: r.Method, Params: r.Params, Client: r.Session, Canceller: r.Canceller, Replier: r, Guessed: len(r.others) > 0}
	request.Name = r.method.SubjectOf(r.Params)
	if r.isRenamed() {
		request.Edits = []wire.Edit{{Part: r.part, With: wire.AppendString(nil, r.serverName)}}
		if request.Name != "" { // otherwise the part is in another member, as in a completion
			request.Name = r.serverName
		}
	}
	r.forwarder.Router.Forward(r.server, request)
}

func (c *candidate) isRenamed() bool { return c.clientName != c.serverName }

// subscription returns the subscription that the request begins or ends, as the server knows it.
func (r *routing) subscription() subscription {
	return subscription{originOf(r.server), downstream.Topic{IsTask: r.method.Subject == protocol.SubjectTask, ID: r.serverName}}
}

// Reply implements call.Replier: it forwards the response, or tries the next candidate.
func (r *routing) Reply(outcome call.Outcome, err error) {
	failed := err != nil || !outcome.Error.IsAbsent()
	if failed && r.isNew {
		r.memory.unsubscribe(r.subscription(), nil)
	}
	if !failed {
		r.finish(outcome)
		return
	}
	failure, isFailure := errors.AsType[*call.Failure](err)
	switch {
	case err != nil && !isFailure:
		r.Replier.Reply(outcome, err)
	case len(r.others) > 0 && (isFailure || isMissing(outcome.Error, r.serverName)):
		r.try(r.others, r.fallback)
	case isFailure && r.isUnknownMethod(failure):
		r.refuse(protocol.CodeMethodNotFound, r.explain(r.server, failure), nil)
	case isFailure:
		r.refuse(protocol.CodeInternalError, r.explain(r.server, failure), nil)
	case r.isMissingTask(outcome.Error):
		r.refuseTask()
	case r.fallback != "" && code(outcome.Error) == protocol.CodeMethodNotFound:
		r.answer([]byte(r.fallback))
	default:
		r.Replier.Reply(outcome, nil)
	}
}

// isUnknownMethod reports whether a server over HTTP refused a method that the workbench does not know either. Some
// servers do so with an HTTP status.
func (r *routing) isUnknownMethod(failure *call.Failure) bool {
	status, ok := errors.AsType[*downstream.StatusError](failure.Cause)
	return !r.isKnown && ok && (status.Code == http.StatusBadRequest || status.Code == http.StatusNotFound)
}

// finish forwards a result, in which links use the names that the client knows.
func (r *routing) finish(outcome call.Outcome) {
	o := originOf(r.server)
	if r.method.Subscription == protocol.Subscribes {
		r.memory.subscribe(r.subscription(), r.clientName, liveSession(r.server, r.Session))
		if r.method.Subject == protocol.SubjectTask {
			r.memory.learnTask(r.serverName, o)
		}
	}
	switch list := r.method.List; list {
	case nil:
	case tasks:
		for _, id := range entryNames(tasks, slices.Collect(outcome.Result.Member(tasks.Array).Elements())) {
			r.memory.learnTask(id, o)
		}
	default:
		outcome.Result = catalog.CleanPage(list, r.server.Name(), outcome.Result)
	}
	r.learnCreatedTask(outcome.Result)
	var of candidate
	if s := r.method.Subject; (s == protocol.SubjectURI || s == protocol.SubjectTask) && r.method.Subscription == protocol.NoSubscription {
		of = r.candidate
	}
	if edits := r.memory.linkEdits(o, outcome.Result, of.serverName, of.clientName); len(edits) > 0 {
		outcome.Result = wire.Raw(wire.AppendEdited(nil, outcome.Result, edits...))
	}
	r.Replier.Reply(outcome, nil)
}

func (r *routing) explain(server *fleet.Server, failure *call.Failure) string {
	text := fmt.Sprintf("'%s' failed in server '%s' (toolbox '%s'): %s", r.Method, server.Name(), server.Toolbox(), failure.Message)
	if failure.Hint != "" {
		text += "\n" + failure.Hint
	}
	return text
}

// answer answers with a result of our own.
func (r *routing) answer(result []byte) {
	r.Replier.Reply(call.Outcome{Result: wire.Raw(result)}, nil)
}

// refuse answers with an error of our own; data is raw JSON, or nil.
func (r *routing) refuse(code int, message string, data []byte) {
	object := strconv.AppendInt([]byte(`{"code":`), int64(code), 10)
	object = wire.AppendMember(object, "message", message)
	if data != nil {
		object = append(append(object, `,"data":`...), data...)
	}
	r.Replier.Reply(call.Outcome{Error: wire.Raw(append(object, '}'))}, nil)
}

func code(rpcError wire.Payload) int {
	n, err := strconv.Atoi(string(rpcError.Member("code").Bytes()))
	if err != nil {
		return 0
	}
	return n
}

// isMissing reports whether an error says that the server does not have the subject of the request. Only resources have
// an error code for that, which not all servers use.
func isMissing(rpcError wire.Payload, name string) bool {
	switch code(rpcError) {
	case protocol.CodeResourceNotFound, protocol.CodeMethodNotFound:
		return true
	case protocol.CodeInvalidParams, protocol.CodeInternalError, 0: // some SDKs send 0 for any exception
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
