package era

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const hop = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"},` +
	`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info"`

// check compares, and looks whether what was given was left alone.
func check(t *testing.T, given string, change func(wire.Payload) wire.Payload, want string) {
	t.Helper()
	buffer := []byte(given)
	got := change(wire.Raw(buffer))
	if string(got.Bytes()) != want {
		t.Errorf("got  %s\nwant %s", got.Bytes(), want)
	}
	if string(buffer) != given {
		t.Errorf("the buffer was written to: %s", buffer)
	}
	if given == want && given != "" && &got.Bytes()[0] != &buffer[0] {
		t.Error("what needed no change was copied")
	}
}

func TestLowerParams(t *testing.T) {
	for _, test := range []struct{ name, params, want string }{
		{"nothing to do", `{"uri":"a:b", "_meta":{"x":1.0 }}`, `{"uri":"a:b", "_meta":{"x":1.0 }}`},
		{"_meta goes with its last member", `{"uri":"a:b","_meta":{` + hop + `}}`, `{"uri":"a:b"}`},
		{"the client's own stays", `{"_meta":{"x":1.0,` + hop + `,"progressToken":"p"}, "uri":"a:b"}`, `{"_meta":{"x":1.0,"progressToken":"p"}, "uri":"a:b"}`},
		{"what was answered", `{"inputResponses":{"a":{}},"name":"n","requestState":"s"}`, `{"name":"n"}`},
		{"all of it", `{"requestState":"s","_meta":{` + hop + `}}`, `{}`},
		{"an empty _meta of the client's", `{"_meta":{}}`, `{"_meta":{}}`},
		{"an escaped key", `{"_meta":{"io.modelcontextprotocol\/logLevel":"info"}}`, `{}`},
		{"absent", ``, ``},
		{"an array", `[1]`, `[1]`},
		{"a _meta that is none", `{"_meta":7}`, `{"_meta":7}`},
	} {
		t.Run(test.name, func(t *testing.T) { check(t, test.params, LowerParams, test.want) })
	}
}

func TestLowerMeta(t *testing.T) {
	check(t, `{`+hop+`}`, LowerMeta, ``)
	check(t, `{"a":1,`+hop+`}`, LowerMeta, `{"a":1}`)
	check(t, `{"a": 1}`, LowerMeta, `{"a": 1}`)
	check(t, ``, LowerMeta, ``)
}

