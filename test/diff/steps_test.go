package diff

// This file is the session: every feature of MCP up to revision 2025-11-25.

// capabilities are all that a client can have.
const capabilities = `{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}},` +
	`"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}},"experimental":{"x/y":{"big":9007199254740993}}}`

func hello(revision, capabilities string) []step {
	return []step{
		{name: "initialize", method: "initialize", params: `{"protocolVersion":"` + revision + `","capabilities":` + capabilities + `,"clientInfo":{"name":"script","version":"1"}}`},
		{name: "initialized", method: "notifications/initialized", isNote: true},
	}
}

// call is the step of a call of a tool.
func call(name, tool, arguments string) step {
	return step{name: name, method: "tools/call", params: `{"name":"` + tool + `","arguments":` + arguments + `}`}
}

func (s step) with(edit func(s *step)) step {
	edit(&s)
	return s
}

// ask is a call during which the server asks the client.
func ask(name, method, params string, r reply) step {
	arguments := `{"method":"` + method + `"}`
	if params != "" {
		arguments = `{"method":"` + method + `","params":` + params + `}`
	}
	r.method = method
	return call(name, "ask", arguments).with(func(s *step) { s.replies = []reply{r} })
}

// notes is a call during which the server notifies the client.
func notes(name, list string, count int) step {
	return call(name, "notes", `{"notes":[`+list+`]}`).with(func(s *step) { s.notes = count })
}

func script(revision string) []step {
	var all []step
	for _, part := range [][]step{hello(revision, capabilities), lists, calls, resources, prompts, questions, clientTasks, notifications, tasks, others} {
		all = append(all, part...)
	}
	return append(all, step{name: "ping at the end", method: "ping"})
}

var lists = []step{
	{name: "ping", method: "ping"},
	{name: "list tools", method: "tools/list", list: "tools"},
	{name: "list resources", method: "resources/list", list: "resources", params: `{}`},
	{name: "list templates", method: "resources/templates/list", list: "resourceTemplates"},
	{name: "list prompts", method: "prompts/list", list: "prompts", params: `{"_meta":{}}`},
}

var calls = []step{
	call("text", "text", `{}`),
	call("image", "image", `{}`),
	call("audio", "audio", `{}`),
	call("resource links", "links", `{}`),
	call("embedded resources", "embedded", `{}`),
	call("unknown content", "unknown", `{}`),
	call("an empty result", "bare", `{}`),
	call("structured content", "structured", `{}`),
	call("a result that is an error", "error", `{}`),
	call("MCP Apps: a tool with a view", "app", `{}`),
	call("an error with data", "rejects", `{}`),
	call("an error that asks for a URL", "url", `{}`),
	call("an error of the server's own", "vendor", `{}`),
	call("a tool that is not listed", "no such tool", `{}`),
	call("arguments", "echo", `{ "z":1 , "a":[1.0,9007199254740993,1E+400],"\u0061":"\u00e9\/\ud800","":{ } }`),
	{name: "no arguments", method: "tools/call", params: `{"name":"echo"}`},
	{name: "members beside arguments", method: "tools/call", params: `{"future":{"x":1.0},"name":"echo","arguments":{}}`},
	{name: "trace context", method: "tools/call", params: `{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=\u0062","x/y":[1.0]},"name":"echo","arguments":{}}`},
	{name: "progress with a string", method: "tools/call", params: `{"name":"progress","arguments":{},"_meta":{"progressToken":"t\u00f6ken \/ 1"}}`},
	{name: "progress with a number", method: "tools/call", params: `{"_meta":{"a":1.0,"progressToken":9007199254740993},"name":"progress"}`},
	{name: "progress and members of _meta", method: "tools/call", params: `{"_meta":{"b":1.0,"progressToken":7,"a":[ ]},"name":"echo"}`},
	call("no progress without a token", "progress", `{}`),
	{name: "cancelling", method: "tools/call", params: `{"name":"hang","_meta":{"progressToken":"h"}}`, cancels: 2},
}

