package metatool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestParseFind(t *testing.T) {
	for _, test := range []struct {
		input   string
		want    findQuery
		problem string
	}{
		{input: `{"query":"q"}`, want: findQuery{"q", "", findUsual}},
		{input: `{"query":"q","toolbox":"t","limit":7}`, want: findQuery{"q", "t", 7}},
		{input: `{"query":"q","limit":"7"}`, want: findQuery{"q", "", 7}},
		{input: ``, problem: "query: Required"},
		{input: `null`, problem: "query: Required"},
		{input: `{"limit":51}`, problem: "query: Required; limit: Expected a whole number from 1 to 50"},
		{input: `{"query":"a","query":""}`, problem: "query cannot be empty"},
		{input: `{"query":5}`, problem: "query: Expected string, received number"},
		{input: `{"query":"q","limit":1.5}`, problem: "limit: Expected a whole number from 1 to 50"},
		{input: `{"query":"q","limit":[]}`, problem: "limit: Expected number, received array"},
		{input: `{"query":"q","toolbox":""}`, problem: "toolbox cannot be empty"},
		{input: `{"query":"q","Limit":1}`, problem: "Unrecognized key: 'Limit'"},
		{input: `[]`, problem: "Expected object, received array"},
	} {
		got, problem := parseFind(wire.Raw([]byte(test.input)))
		if problem != test.problem || problem == "" && got != test.want {
			t.Errorf("parseFind(%s) = %+v, %q", test.input, got, problem)
		}
	}
}

const (
	readTool = `{"tools":[{"name":"read","description":"Reads a file","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}}]}`
	mailTool = `{"tools":[{"name":"send","description":"Sends mail","inputSchema":{}},{"name":"fetch","description":"Fetches mail","inputSchema":{}}]}`
)

func (s *session) ask(surface *Surface, name, arguments string) string {
	surface.Call(&Request{Origin: Origin{Name: name, Session: s, Canceller: new(Canceller), Answerer: s}, Arguments: wire.Raw([]byte(arguments))})
	return <-s.answers
}

func found(t *testing.T, answer string) wire.Payload {
	t.Helper()
	for block := range wire.Raw([]byte(answer)).Member("content").Elements() {
		text, _ := block.Member("text").Text()
		value, err := wire.ParseValue([]byte(text))
		if err != nil {
			t.Fatalf("the answer %s holds no JSON: %v", answer, err)
		}
		return value
	}
	t.Fatalf("the answer %s has no block", answer)
	return wire.Payload{}
}

func TestFindOpensWhatItFound(t *testing.T) {
	servers := fleetOf(t, fakes(t, fake{"dev", "fs", readTool}, fake{"web", "mail", mailTool}, fake{"web", "down", ""}))
	surface, client := New(Options{Visible: servers, Discovery: config.Discovery{Search: true}}), newSession()
	client.ask(surface, openName, `{"toolbox":"dev"}`)
	answer := found(t, client.ask(surface, findName, `{"query":"send mail"}`))
	if got := string(answer.Bytes()); !strings.HasPrefix(got, `{"found":"0 of 1"`) ||
		!strings.Contains(got, `"not_searched":["Toolbox 'web' has servers that were never connected: mail, down. open_toolbox connects them"]`) {
		t.Errorf("before anything of it is known, the answer is %s", got)
	}
	newSession().ask(surface, openName, `{"toolbox":"web"}`) // another client has it started
	if client.IsOpen("web") {
		t.Fatal("the toolbox is open to a client that did not open it")
	}
	want := `{"found":"1 of 3","tools":[{"toolbox":"web","server":"mail","name":"send","description":"Sends mail","signature":"send()"}]` +
		`,"more":true` +
		`,"not_searched":["Toolbox 'web' has servers that were never connected: down. open_toolbox connects them"]}`
	if got := string(found(t, client.ask(surface, findName, `{"query":"send mail","limit":1}`)).Bytes()); got != want {
		t.Errorf("the answer is %s", got)
	}
	if !client.IsOpen("web") {
		t.Error("the toolbox of a tool that was found is not open")
	}
	if got := string(found(t, client.ask(surface, findName, `{"query":"send mail","toolbox":"dev"}`)).Bytes()); !strings.HasPrefix(got, `{"found":"0 of 1","tools":[]`) {
		t.Errorf("in another toolbox, the answer is %s", got)
	}
}

func TestIndexIsMadeOncePerChange(t *testing.T) {
	servers := fleetOf(t, fakes(t, fake{"dev", "fs", readTool}, fake{"web", "mail", mailTool}))
	surface, client := New(Options{Visible: servers, Discovery: config.Discovery{Search: true}}), newSession()
	query := func() *toolIndex {
		client.ask(surface, findName, `{"query":"mail"}`)
		return surface.finder.indexes[len(surface.finder.indexes)-1]
	}
	first := query()
	if query() != first {
		t.Error("the same tools were read twice")
	}
	client.ask(surface, openName, `{"toolbox":"web"}`)
	second := query()
	if second == first || len(second.tools) != 2 {
		t.Errorf("after a server came up, %d tools are searched", len(second.tools))
	}
	if query() != second || len(surface.finder.indexes) > maxIndexes {
		t.Error("the same tools were read twice")
	}
}

