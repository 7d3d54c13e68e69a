package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const (
	maxArguments = 64 << 20 // bytes of the arguments of a call that a person tries
	maxReply     = 4 << 20  // bytes of a person's answer to a question of such a call
	maxPage      = 500      // tools on one page of a list
)

// ToolQuery selects a page of the list of tools.
type ToolQuery struct {
	Query           string // "": all in the order of the configuration
	Toolbox, Server string // "": any
	Offset, Limit   int    // Limit is from 1 to 500
}

// CallRequest is a call that a person tries.
type CallRequest struct {
	Toolbox, Server, Tool string
	Caller                string // "token:NAME" for a person with a token; "" or "terminal": one at a terminal
	Arguments             []byte // a JSON object
}

// Trier lets a person look at tools and try them.
type Trier interface {
	// Tools returns a page of the known tools. It starts nothing.
	Tools(query ToolQuery) (ToolPage, error)
	// Tool returns one known tool. It starts nothing.
	Tool(toolbox, server, tool string) (ToolDetail, error)
	// Call calls a tool, and passes on what happens, the result last. When ctx ends or emit fails, the call is cancelled. With an error
	// nothing was passed on.
	Call(ctx context.Context, request CallRequest, emit func(CallEvent) error) error
	// AnswerCall answers a question of a call with a result of elicitation/create.
	AnswerCall(question string, result []byte) error
	// Toolboxes returns what the toolboxes cost.
	Toolboxes() Toolboxes
}

const (
	toolsPath      = "/v1/tools"
	toolPath       = "/v1/tool"
	callPath       = "/v1/call"
	callAnswerPath = "/v1/call/answer"
	toolboxesPath  = "/v1/toolboxes"

	queryParameter    = "q"
	offsetParameter   = "offset"
	limitParameter    = "limit"
	toolParameter     = "tool"
	callerParameter   = "caller"
	questionParameter = "question"
)

// handleTrials adds the requests about tools.
func handleTrials(mux *http.ServeMux, subject Trier) {
	mux.HandleFunc("GET "+toolsPath, func(w http.ResponseWriter, r *http.Request) {
		query, err := toolQueryOf(r.URL.Query())
		if err != nil {
			refuse(w, err)
			return
		}
		page, err := subject.Tools(query)
		answerOr(w, page, err)
	})
	mux.HandleFunc("GET "+toolPath, func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		detail, err := subject.Tool(query.Get(toolboxParameter), query.Get(serverParameter), query.Get(toolParameter))
		answerOr(w, detail, err)
	})
	mux.HandleFunc("POST "+callPath, func(w http.ResponseWriter, r *http.Request) { tryTool(w, r, subject) })
	mux.HandleFunc("POST "+callAnswerPath, func(w http.ResponseWriter, r *http.Request) {
		result, err := readBody(w, r, maxReply)
		if err == nil {
			err = subject.AnswerCall(r.URL.Query().Get(questionParameter), result)
		}
		answerOr(w, struct{}{}, err)
	})
	mux.HandleFunc("GET "+toolboxesPath, func(w http.ResponseWriter, _ *http.Request) { answer(w, subject.Toolboxes()) })
}

// answerOr writes a value, or an error.
func answerOr(w http.ResponseWriter, value any, err error) {
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, value)
}

func toolQueryOf(query url.Values) (q ToolQuery, err error) {
	q = ToolQuery{Query: query.Get(queryParameter), Toolbox: query.Get(toolboxParameter), Server: query.Get(serverParameter), Limit: maxPage}
	for _, number := range []struct {
		name        string
		into        *int
		least, most int
	}{{offsetParameter, &q.Offset, 0, 1 << 30}, {limitParameter, &q.Limit, 1, maxPage}} {
		text := query.Get(number.name)
		if text == "" {
			continue
		}
		if *number.into, err = strconv.Atoi(text); err != nil || *number.into < number.least || *number.into > number.most {
			return q, fmt.Errorf("'%s' is a whole number from %d to %d", number.name, number.least, number.most)
		}
	}
	return q, nil
}

// readBody reads the whole body, so that the end of the connection is noticed from then on.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Now().Add(writeTime))
	defer func() { _ = out.SetReadDeadline(time.Time{}) }()
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fmt.Errorf("what was sent is larger than %d MiB", tooLong.Limit>>20)
	}
	return data, err
}

// tryTool passes on what happens in a call, one event on each line.
func tryTool(w http.ResponseWriter, r *http.Request, subject Trier) {
	arguments, err := readBody(w, r, maxArguments)
	if err != nil {
		refuse(w, err)
		return
	}
	out := http.NewResponseController(w)
	begun := false
	query := r.URL.Query()
	err = subject.Call(r.Context(), CallRequest{
		Toolbox: query.Get(toolboxParameter), Server: query.Get(serverParameter), Tool: query.Get(toolParameter), Caller: query.Get(callerParameter),
		Arguments: arguments,
	}, func(event CallEvent) error {
		if !begun {
			begun = true
			w.Header().Set("Content-Type", "application/x-ndjson")
		}
		_ = out.SetWriteDeadline(time.Now().Add(writeTime))
		if _, err := w.Write(event.appendLine(nil)); err != nil {
			return err
		}
		return out.Flush()
	})
	if err != nil && !begun {
		refuse(w, err)
	}
}