func TestLowerMembers(t *testing.T) {
	for given, want := range map[string]string{
		``:                                       ``,
		`"task":{"ttl":1}`:                       `"task":{"ttl":1}`,
		`"inputResponses":{},"task":{ }`:         `"task":{ }`,
		`"inputResponses":{},"requestState":"s"`: ``,
	} {
		if got := LowerMembers([]byte(given)); string(got) != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}

func TestRaiseResult(t *testing.T) {
	const info = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}`
	for _, test := range []struct{ name, method, result, info, want string }{
		{"a call", "tools/call", `{"content":[ ]}`, ``, `{"content":[ ],"resultType":"complete"}`},
		{"an empty result", "ping", `{}`, ``, `{"resultType":"complete"}`},
		{"with the server", "tools/call", `{"content":[]}`, `{"name":"s"}`, `{"content":[],"resultType":"complete",` + info + `}`},
		{
			"the server's own _meta stays", "tools/call", `{"_meta":{"a":1.0},"content":[]}`, `{"name":"s"}`,
			`{"_meta":{"a":1.0,"io.modelcontextprotocol/serverInfo":{"name":"s"}},"content":[],"resultType":"complete"}`,
		},
		{"a list", "tools/list", `{"tools":[]}`, ``, `{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`},
		{"what is there stays", "resources/read", `{"resultType":"x","ttlMs":5,"cacheScope":"public"}`, ``, `{"resultType":"x","ttlMs":5,"cacheScope":"public"}`},
		{"ttlMs alone", "prompts/list", `{"resultType":"complete","cacheScope":"public"}`, ``, `{"resultType":"complete","cacheScope":"public","ttlMs":0}`},
		{"a _meta that is none", "x", `{"resultType":"complete","_meta":7}`, `{"name":"s"}`, `{"resultType":"complete","_meta":7}`},
		{"no object", "x", `7`, `{"name":"s"}`, `7`},
	} {
		t.Run(test.name, func(t *testing.T) {
			check(t, test.result, func(result wire.Payload) wire.Payload {
				return RaiseResult(test.method, result, wire.Raw([]byte(test.info)))
			}, test.want)
		})
	}
}

func TestLowerResult(t *testing.T) {
	const info = `"io.modelcontextprotocol/serverInfo":{"name":"s"}`
	for _, test := range []struct{ name, method, result, want string }{
		{"a call", "tools/call", `{"resultType":"complete","content":[ ]}`, `{"content":[ ]}`},
		{"a list", "tools/list", `{"resultType":"complete","ttlMs":5,"tools":[],"cacheScope":"public"}`, `{"tools":[]}`},
		{"members of another meaning", "tools/call", `{"ttlMs":5,"content":[]}`, `{"ttlMs":5,"content":[]}`},
		{"reserved keys", "tools/call", `{"_meta":{` + info + `},"content":[]}`, `{"content":[]}`},
		{"beside others", "tools/call", `{"_meta":{"a":1.0,` + info + `},"content":[]}`, `{"_meta":{"a":1.0},"content":[]}`},
		{"nothing to do", "tools/call", `{"content":[] , "_meta":{"a":1}}`, `{"content":[] , "_meta":{"a":1}}`},
		{"no object", "x", `[1]`, `[1]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			check(t, test.result, func(result wire.Payload) wire.Payload { return LowerResult(test.method, result) }, test.want)
		})
	}
}

func TestErrors(t *testing.T) {
	const missing, invalid = `{"code":-32002,"message":"m","data":{"uri":"a:b"}}`, `{"code":-32602,"message":"m","data":{"uri":"a:b"}}`
	lower := func(method string) func(wire.Payload) wire.Payload {
		return func(rpcError wire.Payload) wire.Payload { return LowerError(method, rpcError) }
	}
	check(t, missing, RaiseError, invalid)
	check(t, invalid, RaiseError, invalid)
	check(t, `{"code":1}`, RaiseError, `{"code":1}`)
	check(t, invalid, lower("resources/read"), missing)
	check(t, invalid, lower("tools/call"), invalid)
	check(t, `{"code":-32602,"message":"m"}`, lower("resources/read"), `{"code":-32602,"message":"m"}`)
}

func TestQuestions(t *testing.T) {
	lower := func(method string) func(wire.Payload) wire.Payload {
		return func(params wire.Payload) wire.Payload { return LowerQuestion(method, params, "e-1") }
	}
	const elicitation = "elicitation/create"
	check(t, `{"mode":"url","url":"u"}`, lower(elicitation), `{"mode":"url","url":"u","elicitationId":"e-1"}`)
	check(t, `{"mode":"url","elicitationId":"x"}`, lower(elicitation), `{"mode":"url","elicitationId":"x"}`)
	check(t, `{"mode":"form"}`, lower(elicitation), `{"mode":"form"}`)
	check(t, `{"mode":"url"}`, lower("other"), `{"mode":"url"}`)
	raise := func(params wire.Payload) wire.Payload { return RaiseQuestion(elicitation, params) }
	check(t, ``, raise, `{}`)
	check(t, `{"mode":"url","elicitationId":"x"}`, raise, `{"mode":"url"}`)
	check(t, `{"elicitationId":"x"}`, raise, `{"elicitationId":"x"}`)
}

func TestBringsState(t *testing.T) {
	for given, want := range map[string]bool{
		``:                                  false,
		`"task":{"requestState":"s"}`:       false,
		`"task":{},"requestState":"s"`:      true,
		`"request\u0053tate":"s","task":{}`: true,
	} {
		if got := BringsState([]byte(given)); got != want {
			t.Errorf("%s: %v, want %v", given, got, want)
		}
	}
}
