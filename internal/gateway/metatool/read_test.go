package metatool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestReadCallTwice(t *testing.T) {
	const tool = `"tool":{"toolbox":"T","server":"S","name":"n"}`
	for _, test := range []struct {
		name, params string
		want         string // name, tool, arguments, _meta, further members
		whole        string // arguments of the call itself; "" if they are the same
		known        bool   // from the second time on
	}{
		{
			"use_tool", `{"name":"use_tool","arguments":{` + tool + `,"arguments":{"a":1}}}`,
			`use_tool {T S n} {"a":1}  `, `{` + tool + `,"arguments":{"a":1}}`, true,
		},
		{
			"use_tool without arguments", `{"name":"use_tool","arguments":{` + tool + `}}`,
			`use_tool {T S n}   `, `{` + tool + `}`, true,
		},
		{
			"use_tool with null", `{"name":"use_tool","arguments":{` + tool + `,"arguments":null}}`,
			`use_tool {T S n}   `, `{` + tool + `,"arguments":null}`, true,
		},
		{
			"use_tool with _meta", `{"_meta":{"progressToken":"t"},"arguments":{"arguments":{}, ` + tool + `},"name":"use_tool"}`,
			`use_tool {T S n} {} {"progressToken":"t"} `, `{"arguments":{}, ` + tool + `}`, true,
		},
		{
			"use_tool of a modern client", `{"name":"use_tool","arguments":{` + tool + `,"arguments":{}},"_meta":` + modernMeta + `}`,
			`use_tool {T S n} {} ` + modernMeta + ` `, `{` + tool + `,"arguments":{}}`, true,
		},
		{
			"use_tool with an object in a string", `{"name":"use_tool","arguments":{` + tool + `,"arguments":"{\"a\":1}"}}`,
			`use_tool {T S n} {"a":1}  `, `{` + tool + `,"arguments":"{\"a\":1}"}`, false,
		},
		{
			"use_tool as a task", `{"name":"use_tool","arguments":{` + tool + `},"task":{"ttl":1}}`,
			`use_tool {T S n}   "task":{"ttl":1}`, `{` + tool + `}`, false,
		},
		{
			"use_tool in a wrong way", `{"name":"use_tool","arguments":{"tool":{"toolbox":"T"}}}`,
			`use_tool {  } {"tool":{"toolbox":"T"}}  `, "", false,
		},
		{"a tool of its own", `{"name":"n","arguments":{"a":1}}`, `n {  } {"a":1}  `, "", true},
		{"a tool of its own with a string", `{"name":"n","arguments":"{}"}`, `n {  } "{}"  `, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var forms wire.Forms
			for i := range 3 {
				message, err := forms.Parse(wire.NewFrame(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, i*100, test.params)))
				if err != nil {
					t.Fatal(err)
				}
				if known := message.Meaning() != nil; known != (test.known && i > 0) {
					t.Errorf("time %d: known is %t", i, known)
				}
				call, problem := ReadCall(&message)
				got := fmt.Sprintf("%s %s %s %s %s", call.Name, call.ref, call.Arguments.Bytes(), call.Meta.Bytes(), call.Extra)
				if problem != "" || got != test.want {
					t.Errorf("time %d: %q, %s", i, problem, got)
				}
				want := string(call.Arguments.Bytes())
				if test.whole != "" {
					want = test.whole
				}
				if call.unfold(); string(call.Arguments.Bytes()) != want {
					t.Errorf("time %d: the call's own arguments are %s", i, call.Arguments.Bytes())
				}
			}
		})
	}
}

