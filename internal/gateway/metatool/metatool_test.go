package metatool

import (
	"os"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestParseOpen(t *testing.T) {
	for _, test := range []struct{ input, name, problem string }{
		{`{"toolbox":"dev"}`, "dev", ""},
		{`{"toolbox_name":"dev"}`, "dev", ""},
		{`{"toolbox":"dev","toolbox_name":"dev"}`, "dev", ""},
		{`{"toolbox":"dev","toolbox_name":"prod"}`, "", "toolbox and toolbox_name are different; send toolbox alone"},
		{`{"toolbox":""}`, "", "toolbox cannot be empty"},
		{`{"toolbox_name":" \t"}`, "", "toolbox_name cannot be empty"},
		{`{}`, "", "toolbox: Required"},
		{`null`, "", "toolbox: Required"},
		{``, "", "toolbox: Required"},
		{`{"toolbox":5}`, "", "toolbox: Expected string, received number"},
		{`{"toolbox":null}`, "", "toolbox: Expected string, received null"},
		{`{"toolbox_name":[]}`, "", "toolbox_name: Expected string, received array"},
		{`{"toolbox":"dev","extra_field":1}`, "", "Unrecognized key: 'extra_field'"},
		{`{"Toolbox":"dev"}`, "", "toolbox: Required; Unrecognized key: 'Toolbox'"},
		{`{"toolbox":true,"x":1}`, "", "toolbox: Expected string, received boolean; Unrecognized key: 'x'"},
		{`["dev"]`, "", "Expected object, received array"},
	} {
		asked, problem := parseOpen(wire.Raw([]byte(test.input)), false)
		if problem != test.problem || problem == "" && asked.toolbox != test.name {
			t.Errorf("parseOpen(%s) = %q, %q; want %q, %q", test.input, asked.toolbox, problem, test.name, test.problem)
		}
	}
}

func TestParseOpenDetail(t *testing.T) {
	many := strings.Repeat(`"x",`, maxNamed) + `"x"`
	for _, test := range []struct {
		input   string
		usual   bool
		brief   bool
		tools   int
		problem string
	}{
		{input: ``},
		{input: ``, usual: true, brief: true},
		{input: `,"detail":"brief"`, brief: true},
		{input: `,"detail":"full"`, usual: true},
		{input: `,"tools":["a","s/b"]`, tools: 2},
		{input: `,"tools":["a"]`, usual: true, tools: 1},
		{input: `,"tools":["a"],"detail":"brief"`, tools: 1, brief: true},
		{input: `,"tools":[]`, usual: true, brief: true},
		{input: `,"detail":null,"tools":null`, usual: true, brief: true},
		{input: `,"detail":1`, problem: "detail: Expected string, received number"},
		{input: `,"tools":"a"`, problem: "tools: Expected array, received string"},
		{input: `,"tools":["a",1," "]`, problem: "tools[1]: Expected string, received number; tools[2] cannot be empty"},
		{input: `,"tools":[` + many + `]`, problem: "tools: Expected at most 100 names"},
	} {
		asked, problem := parseOpen(wire.Raw([]byte(`{"toolbox":"dev"`+test.input+`}`)), test.usual)
		if problem != test.problem || problem == "" && (asked.brief != test.brief || len(asked.tools) != test.tools) {
			t.Errorf("parseOpen(%.60s) = %+v, %q", test.input, asked, problem)
		}
	}
}

func TestParseUse(t *testing.T) {
	const tool = `"tool":{"toolbox":"T","server":"S","name":"N"}`
	whole := toolbox.Ref{Toolbox: "T", Server: "S", Name: "N"}
	for _, test := range []struct {
		input     string
		ref       toolbox.Ref
		arguments string
		problem   string
	}{
		{input: `{` + tool + `}`, ref: whole},
		{input: `{` + tool + `,"arguments":null}`, ref: whole},
		{input: `{` + tool + `,"arguments":{"b": 1.0,"a":2}}`, ref: whole, arguments: `{"b": 1.0,"a":2}`},
		{input: `{` + tool + `,"arguments":"{\"a\": 1}"}`, ref: whole, arguments: `{"a": 1}`},
		{input: `{` + tool + `,"arguments":" {} "}`, ref: whole, arguments: `{}`},
		{input: `{"arguments":{},` + tool + `}`, ref: whole, arguments: `{}`},
		{input: `{"tool":{"name":"a__b","server":"a__b","toolbox":"x.y-z"}}`, ref: toolbox.Ref{Toolbox: "x.y-z", Server: "a__b", Name: "a__b"}},
		{input: `{}`, problem: "tool: Required"},
		{input: ``, problem: "tool: Required"},
		{input: `{"tool":"x"}`, problem: "tool: Expected object, received string"},
		{input: `{"tool":{}}`, problem: "tool.toolbox: Required; tool.server: Required; tool.name: Required"},
		{
			input:   `{"tool":{"toolbox":"","server":"","name":""}}`,
			problem: "tool.toolbox: Toolbox name cannot be empty; tool.server: Server name cannot be empty; tool.name: Tool name cannot be empty",
		},
		{input: `{"tool":{"toolbox":5,"server":"S","name":null}}`, problem: "tool.toolbox: Expected string, received number; tool.name: Expected string, received null"},
		{input: `{` + tool + `,"arguments":[]}`, problem: "arguments: Expected object, received array"},
		{input: `{` + tool + `,"arguments":"[1]"}`, problem: "arguments: Expected object, received string"},
		{input: `{` + tool + `,"arguments":5}`, problem: "arguments: Expected object, received number"},
		{input: `{` + tool + `,"extra_field":1,"y":2}`, problem: "Unrecognized key(s) in object: 'extra_field', 'y'"},
		{
			input:   `{"tool":{"toolbox":"T","server":"S","tool":"N"}}`,
			problem: "tool.name: Required; tool: Unrecognized key(s) in object: 'tool'. " + currentForm,
		},
		{
			input:   `{"toolbox_name":"dev","tool_name":"dev__fs__read","arguments":{}}`,
			problem: "tool: Required; Unrecognized key(s) in object: 'toolbox_name', 'tool_name'. " + currentForm,
		},
	} {
		ref, arguments, problem := parseUse(wire.Raw([]byte(test.input)))
		if problem != test.problem {
			t.Errorf("parseUse(%s): the problem is %q, want %q", test.input, problem, test.problem)
			continue
		}
		if problem == "" && (ref != test.ref || string(arguments.Bytes()) != test.arguments) {
			t.Errorf("parseUse(%s) = %v, %s; want %v, %s", test.input, ref, arguments.Bytes(), test.ref, test.arguments)
		}
	}
}

func surface(boxes ...config.Toolbox) *Surface {
	return New(Options{Visible: fleet.New(fleet.Options{Config: &config.Config{Toolboxes: boxes}}), Mode: config.Proxy})
}

func TestInstructions(t *testing.T) {
	two := make([]config.Server, 2)
	two[0].Name, two[1].Name = "a", "b"
	got := surface(config.Toolbox{Name: "dev", Description: "Development tools", Servers: two}, config.Toolbox{Name: "empty"}).Instructions()
	want := `Available Toolboxes:

dev (2 servers)
  Description: Development tools

empty (0 servers)
  Description: No description provided

Use open_toolbox to connect to a toolbox, then use_tool to invoke tools.

Example tool invocation:
{"tool":{"toolbox":"toolbox-name","server":"server-name","name":"tool-name"},"arguments":{}}`
	if got != want {
		t.Errorf("the instructions are\n%s\nwant\n%s", got, want)
	}
	if got := surface().Instructions(); !strings.HasPrefix(got, "No toolboxes configured.") {
		t.Errorf("without toolboxes the instructions are %s", got)
	}
}

// answers keeps the answer of a call.
type answers struct{ text string }

func (a *answers) Answer(answer Answer) { a.text = string(answer.Text) }

func TestWithheldSurfaceGivesTheNoticeOnly(t *testing.T) {
	for _, mode := range []config.ToolMode{config.Proxy, config.Dynamic, config.Direct} {
		s := New(Options{Visible: fleet.New(fleet.Options{Config: &config.Config{}}), Mode: mode, Notice: "run 'trust' first"})
		if got := s.Instructions(); got != "run 'trust' first" {
			t.Errorf("the instructions are %q", got)
		}
		for _, name := range []string{openName, useName, "dev__s__run", "anything"} {
			var got answers
			s.Call(&Request{Origin: Origin{Name: name, Answerer: &got}, Arguments: wire.Raw([]byte(`{"toolbox":"dev"}`))})
			if want := `{"content":[{"type":"text","text":"run 'trust' first"}],"isError":true}`; got.text != want {
				t.Errorf("%s is answered with %s", name, got.text)
			}
		}
	}
}

func TestLongInstructionsBeginWithAllNames(t *testing.T) {
	long := config.Toolbox{Name: "one", Description: strings.Repeat("x", namesFirst)}
	got := surface(long, config.Toolbox{Name: "two"}).Instructions()
	if !strings.HasPrefix(got, "Toolboxes: one, two\n\nAvailable Toolboxes:\n") {
		t.Errorf("the instructions begin with %.100s", got)
	}
}

func TestMetaToolsAreDefinedByTheirName(t *testing.T) {
	all := New(Options{Visible: fleet.New(fleet.Options{Config: &config.Config{}}), Discovery: config.Discovery{Search: true, ReadTool: true, MaxResultBytes: 1}, Reads: readsAsDeclared})
	definitions := all.MetaTools()
	if len(definitions) != len(metaTools) {
		t.Fatalf("%d of %d meta-tools are offered", len(definitions), len(metaTools))
	}
	for i, tool := range metaTools {
		definition, err := wire.ParseValue(definitions[i])
		if name, _ := definition.Member("name").Text(); err != nil || name != tool.name {
			t.Errorf("meta-tool %s is defined as %q: %v", tool.name, name, err)
		}
	}
}

// The MCP bundle lists the tools that a client gets without a large result.
func TestBundleListsTheMetaTools(t *testing.T) {
	manifest, err := os.ReadFile("../../../packaging/mcpb/manifest.json.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range metaTools {
		isListed := strings.Contains(string(manifest), `"name": "`+tool.name+`"`)
		if isListed != (tool.name != readResultName) {
			t.Errorf("packaging/mcpb/manifest.json.tmpl lists %s: %t", tool.name, isListed)
		}
	}
}

func TestOpenDefinitionOfManyToolboxes(t *testing.T) {
	boxes := make([]config.Toolbox, listedToolboxes+1)
	for i := range boxes {
		boxes[i].Name = "box" + strings.Repeat("x", i)
	}
	definition := func(n int) wire.Payload { return wire.Raw(surface(boxes[:n]...).openDefinition()) }
	enum := func(n int) string {
		return definition(n).Member("inputSchema").Member("properties").Member("toolbox").Member("enum").Kind()
	}
	if enum(0) != "undefined" || enum(1) != "array" || enum(listedToolboxes) != "array" || enum(listedToolboxes+1) != "undefined" {
		t.Error("the enum is there when it must not be, or not there when it must")
	}
	if text, _ := definition(listedToolboxes + 1).Member("description").Text(); !strings.HasSuffix(text, "and 1 more, see the instructions of this server") {
		t.Errorf("the description ends with %q", text[len(text)-60:])
	}
}

func readsAsDeclared(_ toolbox.Ref, tool catalog.Tool) bool { return declaresReading(tool) }
