package diff

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// This file is the fake in the modern era: what it says is the same as in the other, with
// what that era has in addition, and questions are results.

// era is which revisions a server or a client speaks.
type era string

const (
	legacyEra era = "legacy" // up to 2025-11-25
	modernEra era = "modern" // 2026-07-28
	bothEras  era = "both"   // as it is spoken to
)

const modernRevision = "2026-07-28"

const discovered = `{"supportedVersions":[VERSIONS],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},` +
	`"prompts":{"listChanged":true},"completions":{},"logging":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"instructions":"Be k\u0069nd."}`

// ofServer is what every result says of the server.
const ofServer = `"io.modelcontextprotocol/serverInfo":{"name":"f\u0061ke","version":"1","zzz":1.0}`

const (
	modernTask   = `"taskId":"t\u00e2sk-2","createdAt":"2026-07-28T10:30:00Z","lastUpdatedAt":"2026-07-28T10:40:00Z","ttlMs":null,"pollIntervalMs":100.0,"zzz":1.0`
	modernWorks  = `{"resultType":"task","status":"working",` + modernTask + `}`
	modernIsDone = `{"status":"completed","result":{"content":[ {"type":"text","text":"t\u0061sk done"}],"resultType":"complete"},` + modernTask + `}`
)

// isModern reports whether params are of a request that says itself of which revision it is.
func isModern(params json.RawMessage) bool {
	var found struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
	return json.Unmarshal(params, &found) == nil && found.Meta.Version == modernRevision
}

// refuses answers a request of an era that the fake does not speak.
func (f *fake) refuses(m line) bool {
	if m.modern && f.era == legacyEra || !m.modern && f.era == modernEra {
		m.modern = false
		f.fail(m, `{"code":-32601,"message":"this is of the other era"}`)
		return true
	}
	return false
}

// modernResult adds to a result what it has to have in the modern era.
func modernResult(method, result string) string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal([]byte(result), &members)
	extra := ""
	if _, has := members["resultType"]; !has {
		extra = `"resultType":"complete",`
	}
	if slices.Contains([]string{"server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list"}, method) {
		extra += `"ttlMs":60000,"cacheScope":"public",`
	}
	result = withMeta(result, ofServer)
	return "{" + extra + strings.TrimPrefix(result, "{")
}

// withMeta puts members into the _meta of an object, behind those that it has.
func withMeta(object, members string) string {
	var found map[string]json.RawMessage
	_ = json.Unmarshal([]byte(object), &found)
	meta, has := found["_meta"]
	switch {
	case !has && len(found) == 0:
		return `{"_meta":{` + members + `}}`
	case !has:
		return strings.TrimSuffix(strings.TrimRight(object, " "), "}") + `,"_meta":{` + members + `}}`
	}
	at := strings.LastIndex(object, `"_meta":`+string(meta)) + len(`"_meta":`)
	inner := strings.TrimSuffix(string(meta), "}")
	if strings.TrimSpace(inner) != "{" {
		inner += ","
	}
	return object[:at] + inner + members + "}" + object[at+len(meta):]
}

// handleModern does what is not the same in the modern era, and reports whether that was all.
func (f *fake) handleModern(m line, tool string, stop <-chan struct{}) bool {
	switch m.Method {
	case "server/discover":
		versions := `"` + modernRevision + `"`
		if f.era == bothEras {
			versions += `,"` + newest + `"`
		}
		f.respond(m, strings.Replace(discovered, "VERSIONS", versions, 1))
	case "subscriptions/listen":
		f.listen(m, stop)
	case "tasks/get":
		f.respond(m, modernIsDone)
	case "tasks/update", "tasks/cancel":
		f.respond(m, `{}`)
	case "tools/call":
		return f.callModern(m, tool)
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/list", "tasks/result":
		f.fail(m, `{"code":-32601,"message":"not in this era"}`)
	default:
		return false
	}
	return true
}

// callModern runs the tools that ask or tell something.
func (f *fake) callModern(m line, name string) bool {
	var params toolParams
	_ = json.Unmarshal(m.Params, &params)
	switch name {
	case "ask":
		f.askModern(m, func(answers []string) string { return `"answer":{"result":` + answers[0] + `}` }, params.Arguments.Method, string(params.Arguments.Params))
	case "ask_two":
		f.askModern(m, func(answers []string) string {
			return `"answers":[{"result":` + answers[0] + `},{"result":` + answers[1] + `}]`
		}, "elicitation/create", `{"mode":"form","message":"first","requestedSchema":{"type":"object","properties":{}}}`, "roots/list", "")
	case "notes":
		for _, note := range params.Arguments.Notes {
			if note.Method == "notifications/tools/list_changed" {
				f.grow()
			}
			f.tell(m, note.Method, string(note.Params))
		}
		f.respond(m, `{"content":[]}`)
	case "told":
		f.respond(m, fmt.Sprintf(`{"content":[],"capabilities":%s}`, orNull(params.Meta.Capabilities)))
	case "long":
		if !strings.Contains(string(params.Meta.Capabilities), "io.modelcontextprotocol/tasks") {
			return false
		}
		f.respond(m, modernWorks)
	case "log":
		if params.Meta.Level == "" {
			f.respond(m, `{"content":[]}`)
			return true
		}
		return false
	default:
		return false
	}
	return true
}