var resources = []step{
	{name: "read text", method: "resources/read", params: `{"uri":"file:\/\/\/a%20b","zzz":1.0}`},
	{name: "read a blob", method: "resources/read", params: `{ "_meta":{"x":1.0}, "uri" : "blob:x" }`},
	{name: "read by a template", method: "resources/read", params: `{"uri":"item://7/x%2Fy"}`},
	{name: "MCP Apps: read a view", method: "resources/read", params: `{"uri":"ui://app/view.html"}`},
	{name: "read what is gone", method: "resources/read", params: `{"uri":"gone://x"}`},
	{name: "subscribe", method: "resources/subscribe", params: `{"uri":"file:\/\/\/a%20b"}`, notes: 1},
	{name: "unsubscribe", method: "resources/unsubscribe", params: `{"uri":"file:\/\/\/a%20b"}`},
}

var prompts = []step{
	{name: "get a prompt", method: "prompts/get", params: `{"name":"gr\u00fc\u00dfe","arguments":{"who":"\u00e9","how":""},"zzz":1.0}`},
	{name: "get pictures", method: "prompts/get", params: `{"name":"pictures"}`},
	{name: "get a prompt that fails", method: "prompts/get", params: `{"name":"missing"}`},
	{name: "complete a prompt", method: "completion/complete", params: `{"ref":{"type":"ref\/prompt","name":"gr\u00fc\u00dfe","title":"x"},"argument":{"name":"who","value":"\u00e9"},"context":{"arguments":{"how":"1.0"}}}`},
	{name: "complete a template", method: "completion/complete", params: `{"argument":{"value":"","name":"id"},"ref":{"uri":"item:\/\/{id}\/{+rest}","type":"ref/resource"},"_meta":{"n":1.0}}`},
	{name: "set the level", method: "logging/setLevel", params: `{"level":"d\u0065bug"}`},
	call("log messages", "log", `{}`).with(func(s *step) { s.notes = 2 }),
}

var questions = []step{
	call("the client's capabilities", "told", `{}`),
	ask("roots", "roots/list", ``, reply{body: `"result":{"roots":[{"uri":"file:\/\/\/home","name":"\u00e9","_meta":{"n":1.0}}],"zzz":[ ]}`}),
	ask("sampling", "sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":"\u00e9"}}],"maxTokens":1e2,"temperature":0.10,"modelPreferences":{"hints":[{"name":"x"}],"zzz":1.0},"systemPrompt":"s","metadata":{"big":9007199254740993}}`,
		reply{body: `"result":{"role":"assistant","content":{"type":"text","text":"\u0061nswer"},"model":"m","stopReason":"endTurn","zzz":1.0}`}),
	ask("sampling with tools", "sampling/createMessage", `{"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]}]}],"maxTokens":1,"tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"}}`,
		reply{body: `"result":{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{"n":1.0}}],"model":"m","stopReason":"toolUse"}`}),
	ask("elicitation with a form", "elicitation/create", `{"mode":"form","message":"n\u0061me?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","default":1.0,"zzz":null}}},"_meta":{"k":1.0}}`,
		reply{body: `"result":{"action":"accept","content":{"n":9007199254740993,"s":"\u00e9"},"_meta":{}}`}),
	ask("elicitation with a URL", "elicitation/create", `{"mode":"url","url":"https:\/\/example.com\/a?b=c","elicitationId":"e1","message":"go"}`,
		reply{body: `"result":{"action":"accept"}`}),
	notes("elicitation is complete", `{"method":"notifications/elicitation/complete","params":{"elicitationId":"e\u0031","zzz":1.0}}`, 1),
	ask("elicitation is declined", "elicitation/create", `{"message":"?","requestedSchema":{"type":"object","properties":{}}}`, reply{body: `"result":{ "action":"decline" }`}),
	ask("sampling is refused", "sampling/createMessage", `{"messages":[],"maxTokens":1}`, reply{body: `"error":{"code":-1,"message":"User rejected s\u0061mpling request","data":{"n":1.0}}`}),
	ask("a question with progress", "sampling/createMessage", `{"messages":[],"maxTokens":2,"_meta":{"a":1.0,"progressToken":"s\u0065rver's"}}`,
		reply{body: `"result":{"role":"assistant","content":{"type":"text","text":""},"model":"m"}`, progress: `{"progress":0.50,"progressToken":%s,"message":"\u00e9"}`}),
	call("two questions at once", "ask_two", `{}`).with(func(s *step) {
		s.replies = []reply{{method: "elicitation/create", body: `"result":{"action":"cancel"}`}, {method: "roots/list", body: `"result":{"roots":[]}`}}
	}),
	call("a question that is taken back", "take_back", `{}`).with(func(s *step) { s.replies = []reply{{method: "elicitation/create"}} }),
	ask("a ping of the server", "ping", ``, reply{body: `"result":{}`}),
	ask("a request that nobody knows", "vendor/question", `{"n":1.0,"\u0061":[ ]}`, reply{body: `"result":{"vendor":9007199254740993}`}),
}

