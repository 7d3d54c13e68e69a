package metatool

import (
	"fmt"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func parseCall(params string) (wire.Message, error) {
	return wire.Parse(wire.NewFrame(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, params)))
}

// sameCall compares what the reader reads with what ReadCall does.
func sameCall(t *testing.T, reader *CallReader, params string) {
	t.Helper()
	message, err := parseCall(params)
	if err != nil {
		t.Skip(err)
	}
	got, gotProblem := reader.Read(&message)
	want, wantProblem := ReadCall(&message)
	if describeCall(&got, gotProblem) != describeCall(&want, wantProblem) {
		t.Errorf("%s is read as\n%s, want\n%s", params, describeCall(&got, gotProblem), describeCall(&want, wantProblem))
	}
}

func describeCall(r *Request, problem string) string {
	return fmt.Sprintf("%q %s %s %s %s %s %s", problem, r.Name, r.ref, r.Arguments.Bytes(), r.Meta.Bytes(), r.Extra, r.Params.Bytes())
}

// TestCallReader reads calls one after another: each is read as if it were the first one.
func TestCallReader(t *testing.T) {
	const (
		tool  = `"tool":{"toolbox":"T","server":"S","name":"n"}`
		begin = `{"name":"use_tool","arguments":{` + tool + `,"arguments":`
	)
	var reader CallReader
	for _, params := range []string{
		begin + `{"a":1}}}`,
		begin + `{"a":{"b":"}}"}}}}`,
		begin + `{}}}`,
		begin + `{},"arguments":{"twice":true}}}`,
		begin + `{}},"arguments":{}}`,
		begin + `{}},"name":"other"}`,
		begin + `{},"tool":{"toolbox":"T","server":"S","name":"other"}}}`,
		begin + `{},"unknown":{}}}`,
		begin + `"{\"a\":1}"}}`,
		begin + `null}}`,
		begin + `[]}}`,
		begin + `{}},"_meta":{"progressToken":1}}`,
		begin + `{"a":1}},"_meta":{"progressToken":1}}`,
		begin + `{"a":1}},"_meta":{"progressToken":2}}`,
		begin + `{}},"_meta":{},"_meta":{}}`,
		begin + `{}},"_Meta":{}}`,
		begin + `{}},"task":{}}`,
		begin + `{"a":1}},"task":{}}`,
		`{"_meta":` + modernMeta + `,"name":"use_tool","arguments":{"arguments":{},` + tool + `}}`,
		`{"_meta":` + modernMeta + `,"name":"use_tool","arguments":{"arguments":{"a":1},` + tool + `}}`,
		`{"name":"use_tool","arguments":{"tool":{"toolbox":"T"},"arguments":{}}}`,
		begin + `{"a":1}}}`,
		`{"name":"n","arguments":{"a":1}}`,
		`{"name":"n","arguments":{"a":2}}`,
		`{"name":"n","arguments":{"a":2},"arguments":{"a":2}}`,
		`{"name":"n"}`,
		`{"arguments":{}}`,
		`{"name":"use_tool","arguments":{}}`,
		`{"name":"use_tool","arguments":{` + tool + `}}`,
		`{"name":"read_tool","arguments":{` + tool + `,"arguments":{"a":1}}}`,
		`{"name":"read_tool","arguments":{` + tool + `,"arguments":{"a":2}}}`,
		`{"name":"read_tool","arguments":{"tool":{"toolbox":"T"},"arguments":{}}}`,
	} {
		for range 2 {
			sameCall(t, &reader, params)
		}
		sameCall(t, &reader, begin+`{"a":1}}}`)
		sameCall(t, &reader, params)
	}
}

// FuzzCallReader reads any call after another one as if it were the first.
func FuzzCallReader(f *testing.F) {
	f.Add(`{"name":"use_tool","arguments":{"tool":{"toolbox":"T","server":"S","name":"n"},"arguments":{"a":1}}}`,
		`{"name":"use_tool","arguments":{"tool":{"toolbox":"T","server":"S","name":"n"},"arguments":{"a":1},"arguments":{}}}`)
	f.Add(`{"name":"n","arguments":{"a":1},"_meta":{"k":1}}`, `{"name":"n","arguments":{},"_meta":{"k":1}}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		var reader CallReader
		sameCall(t, &reader, first)
		sameCall(t, &reader, second)
	})
}
