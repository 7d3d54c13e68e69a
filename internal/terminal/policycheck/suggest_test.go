package policycheck

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

// toolboxesOfTests is the rest of the configuration that suggestions are for.
const toolboxesOfTests = `"toolboxes": {"dev": {"description": "d", "mcpServers": {
	"files": {"command": "x"}, "api": {"url": "https://example.com"}, "${X:-a*b}": {"command": "x"}}}}}`

func tool(name, rest string) catalog.Tool {
	return catalog.Tool{Name: name, Definition: wire.Raw([]byte(`{"inputSchema":{"type":"object"}` + rest + `}`))}
}

func TestSuggestionIsAPolicy(t *testing.T) {
	doubted := tool("lies", `,"annotations":{"readOnlyHint":true}`)
	doubted.HintsDoubted = true
	servers := []app.KnownServer{
		{Toolbox: "dev", Server: "files", Tools: []catalog.Tool{
			{Name: "read", Definition: wire.Raw([]byte(`{"inputSchema":{"properties":{"path":{"type":"string"}},"required":["path"]},"annotations":{"readOnlyHint":true}}`))},
			{Name: "move", Definition: wire.Raw([]byte(`{"inputSchema":{"properties":{"source":{"type":"string"},"destination":{"type":"string"},"path":{"type":"string"}},"required":["source","destination"]},"annotations":{"destructiveHint":true}}`))},
			{Name: "many", Definition: wire.Raw([]byte(`{"inputSchema":{"properties":{"paths":{"type":"array","items":{"type":"string"}},"file":{"type":"number"}},"required":["paths","file"]},"annotations":{"readOnlyHint":false}}`))},
		}},
		{Toolbox: "dev", Server: "api", Tools: []catalog.Tool{
			tool("get_user", ""), tool("getaway", ""), doubted, tool("add", `,"annotations":{"destructiveHint":false}`),
			{Name: "path", Definition: wire.Raw([]byte(`{"inputSchema":{"properties":{"path":{"type":"string"}},"required":["path"]}}`))},
		}},
		{Toolbox: "dev", Server: "a*b", Tools: []catalog.Tool{tool("${HOME} \u202e*\\\n", `,"annotations":{"destructiveHint":true}`)}},
	}
	cfg, err := config.Parse("before.json", []byte("{"+toolboxesOfTests), config.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	var tools []console.Definition
	for _, server := range servers {
		for _, one := range server.Tools {
			tools = append(tools, console.Definition{Ref: toolbox.Ref{Toolbox: server.Toolbox, Server: server.Server, Name: one.Name}, Tool: one})
		}
	}
	Suggest(tty.New(&out, nil, func(string) string { return "" }), cfg, tools, "")
	text := out.String()
	for _, want := range []string{
		`// "dev/api/get_user": "reads",`, "1 tool declares to be read-only", "3 tools declare to be destructive", "4 tools declare nothing",
		`"require": {"destination": {"within": ["."]}, "source": {"within": ["."]}}, "else": "ask"`,
		`"require": {"paths": {"within": ["."]}}, "else": "ask"`,
		"    // Server dev/files: nothing asks about path, ", `    // {"tools": ["dev/files/move"], "require": {"path": {"within": ["."]}}, "else": "ask"},`,
		"        \"dev/files/move\",\n        \"dev/files/many\",\n        \"dev/a\\\\*b/$${HOME} \\u202e\\\\*\\\\\\\\\\n\",\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	for _, unwanted := range []string{`getaway": "reads"`, "dev/api/path", "dev/api/add", `"then": "deny"`} {
		if strings.Contains(text, unwanted) {
			t.Errorf("%q is in:\n%s", unwanted, text)
		}
	}
	dir := t.TempDir()
	with, err := config.Parse(filepath.Join(dir, "c.json"), []byte("{"+text+toolboxesOfTests), config.ParseOptions{Dir: dir})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(with.Warnings) > 0 {
		t.Errorf("warnings: %v\n%s", with.Warnings, text)
	}
	for i, uncommented := range []string{strings.ReplaceAll(text, "    // {", "    {"), strings.ReplaceAll(text, "    // \"", "    \"")} {
		if _, err := config.Parse(filepath.Join(dir, "c.json"), []byte("{"+uncommented+toolboxesOfTests), config.ParseOptions{Dir: dir}); err != nil || uncommented == text {
			t.Errorf("%d: without slashes: %v\n%s", i, err, uncommented)
		}
	}
	odd := servers[2].Tools[0]
	judged := policy.New(with).Judge(&policy.Query{
		Caller: config.CallerStdio, Ref: toolbox.Ref{Toolbox: "dev", Server: "a*b", Name: odd.Name}, Tool: odd.Definition,
	})
	if judged.Verdict != config.Ask {
		t.Errorf("a tool with an odd name: %v", judged.Verdict)
	}
}

func TestSeemsToRead(t *testing.T) {
	for name, want := range map[string]bool{
		"get_user": true, "getUser": true, "GetUser": true, "get-user": true, "get": true, "list.all": true, "search2": true,
		"getaway": false, "target": false, "": false, "g": false, "_get": false, "delete_list": false, "GET": false,
	} {
		if seemsToRead(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
