package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/localclient"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

const (
	maxTrials    = 8         // calls that people try at once; a further one is refused
	maxTrialTime = time.Hour // of one such call; then it is cancelled
	maxAsking    = 16        // questions of one such call that wait at once; further ones are refused
	trialRoom    = 1 << 20   // bytes of a message beyond the largest one of a server
)

// trialClient is the name of the client of such calls, in the history and the audit log.
const trialClient = "mcp-workbench ui"

// trials are the calls that people try in a page.
type trials struct {
	mu      sync.Mutex
	running int
	asked   map[string]chan []byte // where the answers of open questions go
}

func (t *trials) begin() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running == maxTrials {
		return &toolbox.Error{Code: toolbox.CallFailed, Message: fmt.Sprintf("%d calls are being tried already, which is as many as can be", maxTrials), Hint: "Wait until one ends, or cancel one."}
	}
	t.running++
	return nil
}

func (t *trials) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
}

// Call implements control.Trier. The call takes the way of every client's, so that the policy, the history and the
// audit log see it.
func (i Inspector) Call(ctx context.Context, request control.CallRequest, emit func(control.CallEvent) error) error {
	audience, err := i.audienceOf(request)
	if err != nil {
		return err
	}
	arguments, err := objectOf(request.Arguments)
	if err != nil {
		return err
	}
	if err := i.App.trials.begin(); err != nil {
		return err
	}
	defer i.App.trials.end()
	ctx, cancel := context.WithTimeoutCause(ctx, maxTrialTime, errTrialTime)
	defer cancel()
	t := &trial{app: i.App, emit: emit, cancel: cancel}
	client, err := t.connect(ctx, audience, request.Toolbox)
	if err != nil {
		return err
	}
	began := time.Now()
	result, err := client.Call(ctx, "use_tool", useTool(request, arguments))
	last := control.CallEvent{Took: max(time.Since(began).Seconds(), 1e-6)}
	if err != nil {
		last.Error = i.App.callError(ctx, err)
	} else {
		last.Result = result.Bytes()
	}
	closed := client.Close() // before the last line: no question or notice comes after it
	t.send(last)
	if closed != nil && !errors.Is(closed, io.EOF) {
		i.App.log.Debug("the session of a call that was tried did not end well", "reason", closed)
	}
	return nil
}

var errTrialTime = fmt.Errorf("the call took longer than %s, and was cancelled", maxTrialTime)

// audienceOf returns what a call may see: the server alone, if the caller may use it.
func (i Inspector) audienceOf(request control.CallRequest) (front.Audience, error) {
	if _, err := i.server(request.Toolbox, request.Server); err != nil {
		return front.Audience{}, err
	}
	audience := front.Audience{
		Terminal: true, Caller: config.CallerTerminal, Servers: []toolbox.Ref{{Toolbox: request.Toolbox, Server: request.Server}},
	}
	if request.Caller == "" || request.Caller == config.CallerTerminal {
		return audience, nil
	}
	name, isToken := strings.CutPrefix(request.Caller, config.CallerToken)
	if store := i.App.tokens.Load(); isToken && store != nil {
		for _, token := range store.List() {
			if token.Name == name && (token.Toolboxes == nil || slices.Contains(token.Toolboxes, request.Toolbox)) {
				audience.Caller = request.Caller
				return audience, nil
			}
		}
	}
	return audience, &toolbox.Error{Code: toolbox.ToolDenied, Message: fmt.Sprintf("'%s' may not use the tools of toolbox '%s'", i.App.shown(request.Caller), request.Toolbox)}
}

// objectOf returns arguments on one line.
func objectOf(data []byte) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return []byte("{}"), nil
	}
	value, err := wire.ParseValue(data)
	if err != nil || value.Kind() != "object" {
		return nil, &toolbox.Error{Code: toolbox.ArgumentsInvalid, Message: "The arguments are not a JSON object", Cause: err}
	}
	var line bytes.Buffer
	if err := json.Compact(&line, value.Bytes()); err != nil {
		return nil, &toolbox.Error{Code: toolbox.ArgumentsInvalid, Message: "The arguments are not a JSON object", Cause: err}
	}
	return line.Bytes(), nil
}

func useTool(request control.CallRequest, arguments []byte) []byte {
	params := wire.AppendMember([]byte(`{"tool":{`), "toolbox", request.Toolbox)
	params = wire.AppendMember(params, "server", request.Server)
	params = append(wire.AppendMember(params, "name", request.Tool), `},"arguments":`...)
	return append(append(params, arguments...), '}')
}