// appendLine encodes an event. What the server sent is passed on as it is, which an encoder would not do.
func (e *CallEvent) appendLine(dst []byte) []byte {
	dst = append(dst, '{')
	first := len(dst)
	member := func(key string) {
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), key...), `":`...)
	}
	for _, raw := range []struct {
		key   string
		value json.RawMessage
	}{{"progress", e.Progress}, {"log", e.Log}, {"result", e.Result}} {
		if raw.value != nil {
			member(raw.key)
			dst = append(dst, onOneLine(raw.value)...)
		}
	}
	if e.Question != nil {
		member("question")
		dst = wire.AppendMember(append(dst, '{'), "id", e.Question.ID)
		dst = append(wire.AppendMember(dst, "method", e.Question.Method), `,"params":`...)
		dst = append(append(dst, onOneLine(e.Question.Params)...), '}')
	}
	if e.Withdrawn != "" {
		member("withdrawn")
		dst = wire.AppendString(dst, e.Withdrawn)
	}
	if e.Error != nil {
		member("error")
		dst = append(dst, e.Error.encode()...)
	}
	if e.Took != 0 {
		member("tookSeconds")
		dst = strconv.AppendFloat(dst, e.Took, 'f', -1, 64)
	}
	return append(dst, "}\n"...)
}

func (e *CallError) encode() []byte {
	data, err := json.Marshal(e)
	if err != nil { // unreachable: the data was parsed
		return []byte(`{"message":"the error cannot be read"}`)
	}
	return data
}

// onOneLine returns JSON without line breaks, which is that of every message that came over a pipe.
func onOneLine(value []byte) []byte {
	if len(value) == 0 {
		return []byte("null")
	}
	if !bytes.ContainsAny(value, "\r\n") {
		return value
	}
	var line bytes.Buffer
	if json.Compact(&line, value) != nil {
		return []byte("null") // unreachable: it was parsed
	}
	return line.Bytes()
}

// NoSuchTool is the error about a tool that is not known.
func NoSuchTool(box, server, tool string) error {
	return &toolbox.Error{Code: toolbox.ToolNotFound, Message: fmt.Sprintf("There is no tool '%s' of server '%s/%s' in this workbench, or it is not known yet", tool, box, server)}
}

// Tools returns a page of the list of tools.
func (c *Client) Tools(ctx context.Context, q ToolQuery) (page ToolPage, err error) {
	values := url.Values{queryParameter: {q.Query}, toolboxParameter: {q.Toolbox}, serverParameter: {q.Server}, offsetParameter: {strconv.Itoa(q.Offset)}}
	if q.Limit > 0 {
		values.Set(limitParameter, strconv.Itoa(q.Limit))
	}
	return page, c.get(ctx, toolsPath, values, &page)
}

// Tool returns one tool.
func (c *Client) Tool(ctx context.Context, box, server, tool string) (detail ToolDetail, err error) {
	values := url.Values{toolboxParameter: {box}, serverParameter: {server}, toolParameter: {tool}}
	return detail, c.get(ctx, toolPath, values, &detail)
}

// Toolboxes returns what the toolboxes cost.
func (c *Client) Toolboxes(ctx context.Context) (all Toolboxes, err error) {
	return all, c.get(ctx, toolboxesPath, nil, &all)
}

// get reads the answer of a request as JSON.
func (c *Client) get(ctx context.Context, path string, query url.Values, into any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodGet, path, query)
	if err != nil {
		return err
	}
	defer body.Close()
	return json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(into)
}

// Call calls a tool, and passes on what happens. When ctx ends, the call is cancelled.
func (c *Client) Call(ctx context.Context, request CallRequest, handle func(CallEvent)) error {
	values := url.Values{toolboxParameter: {request.Toolbox}, serverParameter: {request.Server}, toolParameter: {request.Tool}, callerParameter: {request.Caller}}
	body, err := c.post(ctx, callPath, values, request.Arguments)
	if err != nil {
		return err
	}
	defer body.Close()
	for events := json.NewDecoder(body); ; {
		var event CallEvent
		switch err := events.Decode(&event); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		handle(event)
	}
}

// AnswerCall answers a question of a call.
func (c *Client) AnswerCall(ctx context.Context, question string, result []byte) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.post(ctx, callAnswerPath, url.Values{questionParameter: {question}}, result)
	if err != nil {
		return err
	}
	return body.Close()
}

// post sends a request with a body of JSON.
func (c *Client) post(ctx context.Context, path string, query url.Values, content []byte) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://workbench"+path+"?"+query.Encode(), bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	return c.do(request)
}
