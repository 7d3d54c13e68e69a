package front

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/era"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// Limits of questions to a modern client.
const (
	// settleTime is how long is waited for further questions before the client is asked:
	// each round costs it a request.
	settleTime = 40 * time.Millisecond
	// maxOpen is how many questions one call may have open.
	maxOpen = 100
)

// Ask implements call.Client: the question waits a moment for others, and then becomes the
// answer of the request. Without a request it waits for the next.
func (w *work) Ask(question *downstream.Question) {
	if !isQuestion(question.Method) || w.binding == 0 || !canBeAsked(w.statelessClient.capabilities, question) {
		question.RefuseUnsupported()
		return
	}
	if problem := call.Ambiguous(question.Method, question.Params); problem != "" {
		question.Refuse(protocol.CodeInvalidParams, problem)
		return
	}
	w.mu.Lock()
	if w.over || len(w.open) == maxOpen {
		w.mu.Unlock()
		question.Refuse(protocol.CodeInternalError, "The call has ended, or has too many questions open")
		return
	}
	w.asked++
	key := fmt.Sprintf("question-%d", w.asked)
	w.open = append(w.open, openQuestion{key, question})
	w.settleLater()
	w.mu.Unlock()
	question.OnWithdraw(func(wire.Payload) { w.withdraw(key) })
}

// isQuestion reports whether a request of a server is one that this era has as a question.
func isQuestion(method string) bool {
	switch method {
	case protocol.MethodElicitation, protocol.MethodSampling, protocol.MethodRootsList:
		return true
	}
	return false
}

// settleLater has the client asked soon, if there is a request to do so. Called with mu held.
func (w *work) settleLater() {
	if w.request != nil && w.settle == nil {
		w.settle = time.AfterFunc(settleTime, w.park)
	}
}

// withdraw takes back a question that the server does not want answered any more.
func (w *work) withdraw(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = slices.DeleteFunc(w.open, func(o openQuestion) bool { return o.key == key })
}

// park answers the request with the open questions, and has the work wait for the answers.
func (w *work) park() {
	w.mu.Lock()
	w.settle = nil
	r := w.request
	if w.over || r == nil || len(w.open) == 0 {
		w.mu.Unlock()
		return
	}
	size := 0
	for _, o := range w.open {
		size += len(o.question.Params.Bytes())
	}
	state, ok := w.statelessClient.server.parking.add(w, size)
	if !ok {
		open := w.takeOpen()
		w.mu.Unlock()
		refuseAll(open, "Too many calls wait for answers of their clients")
		return
	}
	w.request = nil
	result := w.inputRequired(state)
	w.mu.Unlock()
	r.finish(wire.Result(r.id, result))
}

// inputRequired is the result that asks the client. Called with mu held.
func (w *work) inputRequired(state string) []byte {
	result := wire.AppendMember([]byte("{"), protocol.ResultType, protocol.ResultInputRequired)
	result = append(result, `,"`+protocol.InputRequests+`":{`...)
	for i, o := range w.open {
		if i > 0 {
			result = append(result, ',')
		}
		result = append(wire.AppendString(result, o.key), ':')
		result = wire.AppendMember(append(result, '{'), "method", o.question.Method)
		result = append(result, `,"params":`...)
		result = appendUntracked(result, era.RaiseQuestion(o.question.Method, o.question.Params))
		result = append(result, '}')
	}
	result = append(result, '}')
	result = wire.AppendMember(result, protocol.RequestState, state)
	return append(result, '}')
}

// appendUntracked appends the params of a question without the wish for progress: there is
// nothing that a client could send it with.
func appendUntracked(dst []byte, params wire.Payload) []byte {
	meta := params.Member("_meta")
	if meta.Member(protocol.ProgressToken).IsAbsent() {
		return append(dst, params.Bytes()...)
	}
	isToken := func(key string) bool { return key == protocol.ProgressToken }
	return wire.AppendEdited(dst, params, wire.Edit{Part: meta, With: wire.AppendWithMembers(nil, meta, isToken, nil)})
}

// resume goes on with the work that waits for the client's answers, which the request
// brings.
func (r *statelessRequest) resume(message *wire.Message) {
	answers, problem := readAnswers(message.Params.Member(protocol.InputResponses))
	if problem != "" {
		r.refuse(invalidParams(problem))
		return
	}
	state, _ := message.Params.Member(protocol.RequestState).Text()
	w, ok := r.statelessClient.server.parking.claim(state, bind(r.statelessClient.caller, string(message.Method), message.Params))
	if !ok {
		r.refuse(invalidParams("the requestState is unknown: it may have been used or have expired, " +
			"or belongs to another request. Send the request again without it"))
		return
	}
	w.mu.Lock()
	if kept := w.kept; kept != nil {
		w.mu.Unlock()
		r.finish(w.encode(r.id, *kept))
		return
	}
	w.request = r
	var answered []openQuestion
	w.open = slices.DeleteFunc(w.open, func(o openQuestion) bool {
		_, ok := answers[o.key]
		if ok {
			answered = append(answered, o)
		}
		return ok
	})
	if len(w.open) > 0 { // they are asked again
		w.settleLater()
	}
	w.mu.Unlock()
	r.await(w)
	for _, o := range answered {
		o.question.Answer(wire.Message{Result: answers[o.key]})
	}
}

// readAnswers reads the answers that a client brings, and copies them: they go to servers
// one by one, in buffers of their own.
func readAnswers(sent wire.Payload) (answers map[string]wire.Payload, problem string) {
	if kind := sent.Kind(); kind != "object" && kind != "undefined" {
		return nil, "'" + protocol.InputResponses + "' must be an object, not " + kind
	}
	answers = make(map[string]wire.Payload)
	for key, value := range sent.Members() {
		if value.Kind() != "object" {
			return nil, fmt.Sprintf("'%s' of '%s' must be an object, not %s", key, protocol.InputResponses, value.Kind())
		}
		answers[string(key)] = wire.Raw(bytes.Clone(value.Bytes()))
	}
	return answers, ""
}