// callError describes why there is no result.
func (a *App) callError(ctx context.Context, err error) *control.CallError {
	if refused, ok := errors.AsType[*localclient.Error](err); ok {
		failed := &control.CallError{Code: refused.Code, Message: a.Mask(refused.Message)}
		if !refused.Data.IsAbsent() {
			failed.Data = refused.Data.Bytes()
		}
		return failed
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &control.CallError{Message: a.Mask(err.Error())}
}

// trial is one call that a person tries.
type trial struct {
	app    *App
	cancel context.CancelFunc

	mu   sync.Mutex // guards what follows
	emit func(control.CallEvent) error
	open int // questions that wait
}

// connect opens a session in which the toolbox is open.
func (t *trial) connect(ctx context.Context, audience front.Audience, box string) (*localclient.Client, error) {
	return localclient.Connect(ctx, localclient.Options{
		Serve: func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
			return t.app.front.ServeStdio(ctx, in, out, front.StdioOptions{Audience: audience, Opened: []string{box}})
		},
		Name: trialClient, Version: t.app.version, Capabilities: []byte(ByPerson), MaxMessage: t.app.config.Load().MaxMessageSize + trialRoom,
		Progress: func(params wire.Payload) { t.send(control.CallEvent{Progress: params.Bytes()}) },
		Log:      func(params wire.Payload) { t.send(control.CallEvent{Log: params.Bytes()}) },
		Answer:   t.answer,
	})
}

// send passes on an event. If nobody takes it, the call is cancelled.
func (t *trial) send(event control.CallEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.emit(event); err != nil {
		t.cancel()
	}
}

// answer answers a request of the server.
func (t *trial) answer(ctx context.Context, method string, params wire.Payload) ([]byte, error) {
	switch method {
	case protocol.MethodRootsList:
		return []byte(`{"roots":[]}`), nil
	case protocol.MethodElicitation:
		return t.ask(ctx, method, params)
	}
	return nil, &localclient.Error{Code: protocol.CodeMethodNotFound, Message: fmt.Sprintf("The client does not support '%.100s'", method)}
}

// ask puts a question to the person, and waits for the answer.
func (t *trial) ask(ctx context.Context, method string, params wire.Payload) ([]byte, error) {
	if !t.mayAsk() {
		return nil, &localclient.Error{Code: protocol.CodeInternalError, Message: fmt.Sprintf("%d questions wait already", maxAsking)}
	}
	defer t.asked()
	id, answered := t.app.trials.ask()
	defer t.app.trials.forget(id)
	t.send(control.CallEvent{Question: &control.CallQuestion{ID: id, Method: method, Params: params.Bytes()}})
	select {
	case result := <-answered:
		return result, nil
	case <-ctx.Done():
		t.send(control.CallEvent{Withdrawn: id})
		return nil, ctx.Err()
	}
}

func (t *trial) mayAsk() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == maxAsking {
		return false
	}
	t.open++
	return true
}

func (t *trial) asked() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open--
}

// ask registers a question. Its id cannot be guessed, so that only who sees it can answer it.
func (t *trials) ask() (id string, answered chan []byte) {
	id, answered = rand.Text(), make(chan []byte, 1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked == nil {
		t.asked = make(map[string]chan []byte)
	}
	t.asked[id] = answered
	return id, answered
}

func (t *trials) forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.asked, id)
}

// take returns where the only answer of a question goes; nil if it does not wait.
func (t *trials) take(id string) chan []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	answered := t.asked[id]
	delete(t.asked, id)
	return answered
}

// AnswerCall implements control.Trier.
func (i Inspector) AnswerCall(question string, result []byte) error {
	line, err := objectOf(result)
	if err != nil {
		return errors.New("the answer is not a JSON object")
	}
	value := wire.Raw(line)
	action, _ := value.Member("action").Text()
	content := value.Member("content")
	if action != "accept" && action != "decline" && action != "cancel" || !content.IsAbsent() && content.Kind() != "object" {
		return errors.New(`the answer is a result of elicitation/create: {"action": "accept", "decline" or "cancel", "content": {…}}`)
	}
	answered := i.App.trials.take(question)
	if answered == nil {
		return &toolbox.Error{Code: toolbox.QuestionNotFound, Message: "The question no longer waits: it was answered or withdrawn, or its call has ended"}
	}
	answered <- line
	return nil
}
