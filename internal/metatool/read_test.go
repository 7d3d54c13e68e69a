package metatool

import (
	"fmt"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/wire"
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
		{"arguments twice", `{"name":"n","arguments":{"a":1},"arguments":{"b":2}}`, `n {  } {"b":2}  `, "", true},
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
				call, ok := ReadCall(&message)
				got := fmt.Sprintf("%s %s %s %s %s", call.Name, call.ref, call.Arguments.Bytes(), call.Meta.Bytes(), call.Extra)
				if !ok || got != test.want {
					t.Errorf("time %d: %t, %s", i, ok, got)
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
				request, ok := ReadCall(&message)
				return fmt.Sprintf("%t %s %s %s", ok, request.Name, request.ref, request.Arguments.Bytes()), message.Meaning() != nil
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
		if call, ok := ReadCall(&message); ok {
			t.Errorf("%s names %q", params, call.Name)
		}
	}
}
