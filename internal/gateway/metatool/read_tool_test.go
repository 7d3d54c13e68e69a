package metatool

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func toolOf(definition string) catalog.Tool {
	payload := wire.Raw([]byte(definition))
	name, _ := payload.Member("name").Text()
	return catalog.Tool{Name: name, Definition: payload}
}

// The answer of open_toolbox names read_tool only where the definitions do not say which tools it runs.
func TestOpenAnswerNamesReadTool(t *testing.T) {
	offers := []Offer{{Server: "s", Tools: []catalog.Tool{
		toolOf(`{"name":"hinted","inputSchema":{},"annotations":{"readOnlyHint":true}}`), toolOf(`{"name":"plain","inputSchema":{}}`),
	}}}
	for _, test := range []struct {
		reads string // names of the tools that read; "-": read_tool is not offered
		full  string // the hint
		brief string // the tools
	}{
		{"-", "", `{"hinted":"()","plain":"()"}`},
		{"hinted", "", `{"hinted":"*()","plain":"()"}`},
		{"plain", "read_tool also runs s/plain. read_tool does not run s/hinted", `{"hinted":"()","plain":"*()"}`},
		{"hinted plain", "read_tool also runs s/plain", `{"hinted":"*()","plain":"*()"}`},
		{"", "read_tool does not run s/hinted", `{"hinted":"()","plain":"()"}`},
	} {
		options := Options{Visible: fleetOf(t, &config.Config{}), Discovery: config.Discovery{ReadTool: true}}
		if test.reads != "-" {
			options.Reads = func(ref toolbox.Ref, tool catalog.Tool) bool {
				return ref == toolbox.Ref{Toolbox: "t", Server: "s", Name: tool.Name} && strings.Contains(test.reads, tool.Name)
			}
		}
		surface := New(options)
		full := wire.Raw([]byte(surface.OpenAnswer("t", "", offers, false)))
		if hint, _ := full.Member("hint").Text(); hint != test.full || full.Member("hint").IsAbsent() != (test.full == "") {
			t.Errorf("%q read: in full the hint is %q", test.reads, hint)
		}
		brief := wire.Raw([]byte(surface.OpenAnswer("t", "", offers, true)))
		if got := string(brief.Member("tools").Member("s").Bytes()); got != test.brief {
			t.Errorf("%q read: in brief the tools are %s", test.reads, got)
		}
		hint, _ := brief.Member("hint").Text()
		if isMarked := strings.Contains(test.brief, "*"); strings.HasSuffix(hint, briefReadHint) != isMarked {
			t.Errorf("%q read: in brief the hint is %q", test.reads, hint)
		}
	}
}

func TestReadToolIsOfferedByTheConfiguration(t *testing.T) {
	for _, test := range []struct {
		mode  config.ToolMode
		isOn  bool
		reads reads
		want  bool
	}{
		{config.Proxy, true, readsAsDeclared, true},
		{config.Dynamic, true, readsAsDeclared, true},
		{config.Proxy, false, readsAsDeclared, false},
		{config.Proxy, true, nil, false},
		{config.Direct, true, readsAsDeclared, false},
	} {
		surface := New(Options{Visible: fleetOf(t, &config.Config{}), Mode: test.mode, Discovery: config.Discovery{ReadTool: test.isOn}, Reads: test.reads})
		if got := strings.Contains(newSession().list(surface), `"name":"read_tool"`); got != test.want {
			t.Errorf("%s mode, on %t: read_tool is offered: %t", test.mode, test.isOn, got)
		}
	}
}