// askModern answers with questions, and when their answers come, with what is made of them.
// asked are methods and params in turn.
func (f *fake) askModern(m line, then func(answers []string) string, asked ...string) {
	var params struct {
		Answers map[string]json.RawMessage `json:"inputResponses"`
		State   json.RawMessage            `json:"requestState"`
	}
	_ = json.Unmarshal(m.Params, &params)
	if params.State == nil {
		var questions []string
		for i := 0; i < len(asked); i += 2 {
			members := ""
			if asked[i+1] != "" && asked[i+1] != "null" {
				members = `"params":` + asked[i+1] + `,`
			}
			questions = append(questions, fmt.Sprintf(`"k\u0065y %d":{%s"method":%q}`, i/2, members, asked[i]))
		}
		f.respond(m, `{"resultType":"input_required","inputRequests":{`+strings.Join(questions, ",")+`},"requestState":"st\u0061te \/ 1"}`)
		return
	}
	var answers []string
	for i := range len(asked) / 2 {
		answers = append(answers, orNull(params.Answers[fmt.Sprintf("key %d", i)]))
	}
	f.respond(m, `{"content":[],`+then(answers)+`}`)
}

// listen acknowledges a request to be told something, and tells it until the client goes.
func (f *fake) listen(m line, stop <-chan struct{}) {
	var params struct {
		Wanted json.RawMessage `json:"notifications"`
	}
	_ = json.Unmarshal(m.Params, &params)
	f.notify(m.about, "notifications/subscriptions/acknowledged", fmt.Sprintf(`{"notifications":%s,"_meta":{%s}}`, params.Wanted, subscription(m)))
	f.mu.Lock()
	f.listeners = append(f.listeners, m)
	f.mu.Unlock()
	if strings.Contains(string(params.Wanted), "resourceSubscriptions") {
		f.notify(m.about, "notifications/resources/updated", withMeta(resourceUpdated, subscription(m)))
	}
	if strings.Contains(string(params.Wanted), "taskIds") {
		f.notify(m.about, "notifications/tasks", withMeta(modernIsDone, subscription(m)))
	}
	<-stop
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners = slices.DeleteFunc(f.listeners, func(l line) bool { return string(l.about) == string(m.about) })
}

func subscription(m line) string {
	return `"io.modelcontextprotocol/subscriptionId":` + string(m.ID)
}

// filters are what clients listen for, by what is told then.
var filters = map[string]string{
	"notifications/tools/list_changed":     "toolsListChanged",
	"notifications/prompts/list_changed":   "promptsListChanged",
	"notifications/resources/list_changed": "resourcesListChanged",
}

// tell notifies those who listen; what nobody can listen for goes with the request.
func (f *fake) tell(m line, method, params string) {
	filter, can := filters[method]
	if !can {
		f.notify(m.about, method, params)
		return
	}
	f.mu.Lock()
	listeners := slices.Clone(f.listeners)
	f.mu.Unlock()
	for _, l := range listeners {
		if strings.Contains(string(l.Params), filter) {
			f.notify(l.about, method, withMeta(`{}`, subscription(l)))
		}
	}
}

// serveModern serves a request of the modern era. Several sessions may use the same ids, so
// that requests are known by numbers. That the client goes cancels it.
func (h *fakeHTTP) serveModern(w http.ResponseWriter, r *http.Request, m line, body []byte) {
	if r.Method != http.MethodPost {
		http.Error(w, "not in this era", http.StatusMethodNotAllowed)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if problem := wrongHeader(r.Header, m); problem != "" && isModern(m.Params) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":%q}}`, m.ID, problem)
		return
	}
	h.mu.Lock()
	h.requests++
	about := fmt.Sprintf(`"request %d"`, h.requests)
	h.mu.Unlock()
	h.modern.stream(about)
	h.modern.fake.receiveAbout(json.RawMessage(about), body)
	h.modern.pump(w, r, about)
	h.modern.fake.mu.Lock()
	defer h.modern.fake.mu.Unlock()
	h.modern.fake.cancel(about)
}

// wrongHeader says which header does not repeat what the request says.
func wrongHeader(header http.Header, m line) string {
	if got := header.Get("Mcp-Method"); got != m.Method {
		return "Mcp-Method is " + got
	}
	if got := header.Get("MCP-Protocol-Version"); got != modernRevision {
		return "MCP-Protocol-Version is " + got
	}
	if got, want := header.Get("Mcp-Name"), nameHeader(m); got != want {
		return "Mcp-Name is " + got + ", not " + want
	}
	return ""
}
