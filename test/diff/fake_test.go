package diff

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// This file is a server of the harness's own. It knows lines and strings: what it sends was
// written by hand, and nothing of the product touches it.

// line is one message, with its parts as they were written.
type line struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`

	about  json.RawMessage // what is sent with the request goes by: its id, unless several sessions share a fake
	modern bool            // it is a request of the modern era
}

// fake is one session of the server.
type fake struct {
	// send writes a message. about is the id of the request that it belongs to, or nil.
	send func(about json.RawMessage, text string)
	era  era
	work sync.WaitGroup
	// ended gets something for each call that hung and was cancelled.
	ended chan struct{}

	mu        sync.Mutex
	asked     int
	answers   map[string]chan line     // of our questions, by id
	running   map[string]chan struct{} // closed when a request is cancelled, by id
	heard     []string                 // notifications of the client
	told      json.RawMessage          // params of initialize
	cancelled int                      // requests that the client cancelled
	grown     bool                     // there is a tool more
	listeners []line                   // requests of the modern era to be told something
}

func newFake(era era, send func(about json.RawMessage, text string)) *fake {
	return &fake{era: era, send: send, ended: make(chan struct{}, 100), answers: make(map[string]chan line), running: make(map[string]chan struct{}), told: json.RawMessage("null")}
}

// serveStdio serves until the input ends.
func serveStdio(era era, in io.Reader, out io.Writer) {
	var writing sync.Mutex
	f := newFake(era, func(_ json.RawMessage, text string) {
		writing.Lock()
		defer writing.Unlock()
		_, _ = io.WriteString(out, text+"\n")
	})
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		f.receive(bytes.Clone(lines.Bytes()))
	}
}

// receive takes a message of the client. Requests are handled in goroutines, so that answers to
// our questions can come meanwhile.
func (f *fake) receive(text []byte) { f.receiveAbout(nil, text) }

// receiveAbout is receive of a request which is called something else than its id.
func (f *fake) receiveAbout(about json.RawMessage, text []byte) {
	var m line
	if err := json.Unmarshal(text, &m); err != nil {
		f.send(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}`)
		return
	}
	switch {
	case m.Method == "":
		f.mu.Lock()
		waiting := f.answers[string(m.ID)]
		delete(f.answers, string(m.ID))
		f.mu.Unlock()
		if waiting != nil {
			waiting <- m
		}
	case m.ID == nil:
		f.hear(m)
	default:
		if m.about = about; about == nil {
			m.about = m.ID
		}
		m.modern = isModern(m.Params)
		stop := make(chan struct{})
		f.mu.Lock()
		f.running[string(m.about)] = stop
		f.mu.Unlock()
		f.work.Go(func() {
			f.handle(m, stop)
			f.mu.Lock()
			delete(f.running, string(m.about))
			f.mu.Unlock()
		})
	}
}

// hear remembers a notification for the tool that tells of them. What only concerns the hop is not
// told: that the session begins, and the id of a request that is cancelled.
func (f *fake) hear(m line) {
	f.mu.Lock()
	defer f.mu.Unlock()
	params := orNull(m.Params)
	switch m.Method {
	case "notifications/initialized":
		return
	case "notifications/cancelled":
		var which struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(m.Params, &which)
		f.cancel(string(which.RequestID))
		return
	case "notifications/progress":
		// The token is that of a question of ours, and must have come back as it was.
	}
	f.heard = append(f.heard, fmt.Sprintf(`{"method":%q,"params":%s}`, m.Method, params))
}

// cancel ends a request that is under way. Called with mu held.
func (f *fake) cancel(about string) {
	if stop := f.running[about]; stop != nil {
		f.cancelled++
		close(stop)
		delete(f.running, about)
	}
}

func orNull(raw json.RawMessage) string {
	if raw == nil {
		return "null"
	}
	return string(raw)
}

// respond sends an answer whose envelope is as unusual as the rest.
func (f *fake) respond(m line, result string) {
	if m.modern {
		result = modernResult(m.Method, result)
	}
	f.send(m.about, `{ "result" :`+result+`,	"id": `+string(m.ID)+` ,"jsonrpc":"2.0"}`)
}

