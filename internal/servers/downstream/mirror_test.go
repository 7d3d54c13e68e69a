package downstream

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestMirrors(t *testing.T) {
	for _, test := range []struct{ name, schema, arguments, want string }{
		{"none", `{"properties":{"a":{"type":"string"}}}`, `{"a":"x"}`, ""},
		{
			"all kinds", `{"properties":{"s":{"type":"string","x-mcp-header":"S"},"i":{"type":"integer","x-mcp-header":"I"},"b":{"type":"boolean","x-mcp-header":"B"}}}`,
			`{"s":"us-west1","i":-7,"b":false}`, "Mcp-Param-B=false Mcp-Param-I=-7 Mcp-Param-S=us-west1",
		},
		{"encoded", `{"properties":{"s":{"type":"string","x-mcp-header":"S"}}}`, `{"s":"Hello, \u4e16界"}`, "Mcp-Param-S==?base64?SGVsbG8sIOS4lueVjA==?="},
		{"within", `{"properties":{"o":{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"S"}}}}}`, `{"s":"no","o":{"s":"yes"}}`, "Mcp-Param-S=yes"},
		{"null", `{"properties":{"s":{"type":"string","x-mcp-header":"S"}}}`, `{"s":null}`, ""},
		{"absent", `{"properties":{"s":{"type":"string","x-mcp-header":"S"}}}`, `{}`, ""},
		{"a property of that name", `{"properties":{"x-mcp-header":{"type":"string"}}}`, `{"x-mcp-header":"x"}`, ""},
		{"an example", `{"properties":{"a":{"default":{"x-mcp-header":"A"}}}}`, `{}`, ""},
		{"empty", `{"properties":{"s":{"type":"string","x-mcp-header":""}}}`, `{}`, "error 'x-mcp-header' is not the name of a header"},
		{"no text", `{"properties":{"s":{"type":"string","x-mcp-header":5}}}`, `{}`, "error 'x-mcp-header' is not the name of a header"},
		{"a line end", `{"properties":{"s":{"type":"string","x-mcp-header":"a\r\nb"}}}`, `{}`, "error 'x-mcp-header' is not the name of a header"},
		{"a space", `{"properties":{"s":{"type":"string","x-mcp-header":"a b"}}}`, `{}`, "error 'x-mcp-header' is not the name of a header"},
		{"number", `{"properties":{"s":{"type":"number","x-mcp-header":"S"}}}`, `{}`, "error 'x-mcp-header' is only for strings, integers and booleans"},
		{"twice", `{"properties":{"a":{"type":"string","x-mcp-header":"S"},"b":{"type":"string","x-mcp-header":"s"}}}`, `{}`, "error 'x-mcp-header' names the same header twice"},
		{"items", `{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"S"}}}}`, `{}`, "error 'x-mcp-header' is used where it is not allowed"},
		{"a choice", `{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"S"}}}]}`, `{}`, "error 'x-mcp-header' is used where it is not allowed"},
		{"a definition", `{"$defs":{"a":{"type":"string","x-mcp-header":"S"}}}`, `{}`, "error 'x-mcp-header' is used where it is not allowed"},
		{"the whole", `{"type":"string","x-mcp-header":"S"}`, `{}`, "error 'x-mcp-header' is used where it is not allowed"},
		{"very deep", strings.Repeat(`{"properties":{"a":`, 5000) + `{"x-mcp-header":""}` + strings.Repeat("}}", 5000), `{}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := make(mirrors)
			err := found.collect(wire.Raw([]byte(`{"name":"a","inputSchema":` + test.schema + `}`)))
			var got []string
			for name, values := range found.header("a", wire.Raw([]byte(test.arguments))) {
				got = append(got, name+"="+strings.Join(values, ","))
			}
			slices.Sort(got)
			if err != nil {
				got = append(got, "error "+err.Error())
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestMirroredCall(t *testing.T) {
	f := newWeb(t)
	region := make(chan string, 10)
	f.before = func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case strings.Contains(body, "server/discover"):
			jsonAnswer(w, 200, `{"jsonrpc":"2.0","id":"discover","result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`)
		case strings.Contains(body, "tools/list"):
			jsonAnswer(w, 200, `{"jsonrpc":"2.0","id":1,"result":{"tools":[
				{"name":"bad","inputSchema":{"x-mcp-header":"X"}},
				{"name":"good","inputSchema":{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]}}`)
		case strings.Contains(body, `"name":"changed"`):
			jsonAnswer(w, http.StatusBadRequest, `{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"Header mismatch"}}`)
		case strings.Contains(body, "tools/call"):
			region <- fmt.Sprint(r.Header["Mcp-Param-Region"])
			return false
		default:
			return false
		}
		return true
	}
	changed := make(chan struct{}, 10)
	session := f.mustConnect(Options{Modern: true, ToolsChanged: func() { changed <- struct{}{} }})
	tools, note, err := session.ListTools(t.Context())
	if err != nil || len(tools) != 1 || note != "Tool 'bad' was left out: 'x-mcp-header' is used where it is not allowed" {
		t.Errorf("%d tools, note %q, error %v", len(tools), note, err)
	}
	for _, test := range []struct{ tool, want string }{{"good", "[north]"}, {"other", "[]"}} {
		mustCall(t, session, ToolCall{Name: test.tool, Arguments: wire.Raw([]byte(`{"region":"north"}`))})
		if got := <-region; got != test.want {
			t.Errorf("%s: the header is %s, want %s", test.tool, got, test.want)
		}
	}
	in := newInbox()
	if _, err := session.CallTool(ToolCall{Name: "changed"}, in); err != nil {
		t.Fatal(err)
	}
	if got := in.outcome(); got != "error Header mismatch" {
		t.Errorf("got %s", got)
	}
	<-changed // the tools are read again
}
