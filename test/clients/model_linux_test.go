package clients

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// This file is a stand-in for a model. It behaves as one that was told to add two numbers
// and has found in its tools what to do: it opens a toolbox, reads in the answer which tool
// there is, uses it, and tells what the tool said. A tool that adds, if the client offers
// one, it calls by its name. If it is asked for a note, it reads that, and if it is told by which
// meta-tool to add, it calls that one alone. The formats in which clients speak to it are in the
// files beside.

// tool is one that a client offers to the model. Some formats group them.
type tool struct{ namespace, name string }

func (t tool) String() string { return strings.TrimPrefix(t.namespace+"."+t.name, ".") }

// conversation is what a client sends with each request, in whatever format.
type conversation struct {
	tools   []tool
	results []string // of the tools that the model called so far
	system  string   // all that is no tool and no result
}

// reply is what the model says: a text or a call of a tool.
type reply struct {
	text string
	call *call
}

type call struct {
	tool      tool
	arguments object
}

// object is one of JSON.
type object = map[string]any

const (
	question = "Add 20 and 22 with the tools of the toolbox math."
	addition = "math__calculator__add" // as dynamic mode names the calculator's tool
	sum      = "The sum is 42, says the calculator."
)

// questionFor is a question that says by which meta-tool to answer it.
func questionFor(metaTool string) string {
	return "Add 20 and 22 with " + metaTool + " and nothing else."
}

// next is the model's whole mind.
func (c conversation) next() reply {
	if read := c.find("ReadMcpResourceTool", "read_mcp_resource"); read != nil && strings.Contains(c.system, note) {
		if len(c.results) == 0 {
			return reply{call: &call{*read, object{"server": "workbench", "uri": note}}}
		}
		return reply{text: "The note says: " + c.results[0]}
	}
	for _, name := range []string{"use_tool", "read_tool"} {
		if run := c.find(name); run != nil && len(c.results) == 0 && strings.Contains(c.system, questionFor(name)) {
			return reply{call: &call{*run, object{
				"tool":      object{"toolbox": "math", "server": "calculator", "name": "add"},
				"arguments": object{"a": 20, "b": 22},
			}}}
		}
	}
	open, use, add := c.find("open_toolbox"), c.find("use_tool"), c.find(addition)
	if open == nil || use == nil { // such as a request for a title of the conversation
		return reply{text: "Adding"}
	}
	switch len(c.results) {
	case 0:
		if add != nil {
			return reply{call: &call{*add, object{"a": 20, "b": 22}}}
		}
		return reply{call: &call{*open, object{"toolbox": "math"}}}
	case 1:
		if strings.Contains(c.results[0], sum) {
			break
		}
		if add != nil {
			return reply{call: &call{*add, object{"a": 20, "b": 22}}}
		}
		var opened struct {
			Tools []struct{ Name, Toolbox, Server string }
		}
		start := strings.Index(c.results[0], `{"toolbox"`)
		if start < 0 {
			return reply{text: "open_toolbox did not answer as it says: " + c.results[0]}
		}
		if err := json.NewDecoder(strings.NewReader(c.results[0][start:])).Decode(&opened); err != nil || len(opened.Tools) == 0 {
			return reply{text: "there is no tool in what open_toolbox answered: " + c.results[0]}
		}
		found := opened.Tools[0]
		return reply{call: &call{*use, object{
			"tool":      object{"toolbox": found.Toolbox, "server": found.Server, "name": found.Name},
			"arguments": object{"a": 20, "b": 22},
		}}}
	}
	return reply{text: "I used a tool. " + c.results[len(c.results)-1]}
}

// find returns the tool with one of these names: clients put the server's before it.
func (c conversation) find(names ...string) *tool {
	for _, t := range c.tools {
		for _, name := range names {
			if strings.HasSuffix(t.name, name) {
				return &t
			}
		}
	}
	return nil
}

// model is the stand-in, listening.
type model struct {
	address string

	mu        sync.Mutex
	asked     []conversation
	unknown   []string // requests that it has no answer for
	transport *http.ServeMux
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{transport: http.NewServeMux()}
	m.speakAnthropic()
	m.speakOpenAI()
	m.speakGemini()
	m.transport.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
		m.mu.Lock()
		m.unknown = append(m.unknown, fmt.Sprintf("%s %s %.300s", r.Method, r.URL, body))
		m.mu.Unlock()
		http.Error(w, `{"error":{"message":"the stand-in for the model does not know this"}}`, http.StatusNotFound)
	})
	server := httptest.NewServer(m.transport)
	t.Cleanup(server.Close)
	m.address = server.URL
	return m
}

// handle decodes the requests at a path into conversations, and answers them.
func (m *model) handle(pattern string, read func(body []byte) (conversation, error), write func(w http.ResponseWriter, r *http.Request, body []byte, said reply)) {
	m.transport.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		c, err := read(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.mu.Lock()
		m.asked = append(m.asked, c)
		m.mu.Unlock()
		write(w, r, body, c.next())
	})
}

// offered returns the tools of the workbench that the model was shown, as the client names them.
func (m *model) offered() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for _, c := range m.asked {
		for _, name := range []string{"open_toolbox", "use_tool", "find_tools", "read_tool"} {
			if t := c.find(name); t != nil && !slices.Contains(names, t.String()) {
				names = append(names, t.String())
			}
		}
	}
	return names
}

// told reports whether the model was shown a text, outside of tools and their results.
func (m *model) told(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.asked, func(c conversation) bool { return strings.Contains(c.system, text) })
}

// event writes one server-sent event.
func event(w io.Writer, name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // of literals only
	}
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprintf(w, "data: %s\n\n", text)
}

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // of literals only
	}
	return string(text)
}

// texts joins what is a text, or a list of blocks with one each.
func texts(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct{ Text string }
	if json.Unmarshal(content, &blocks) != nil {
		return string(content)
	}
	var all []string
	for _, block := range blocks {
		all = append(all, block.Text)
	}
	return strings.Join(all, "\n")
}