func (f *fake) fail(m line, problem string) {
	if m.modern {
		problem = strings.Replace(problem, "-32002", "-32602", 1)
	}
	f.send(m.about, `{"error":`+problem+`,"jsonrpc":"2.0","id":`+string(m.ID)+`}`)
}

// notify sends a notification about a request, or about nothing.
func (f *fake) notify(about json.RawMessage, method, params string) {
	if params == "" {
		f.send(about, fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method))
		return
	}
	f.send(about, fmt.Sprintf(`{"method":%q, "params":%s, "jsonrpc" : "2.0"}`, method, params))
}

// ask sends a question that belongs to a request, and returns its id and where the answer will be.
func (f *fake) ask(about json.RawMessage, method, params string) (id string, answer chan line) {
	f.mu.Lock()
	f.asked++
	id = strconv.Quote("question " + strconv.Itoa(f.asked))
	answer = make(chan line, 1)
	f.answers[id] = answer
	f.mu.Unlock()
	members := ""
	if params != "" && params != "null" {
		members = `"params":` + params + `,`
	}
	f.send(about, fmt.Sprintf(`{"id":%s,%s"method":%q,"jsonrpc":"2.0"}`, id, members, method))
	return id, answer
}

func (f *fake) handle(m line, stop <-chan struct{}) {
	var params struct {
		Name   string          `json:"name"`
		Cursor string          `json:"cursor"`
		URI    string          `json:"uri"`
		TaskID string          `json:"taskId"`
		Task   json.RawMessage `json:"task"`
	}
	_ = json.Unmarshal(m.Params, &params)
	key := map[string]string{
		"tools/list": params.Cursor, "resources/list": params.Cursor, "resources/templates/list": params.Cursor,
		"prompts/list": params.Cursor, "tasks/list": params.Cursor, "resources/read": params.URI, "prompts/get": params.Name,
		"tasks/get": params.TaskID, "tasks/result": params.TaskID, "tasks/cancel": params.TaskID,
	}[m.Method]
	if f.refuses(m) || m.modern && f.handleModern(m, params.Name, stop) {
		return
	}
	if m.Method == "tools/call" {
		if params.Task != nil {
			f.respond(m, strings.Replace(taskCreated, "PARAMS", callParams(m.Params, nil), 1))
			f.notify(nil, "notifications/tasks/status", taskStatus)
			return
		}
		f.call(m, params.Name, stop)
		return
	}
	f.answer(m, m.Method+" "+key, stop)
}

// answer gives what the table of bytes holds for a request.
func (f *fake) answer(m line, key string, _ <-chan struct{}) {
	switch m.Method {
	case "initialize":
		f.mu.Lock()
		f.told = m.Params
		f.mu.Unlock()
		var asked struct {
			Version json.RawMessage `json:"protocolVersion"`
		}
		_ = json.Unmarshal(m.Params, &asked)
		f.respond(m, strings.Replace(initialized, "VERSION", string(asked.Version), 1))
		return
	case "resources/subscribe":
		f.respond(m, echoed(m))
		f.notify(nil, "notifications/resources/updated", resourceUpdated)
		return
	}
	if problem, ok := problems[key]; ok {
		f.fail(m, problem)
		return
	}
	if key == lastTools && f.hasGrown() {
		key += lateTools
	}
	result, ok := replies[key]
	switch {
	case ok:
		f.respond(m, strings.Replace(result, "PARAMS", orNull(m.Params), 1))
	case strings.HasPrefix(m.Method, "vendor/"), m.Method == "logging/setLevel", m.Method == "resources/unsubscribe", m.Method == "completion/complete":
		f.respond(m, echoed(m))
	default:
		f.fail(m, fmt.Sprintf(`{"code":-32601,"message":"no \u006dethod %s"}`, m.Method))
	}
}

// grow adds a tool to the list.
func (f *fake) grow() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.grown = true
}

func (f *fake) hasGrown() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.grown
}

// echoed is a result that shows the params as they arrived.
func echoed(m line) string {
	return fmt.Sprintf(`{"completion":{"values":["\u00e9","b"],"total":2.0,"hasMore":false},"params":%s,"_meta":{ "x/y" : 1e2 }}`, orNull(m.Params))
}
