package approval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestShownArguments(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	for _, test := range []struct{ name, arguments, want string }{
		{"none", `{}`, ""},
		{"absent", ``, ""},
		{"plain ones", `{"path":"/a/b","n":1.50,"on":true,"nothing":null}`, "path: \"/a/b\"\nn: 1.50\non: true\nnothing: null"},
		{"a short object", `{"a":{"b":[1,"x"]}}`, `a: {b: [1, "x"]}`},
		{
			"named like a secret", `{"password":"hunter2","api_key":["k1","k2"],"credentials":{"user":"me","n":12345}}`,
			"password: [hidden]\napi_key: [[hidden], [hidden]]\ncredentials: {user: [hidden], n: [hidden]}",
		},
		{
			"in the form of a secret", `{"text":"ghp_0123456789abcdefghijABCDEFGHIJ","url":"https://me:pass@example.com/x"}`,
			"text: [hidden]\nurl: [hidden]",
		},
		{"a secret within a text", `{"text":"use token=abcdefgh and go"}`, `text: "use token=[hidden] and go"`},
		{"a secret of the configuration", `{"text":"it is s3cret","n":{"s3cret":1}}`, "text: \"it is [hidden]\"\nn: {\"[hidden]\": 1}"},
		{"a long text", `{"text":"` + long + `"}`, `text: text of 5000 characters that begins with "` + long[:maxBeginning] + `…"`},
		{"lines", `{"text":"` + strings.Repeat(`one\n`, 100) + `"}`, `text: text of 400 characters in 100 lines that begins with "` + strings.Repeat(`one\n`, 30) + `…"`},
		{"a long list", `{"list":[` + strings.Repeat("1234567890,", 100) + `1]}`, "list: list of 101 values that begins with [" + strings.Repeat("1234567890, ", 9) + "1234567890,…"},
		{"a long object", `{"o":{"a":"` + long + `","b c":1}}`, `o: object with 2 members: a, "b c"`},
		{"a long number", `{"n":1` + strings.Repeat("0", 1000) + `}`, "n: 1" + strings.Repeat("0", maxText-1) + "…"},
		{"text that hides", "{\"a\\nb\":\"x\u200by\u202e\\u001b[2J\u3164\"}", `"a\nb": "x\u200by\u202e\u001b[2J\u3164"`},
		{"line ends that JSON does not escape", "{\"a\":\"x\u2028Reason: none\u2029\"}", `a: "x\u2028Reason: none\u2029"`},
		{"a secret as a name", `{"ghp_0123456789abcdefghijABCDEFGHIJ":1}`, `"[hidden]": 1`},
		{"a list instead of an object", `["rm"]`, `not an object: ["rm"]`},
		{"a text instead of an object", `"rm"`, `not an object: "rm"`},
		{"deep", `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "a: " + strings.Repeat("[", maxDepth) + "…" + strings.Repeat("]", maxDepth)},
		{"the same name twice", `{"a":1,"a":2}`, "a: 1\na: 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := viewer{func(text string) string { return strings.ReplaceAll(text, "s3cret", "[hidden]") }}
			if got := v.arguments(wire.Raw([]byte(test.arguments))); got != test.want {
				t.Errorf("shown as\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestShownTool(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"delete", "'dev/files/delete'"},
		{"lösche alles", "'dev/files/lösche alles'"},
		{"x' without arguments.", `"dev/files/x' without arguments."`},
		{"x\nReason: none", `"dev/files/x\nReason: none"`},
		{"x\u2028y", `"dev/files/x\u2028y"`},
		{"dele\u200bte", `"dev/files/dele\u200bte"`},
		{strings.Repeat("x", 1000), `"dev/files/` + strings.Repeat("x", maxText-10) + `…"`},
	} {
		if got := shownTool(toolbox.Ref{Toolbox: "dev", Server: "files", Name: test.name}); got != test.want {
			t.Errorf("%q is shown as %s, want %s", test.name, got, test.want)
		}
	}
}

func TestManyArguments(t *testing.T) {
	var members []string
	for i := range 1000 {
		members = append(members, fmt.Sprintf(`"a%d":"%s"`, i, strings.Repeat("é", 10_000)))
	}
	text := viewer{func(text string) string { return text }}.arguments(wire.Raw([]byte("{" + strings.Join(members, ",") + "}")))
	if len(text) > maxArguments*2*maxText || !strings.HasSuffix(text, "\n… and 950 more") {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
}