func TestOneLine(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for text, want := range map[string]string{
		"":                                    "",
		" Reads\n\n a file. ":                 "Reads a file.",
		"Use e.g. this. Then that.":           "Use e.g. this. Then that.",
		strings.Repeat("x", 50) + ". " + long: strings.Repeat("x", 50) + ". ",
	} {
		if got := OneLine(text); !strings.HasPrefix(got, want) || len([]rune(got)) > oneLineMax || (len(text) > oneLineMax) != strings.HasSuffix(got, ellipsis) {
			t.Errorf("OneLine(%q) = %q", text, got)
		}
	}
	for _, text := range []string{long, strings.Repeat("x", 1000), strings.Repeat("ü", 10_000)} {
		if got := OneLine(text); len([]rune(got)) > oneLineMax || !strings.HasSuffix(got, ellipsis) || strings.ContainsRune(got, '\uFFFD') {
			t.Errorf("a long text becomes %q", got)
		}
	}
}

func TestPinnedNames(t *testing.T) {
	cfg := fakes(t, fake{"dev", "fs", readTool}, fake{"web", "fs", readTool}, fake{"odd", "x", `{"tools":[{"name":"find_tools","inputSchema":{}}]}`})
	servers := fleetOf(t, cfg)
	refs := refsOf("dev/fs/read", "web/fs/read", "dev/fs/read", "odd/x/find_tools", "odd/x/gone")
	surface, client := New(Options{Visible: servers, Discovery: config.Discovery{Search: true, Pinned: refs}}), newSession()
	var names []string
	for tool := range wire.Raw([]byte(client.list(surface))).Member("tools").Elements() {
		name, _ := tool.Member("name").Text()
		names = append(names, name)
	}
	if got := fmt.Sprint(names); got != "[open_toolbox use_tool find_tools read fs__read x__find_tools]" {
		t.Errorf("the list is %s", got)
	}
	if !surface.Shows(client, "odd") || surface.Shows(client, "none") {
		t.Error("the client would not be told of changes in pinned tools, or of others")
	}
	if got := client.ask(surface, "fs__read", `{"path":"p"}`); !strings.Contains(got, `read {\"path\":\"p\"}`) {
		t.Errorf("the pinned tool answers %s", got)
	}
	hidden := New(Options{Visible: servers.View([]string{"odd"}), Discovery: config.Discovery{Pinned: refs}})
	if got := client.ask(hidden, "read", `{}`); !strings.HasPrefix(got, "error: Unknown tool: 'read'") {
		t.Errorf("out of view, the pinned tool answers %s", got)
	}
	if got := client.list(hidden); strings.Contains(got, `"read"`) {
		t.Errorf("out of view, the list is %s", got)
	}
}

// BenchmarkFind is one query over ten thousand tools that were read before; the first
// query pays for reading them, which BenchmarkFindFirst measures.
func BenchmarkFind(b *testing.B) {
	boxes, snapshots := manyTools(10_000)
	var f finder
	f.indexOf(boxes, snapshots)
	for b.Loop() {
		index := f.indexOf(boxes, snapshots)
		if hits := index.index.Find("create an issue in the tracker of a project", nil, findUsual); len(hits) == 0 {
			b.Fatal("nothing was found")
		}
	}
}

func BenchmarkFindFirst(b *testing.B) {
	boxes, snapshots := manyTools(10_000)
	for b.Loop() {
		newToolIndex(boxes, snapshots)
	}
}

// manyTools makes tools with definitions of about 700 bytes.
func manyTools(n int) ([]*fleet.Toolbox, []*catalog.Snapshot) {
	verbs := strings.Fields("create list delete update search move copy merge close open assign label export import")
	nouns := strings.Fields("issue project tracker file folder mail invoice calendar event contact branch commit table row chart page")
	var definitions []wire.Payload
	for i := range n {
		verb, noun, in := verbs[i%len(verbs)], nouns[i/len(verbs)%len(nouns)], nouns[i%len(nouns)]
		definitions = append(definitions, wire.Raw(fmt.Appendf(nil, `{"name":"%s_%s_%d","description":"%s",`+
			`"inputSchema":{"type":"object","properties":{"%s_id":{"type":"string","description":"%s"},"limit":{"type":"integer","description":"%s"}}}}`,
			verb, noun, i, strings.Repeat(fmt.Sprintf("Will %s the %s of a %s number %d. ", verb, noun, in, i), 6),
			noun, strings.Repeat("Which "+noun+" of the "+in+" is meant. ", 4), "How many are wanted at most, counted from the first.")))
	}
	cfg := &config.Config{Toolboxes: []config.Toolbox{{Name: "many", Servers: []config.Server{{Name: "s", Command: "x"}}}}}
	snapshot := catalog.NewSnapshot("s", catalog.Listing{Definitions: definitions}, toolbox.Filter{})
	return fleet.New(fleet.Options{Config: cfg}).Toolboxes(), []*catalog.Snapshot{snapshot}
}