// clientTasks are tasks that the client works on for the server.
var clientTasks = []step{
	ask("sampling as a task", "sampling/createMessage", `{"messages":[],"maxTokens":1,"task":{"ttl":60000.0}}`,
		reply{body: `"result":{"task":{"taskId":"cl\u0069ent-1","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","ttl":60000.0,"zzz":null}}`}),
	ask("a form as a task", "elicitation/create", `{"message":"m","requestedSchema":{"type":"object","properties":{}},"task":{}}`,
		reply{body: `"result":{"task":{"taskId":"cl\u0069ent-2","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","ttl":null}}`}),
	{
		name: "the client tells of its task", method: "notifications/tasks/status", isNote: true,
		params: `{"taskId":"cl\u0069ent-1","status":"completed","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:50:00Z","ttl":1.0}`,
	},
	ask("the status of the client's task", "tasks/get", `{"taskId":"cl\u0069ent-1"}`, reply{body: `"result":{"taskId":"cl\u0069ent-1","status":"completed","ttl":1.0,"createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:50:00Z"}`}),
	ask("the result of the client's task", "tasks/result", `{"taskId":"cl\u0069ent-1","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"cl\u0069ent-1"}}}`,
		reply{body: `"result":{"role":"assistant","content":{"type":"text","text":""},"model":"m","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"cl\u0069ent-1"}}}`}),
	ask("the list of the client's tasks", "tasks/list", ``, reply{body: `"result":{"tasks":[ ]}`}),
	ask("the client's task is cancelled", "tasks/cancel", `{"taskId":"cl\u0069ent-2"}`, reply{body: `"error":{"code":-32602,"message":"already \u0064one"}`}),
}

var notifications = []step{
	notes("tools changed", `{"method":"notifications/tools/list_changed"}`, 1),
	{name: "list tools after a change", method: "tools/list", list: "tools"},
	notes("resources changed", `{"method":"notifications/resources/list_changed"}`, 1),
	notes("prompts changed", `{"method":"notifications/prompts/list_changed"}`, 1),
	notes("a notification that nobody knows", `{"method":"notifications/vendor/thing","params":{"n":1.0,"\u0061":[ ]}}`, 1),
	{name: "the client's roots changed", method: "notifications/roots/list_changed", isNote: true, params: `{"_meta":{"n":1.0}}`},
	{name: "a notification of the client that nobody knows", method: "notifications/vendor/mine", isNote: true, params: `{"n":1.0,"\u0061":[ ]}`},
	call("what the server heard", "heard", `{}`),
}

var tasks = []step{
	{name: "a call as a task", method: "tools/call", params: `{"name":"long","arguments":{},"task":{"ttl":60000.0}}`, notes: 1},
	{name: "a task's status", method: "tasks/get", params: `{"taskId":"t\u00e2sk-1"}`},
	{name: "a task's result", method: "tasks/result", params: `{"taskId":"t\u00e2sk-1"}`},
	{name: "a task is cancelled", method: "tasks/cancel", params: `{"taskId":"t\u00e2sk-1"}`},
	{name: "a task that is not there", method: "tasks/get", params: `{"taskId":"no such task"}`},
	{name: "list tasks", method: "tasks/list", list: "tasks"},
}

var others = []step{
	{name: "a request of the client that nobody knows", method: "vendor/thing", params: `{"n":1.0,"_meta":{"x":1},"\u0061":[ ]}`},
	{name: "a request without params", method: "vendor/bare"},
	{name: "a request that is refused", method: "vendor/refused", params: `{}`},
	{name: "a method that does not exist", method: "no/such/method", params: `{}`},
}
