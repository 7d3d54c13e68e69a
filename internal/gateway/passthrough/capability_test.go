package passthrough

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestCapabilities(t *testing.T) {
	for _, test := range []struct {
		name  string
		mode  config.ToolMode
		fakes []*fake
		want  string
	}{
		{"proxy", "", []*fake{{name: "t/a", capabilities: `{"tasks":{}}`}}, defaultCapabilities},
		{"dynamic", config.Dynamic, nil, defaultCapabilities},
		{"direct, no servers", config.Direct, nil, `{"tools":{"listChanged":true}}`},
		{
			"direct, one server", config.Direct,
			[]*fake{{name: "t/a", capabilities: `{"tools":{},"experimental":{"x": {"y":1.0}},"logging":{}}`}},
			`{"tools":{"listChanged":true},"experimental":{"x": {"y":1.0}},"logging":{}}`,
		},
		{
			"direct, several", config.Direct,
			[]*fake{
				{name: "t/a", capabilities: `{"resources":{"subscribe":false,"listChanged":true},"tasks":{"list":{},"requests":{"tools":{"call":{}}}}}`},
				{name: "t/b", capabilities: `{"resources":{"subscribe":true,"listChanged":false},"tasks":{"cancel":{},"requests":{"tools":{"more":{}}}},"prompts":{}}`},
			},
			`{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"tasks":{"list":{},"requests":{"tools":{"call":{},"more":{}}},"cancel":{}},"prompts":{}}`,
		},
		{
			"direct, extensions that can be routed", config.Direct,
			[]*fake{
				{name: "t/a", capabilities: `{"extensions":{"io.modelcontextprotocol/skills":{}}}`},
				{name: "t/b", capabilities: `{"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true},"io.modelcontextprotocol/ui":{}}}`},
			},
			`{"tools":{"listChanged":true},"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true},"io.modelcontextprotocol/ui":{}}}`,
		},
		{
			"direct, an unknown extension of one server", config.Direct,
			[]*fake{{name: "t/a", capabilities: `{"extensions":{"x":{}},"experimental":{"y":{}}}`}, {name: "t/b", capabilities: `{"experimental":{}}`}},
			`{"tools":{"listChanged":true},"extensions":{"x":{}},"experimental":{"y":{}}}`,
		},
		{
			"direct, unknown extensions of several", config.Direct,
			[]*fake{
				{name: "t/a", capabilities: `{"extensions":{"x":{},"io.modelcontextprotocol/ui":{}},"logging":{}}`},
				{name: "t/b", capabilities: `{"extensions":{"z":{}},"prompts":{}}`},
				{name: "t/c", capabilities: `{"future":{}}`},
			},
			`{"tools":{"listChanged":true},"logging":{},"extensions":{"io.modelcontextprotocol/ui":{}},"prompts":{}}`,
		},
		{
			"direct, known from before", config.Direct,
			[]*fake{{name: "t/a", capabilities: `{"prompts":{}}`, stopped: true}, {name: "t/b", capabilities: `{"resources":{}}`}},
			`{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{}}`,
		},
		{
			"direct, one that may come later", config.Direct,
			[]*fake{{name: "t/a", capabilities: `{"x":{}}`}, {name: "t/b"}},
			`{"tools":{"listChanged":true},"x":{},` + strings.TrimPrefix(defaultCapabilities, `{"tools":{"listChanged":true},`),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, test.mode, test.fakes...)
			told := make(chan string, 1)
			b.Capabilities(t.Context(), b.client, func(capabilities []byte) { told <- string(capabilities) })
			if got := <-told; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestUnion(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	for _, test := range []struct{ a, b, want string }{
		{`{}`, `{}`, `{}`},
		{`{"a":1}`, `{"a":2}`, `{"a":1}`},
		{`{"a":null}`, `{"a":{}}`, `{"a":{}}`},
		{`{"a":{}}`, `{"a":null}`, `{"a":{}}`},
		{`{"a":false}`, `{"a":null}`, `{"a":false}`},
		{`{"a":true}`, `{"a":false}`, `{"a":true}`},
		{`{"\u0061":1}`, `{"a":2,"b":3}`, `{"a":1,"b":3}`},
		{`{}`, ``, `{}`},
		{`{}`, `[]`, `{}`},
		{deep, deep, deep},
	} {
		if got := string(union(wire.Raw([]byte(test.a)), wire.Raw([]byte(test.b)), 0)); got != test.want {
			t.Errorf("%s and %s: got %s, want %s", test.a, test.b, got, test.want)
		}
	}
}