const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// Calls that are written alike may have a _meta in common, or each its own.
func TestReadCallWithOtherMeta(t *testing.T) {
	const tracked = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1}`
	long := `{"io.modelcontextprotocol/clientInfo":{"name":"` + strings.Repeat("x", 2000) + `"}}`
	line := func(id int, more string) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"n","arguments":{}%s}}`, id, more)
	}
	for _, test := range []struct {
		name, first, second string
		known, isCommon     bool // of the second
	}{
		{"the same of the client", `,"_meta":` + modernMeta, `,"_meta":` + modernMeta, true, true},
		{"the same with a level", `,"_meta":{"io.modelcontextprotocol/logLevel":"info"}`, `,"_meta":{"io.modelcontextprotocol/logLevel":"info"}`, true, true},
		{"another of the client", `,"_meta":` + modernMeta, `,"_meta":{"io.modelcontextprotocol/logLevel":"info"}`, false, false},
		{"a long one of the client", `,"_meta":` + long, `,"_meta":` + long, true, false},
		{"then a token", `,"_meta":` + modernMeta, `,"_meta":` + tracked, false, false},
		{"then none", `,"_meta":` + modernMeta, ``, false, false},
		{"then a state", `,"_meta":` + modernMeta, `,"_meta":` + modernMeta + `,"requestState":"s"`, false, false},
		{"tokens", `,"_meta":{"progressToken":7}`, `,"_meta":` + tracked, true, false},
		{"no token any more", `,"_meta":` + tracked, `,"_meta":` + modernMeta, true, false},
		{"none", ``, ``, true, false},
		{"no object", `,"_meta":1`, `,"_meta":` + tracked, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var forms, strange wire.Forms
			read := func(forms *wire.Forms, line []byte) (wire.Message, Request) {
				message, err := forms.Parse(wire.NewFrame(line))
				if err != nil {
					t.Fatal(err)
				}
				call, problem := ReadCall(&message)
				if problem != "" {
					t.Fatalf("%s: %s", line, problem)
				}
				return message, call
			}
			first := line(1, test.first)
			read(&forms, first)
			clear(first) // as sending the call may do
			message, got := read(&forms, line(2, test.second))
			_, want := read(&strange, line(2, test.second))
			if a, b := string(got.Meta.Bytes())+string(got.Extra), string(want.Meta.Bytes())+string(want.Extra); a != b {
				t.Errorf("read %s, want %s", a, b)
			}
			if got.plain && (!got.Meta.Member("progressToken").IsAbsent() || !got.Meta.Member(protocol.MetaLogLevel).IsAbsent()) {
				t.Errorf("%s counts as plain", got.Meta.Bytes())
			}
			common, isCommon := CommonMeta(&message)
			if known := message.Meaning() != nil; known != test.known || isCommon != test.isCommon {
				t.Errorf("recognized is %t, the _meta in common %t", known, isCommon)
			}
			if isCommon && string(common.Bytes()) != string(want.Meta.Bytes()) {
				t.Errorf("the _meta in common is %s", common.Bytes())
			}
		})
	}
}

// The arguments of calls that are written alike may be of any kind.
func TestReadCallWithOtherArguments(t *testing.T) {
	for _, tool := range []string{"use_tool", "n"} {
		for _, sent := range []string{`{"b":2}`, `{}`, `null`, `"{\"b\":2}"`, `"text"`, `7`, `[]`, `true`} {
			line := func(id int, arguments string) []byte {
				params := `{"name":"n","arguments":` + arguments + `}`
				if tool == "use_tool" {
					params = `{"name":"use_tool","arguments":{"tool":{"toolbox":"T","server":"S","name":"n"},"arguments":` + arguments + `}}`
				}
				return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, id, params)
			}
			var forms, strange wire.Forms
			read := func(forms *wire.Forms, line []byte) (call string, known bool) {
				message, err := forms.Parse(wire.NewFrame(line))
				if err != nil {
					t.Fatal(err)
				}
				request, problem := ReadCall(&message)
				return fmt.Sprintf("%q %s %s %s", problem, request.Name, request.ref, request.Arguments.Bytes()), message.Meaning() != nil
			}
			read(&forms, line(1, `{"a":1}`))
			want, _ := read(&strange, line(2, sent))
			got, known := read(&forms, line(2, sent))
			if got != want || !known {
				t.Errorf("%s with %s: %s, want %s; recognized: %t", tool, sent, got, want, known)
			}
		}
	}
}

func TestReadCallWithoutName(t *testing.T) {
	var forms wire.Forms
	for _, params := range []string{`{}`, `{"name":1}`, `{"arguments":{}}`, `[]`} {
		message, err := forms.Parse(wire.NewFrame([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)))
		if err != nil {
			t.Fatal(err)
		}
		if call, problem := ReadCall(&message); problem != noToolName {
			t.Errorf("%s names %q: %q", params, call.Name, problem)
		}
	}
}

// What another program may read as another call is refused, also if it is written like one before.
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
		var forms wire.Forms
		for _, first := range []string{`{"name":"echo","arguments":{},"_meta":{"progressToken":0}}`, params, params} {
			message, err := forms.Parse(wire.NewFrame([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + first + `}`)))
			if err != nil {
				t.Fatal(err)
			}
			_, problem := ReadCall(&message)
			if first == params && (want == "" && problem != "" || !strings.Contains(problem, want)) {
				t.Errorf("%s: %q", params, problem)
			}
		}
	}
}
