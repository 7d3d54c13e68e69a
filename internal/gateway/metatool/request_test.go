package metatool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestReadCall(t *testing.T) {
	const tool = `"tool":{"toolbox":"T","server":"S","name":"n"}`
	for _, test := range []struct {
		name, params string
		want         string // name, tool, arguments, _meta, further members
		whole        string // arguments of the call itself; "" if they are the same
	}{
		{
			"use_tool", `{"name":"use_tool","arguments":{` + tool + `,"arguments":{"a":1}}}`,
			`use_tool {T S n} {"a":1}  `, `{` + tool + `,"arguments":{"a":1}}`,
		},
		{
			"use_tool without arguments", `{"name":"use_tool","arguments":{` + tool + `}}`,
			`use_tool {T S n}   `, `{` + tool + `}`,
		},
		{
			"use_tool with null", `{"name":"use_tool","arguments":{` + tool + `,"arguments":null}}`,
			`use_tool {T S n}   `, `{` + tool + `,"arguments":null}`,
		},
		{
			"use_tool with _meta", `{"_meta":{"progressToken":"t"},"arguments":{"arguments":{}, ` + tool + `},"name":"use_tool"}`,
			`use_tool {T S n} {} {"progressToken":"t"} `, `{"arguments":{}, ` + tool + `}`,
		},
		{
			"use_tool of a modern client", `{"name":"use_tool","arguments":{` + tool + `,"arguments":{}},"_meta":` + modernMeta + `}`,
			`use_tool {T S n} {} ` + modernMeta + ` `, `{` + tool + `,"arguments":{}}`,
		},
		{
			"use_tool with an object in a string", `{"name":"use_tool","arguments":{` + tool + `,"arguments":"{\"a\":1}"}}`,
			`use_tool {T S n} {"a":1}  `, `{` + tool + `,"arguments":"{\"a\":1}"}`,
		},
		{
			"use_tool as a task", `{"name":"use_tool","arguments":{` + tool + `},"task":{"ttl":1}}`,
			`use_tool {T S n}   "task":{"ttl":1}`, `{` + tool + `}`,
		},
		{
			"use_tool in a wrong way", `{"name":"use_tool","arguments":{"tool":{"toolbox":"T"}}}`,
			`use_tool {  } {"tool":{"toolbox":"T"}}  `, "",
		},
		{
			"read_tool", `{"name":"read_tool","arguments":{` + tool + `,"arguments":{"a":1}}}`,
			`read_tool {T S n} {"a":1}  `, `{` + tool + `,"arguments":{"a":1}}`,
		},
		{"a tool of its own", `{"name":"n","arguments":{"a":1}}`, `n {  } {"a":1}  `, ""},
		{"a tool of its own with a string", `{"name":"n","arguments":"{}"}`, `n {  } "{}"  `, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			message, err := wire.Parse(wire.NewFrame(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, test.params)))
			if err != nil {
				t.Fatal(err)
			}
			call, problem := ReadCall(&message)
			got := fmt.Sprintf("%s %s %s %s %s", call.Name, call.ref, call.Arguments.Bytes(), call.Meta.Bytes(), call.Extra)
			if problem != "" || got != test.want {
				t.Errorf("%q, %s", problem, got)
			}
			want := string(call.Arguments.Bytes())
			if test.whole != "" {
				want = test.whole
			}
			if call.restoreArguments(); string(call.Arguments.Bytes()) != want {
				t.Errorf("the call's own arguments are %s", call.Arguments.Bytes())
			}
		})
	}
}

const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestReadCallWithoutName(t *testing.T) {
	for _, params := range []string{`{}`, `{"name":1}`, `{"arguments":{}}`, `[]`} {
		message, err := wire.Parse(wire.NewFrame([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)))
		if err != nil {
			t.Fatal(err)
		}
		if call, problem := ReadCall(&message); problem != noToolName {
			t.Errorf("%s names %q: %q", params, call.Name, problem)
		}
	}
}

// What another program may read as another call is refused.
func TestReadCallRefusesWhatIsAmbiguous(t *testing.T) {
	for params, want := range map[string]string{
		`{"name":"echo","Name":"env"}`:                                                           "'Name' differs",
		`{"name":"echo","NAME":"env"}`:                                                           "'NAME' differs",
		`{"name":"echo","\u004eame":"env"}`:                                                      "'Name' differs",
		`{"name":"echo","name":"env"}`:                                                           "'name' stands twice",
		`{"name":"echo","n\u0061me":"env"}`:                                                      "'name' stands twice",
		`{"name":"echo","Arguments":{"a":1},"arguments":{}}`:                                     "'Arguments' differs",
		`{"name":"echo","argumentſ":{}}`:                                                         "differs",
		`{"name":"echo","tasK":{}}`:                                                              "differs",
		`{"name":"echo","_META":{"progressToken":1}}`:                                            "'_META' differs",
		`{"name":"echo","_meta":{"progressToken":1,"ProgressToken":2}}`:                          "'ProgressToken' differs",
		`{"name":"echo","_meta":{"io.modelcontextprotocol/ProtocolVersion":"2025-11-25"}}`:       "differs",
		`{"name":"echo","task":{"ttl":1,"TTL":2}}`:                                               "'TTL' differs",
		`{"name":"echo","RequestState":"x"}`:                                                     "'RequestState' differs",
		`{"name":"echo","arguments":{"Name":1,"name":2,"Uri":3},"other":1,"_meta":{"x/Name":1}}`: "",
	} {
		message, err := wire.Parse(wire.NewFrame([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)))
		if err != nil {
			t.Fatal(err)
		}
		if _, problem := ReadCall(&message); want == "" && problem != "" || !strings.Contains(problem, want) {
			t.Errorf("%s: %q", params, problem)
		}
	}
}
