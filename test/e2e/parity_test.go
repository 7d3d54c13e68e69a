package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// This file compares what servers of npm say directly with what they say through the
// workbench, byte for byte.

// toolCall is one call of a server's tool; arguments are raw JSON.
type toolCall struct {
	tool, arguments string
	has             string // a part of the answer, so that equal failures do not pass
}

var everythingCalls = []toolCall{
	{"echo", `{"message":"héllo \u00e9 \"quoted\" 😀 <&>"}`, `Echo: héllo`},
	{"get-sum", `{"a":1.0,"b":2e0}`, `is 3.`},
	{"get-sum", `{"a":"one"}`, `"isError":true`},
	{"get-tiny-image", `{}`, `"type":"image"`},
	{"get-resource-links", `{"count":4}`, `"type":"resource_link"`},
	{"get-structured-content", `{"location":"Chicago"}`, `"structuredContent":{`},
	{"get-structured-content", `{"location":"Nowhere"}`, `"isError":true`},
	{"get-annotated-message", `{"messageType":"error","includeImage":true}`, `"priority":1`},
	{"get-annotated-message", `{"messageType":"success"}`, `"audience":["user"]`},
	{"get-annotated-message", `{"messageType":"debug","includeImage":false}`, `"audience":["assistant"]`},
	{"gzip-file-as-resource", `{"name":"a.gz","data":"data:text/plain,abc","outputType":"resource"}`, `"blob":"`},
	{"trigger-long-running-operation", `{"duration":0.1,"steps":2}`, `completed`},
}

var memoryCalls = []toolCall{
	{"create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["wrote a program","é 😀"]},` +
		`{"name":"Engine","entityType":"machine","observations":[]}]}`, `"structuredContent":{"entities":[{`},
	{"create_relations", `{"relations":[{"from":"Ada","to":"Engine","relationType":"programs"}]}`, `programs`},
	{"add_observations", `{"observations":[{"entityName":"Nobody","contents":["x"]}]}`, `"isError":true`},
	{"search_nodes", `{"query":"program"}`, `Ada`},
	{"open_nodes", `{"names":["Engine"]}`, `machine`},
	{"read_graph", `{}`, `"relations":[{`},
	{"delete_entities", `{"entityNames":["Ada"]}`, `deleted successfully`},
}

// filesystemCalls need the folder of prepareFolder.
func filesystemCalls(root string) []toolCall {
	at := func(names ...string) string { return strconv.Quote(filepath.Join(append([]string{root}, names...)...)) }
	return []toolCall{
		{"write_file", `{"path":` + at("new.txt") + `,"content":"first\nsecond é \ud83d\ude00\n"}`, `Successfully wrote`},
		{"read_text_file", `{"path":` + at("new.txt") + `}`, `second é 😀`},
		{"read_text_file", `{"path":` + at("new.txt") + `,"head":1}`, `first`},
		{"read_multiple_files", `{"paths":[` + at("new.txt") + `,` + at("missing.txt") + `]}`, `ENOENT`},
		{"list_directory", `{"path":` + at() + `}`, `[DIR] sub`},
		{"list_directory_with_sizes", `{"path":` + at() + `,"sortBy":"size"}`, `Total: `},
		{"directory_tree", `{"path":` + at() + `}`, `children`},
		{"search_files", `{"path":` + at() + `,"pattern":"**/*.bin"}`, `deep.bin`},
		{"read_media_file", `{"path":` + at("tone.wav") + `}`, `"type":"audio"`},
		{"read_media_file", `{"path":` + at("dot.png") + `}`, `"type":"image"`},
		{"read_media_file", `{"path":` + at("sub", "deep.bin") + `}`, `"type":"resource"`},
		{"edit_file", `{"path":` + at("new.txt") + `,"edits":[{"oldText":"first","newText":"1st"}],"dryRun":true}`, `+1st`},
		{"read_text_file", `{"path":"/nowhere/else"}`, `"isError":true`},
		{"list_allowed_directories", `{}`, `Allowed directories`},
	}
}

func prepareFolder(t *testing.T) (root string) {
	t.Helper()
	root = realTempDir(t)
	if err := os.Mkdir(filepath.Join(root, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"tone.wav": "RIFF\x24\x00\x00\x00WAVEfmt ", "dot.png": "\x89PNG\r\n\x1a\n", "sub/deep.bin": "\x00\x01\xfe\xff",
	} {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestResultsEqualThoseOfADirectConnection(t *testing.T) {
	needNode(t)
	folder, memory := prepareFolder(t), t.TempDir()
	for _, c := range []struct {
		direct, behind server
		calls          []toolCall
	}{
		{everythingServer(t), everythingServer(t), everythingCalls},
		{filesystemServer(t, folder), filesystemServer(t, folder), filesystemCalls(folder)},
		// Each has a file of its own, or the second one would find the first one's entities.
		{memoryServer(t, filepath.Join(memory, "a.jsonl")), memoryServer(t, filepath.Join(memory, "b.jsonl")), memoryCalls},
	} {
		t.Run(c.direct.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "", box{"all", "", []server{c.behind}})
			straight := direct(t, b.mark, c.direct)
			var want [][]byte
			for _, call := range c.calls {
				want = append(want, straight.call(call.tool, call.arguments))
			}
			through := b.client(newest)
			through.open("all")
			for i, call := range c.calls {
				got := through.use("all", c.behind.name, call.tool, call.arguments)
				if !bytes.Equal(got, want[i]) {
					t.Errorf("%s %s:\nthrough the workbench %.1000s\ndirectly              %.1000s", call.tool, call.arguments, got, want[i])
				}
				if !bytes.Contains(got, []byte(call.has)) {
					t.Errorf("%s %s: no %s in %.1000s", call.tool, call.arguments, call.has, got)
				}
			}
		})
	}
}

// TestResultsThatChange looks at tools whose answers hold the time: what a tap saw the
// server send is what has to arrive.
func TestResultsThatChange(t *testing.T) {
	t.Parallel()
	p := newTap(t)
	b := newBench(t, "", box{"all", "", []server{p.around(everythingServer(t))}})
	c := b.client(newest)
	c.open("all")
	for _, arguments := range []string{`{"resourceType":"Text","resourceId":1}`, `{"resourceType":"Blob","resourceId":2}`} {
		got := c.use("all", "everything", "get-resource-reference", arguments)
		call := p.findCall()
		if sent := p.findAnswer(call).Result; !bytes.Equal(got, sent) {
			t.Errorf("got  %s\nsent %s", got, sent)
		}
		if !bytes.Contains(got, []byte(`"type":"resource"`)) {
			t.Errorf("no resource in %s", got)
		}
	}
}

func TestDefinitionsAreTheServersOwn(t *testing.T) {
	t.Parallel()
	folder, memory := prepareFolder(t), filepath.Join(t.TempDir(), "memory.jsonl")
	// Not in the order of the alphabet, nor of how fast they start.
	servers := []server{memoryServer(t, memory), everythingServer(t), filesystemServer(t, folder)}
	b := newBench(t, "", box{"all", "Three servers", servers})
	c := b.client(newest)
	answer := c.open("all")
	if answer.Connected != 3 || answer.Toolbox != "all" || answer.Description != "Three servers" || len(answer.Warnings) > 0 {
		t.Errorf("open_toolbox answered %+v", answer)
	}
	rest := answer.Tools
	for _, s := range servers {
		var listed struct {
			Tools []json.RawMessage `json:"tools"`
		}
		if err := json.Unmarshal(direct(t, b.mark, s).request("tools/list", "{}"), &listed); err != nil {
			t.Fatal(err)
		}
		if len(rest) < len(listed.Tools) {
			t.Fatalf("%d tools are left for %s, which has %d", len(rest), s.name, len(listed.Tools))
		}
		for i, want := range listed.Tools {
			if got := withoutOrigin(t, rest[i], "all", s.name); got != string(want) {
				t.Errorf("tool %d of %s:\ngot  %s\nwant %s", i, s.name, got, want)
			}
		}
		rest = rest[len(listed.Tools):]
	}
	if len(rest) > 0 {
		t.Errorf("%d tools too many", len(rest))
	}
}

// withoutOrigin takes our four members off the end of a definition.
func withoutOrigin(t *testing.T, definition []byte, toolbox, server string) string {
	t.Helper()
	members := fmt.Sprintf(`,"toolbox":%[1]q,"server":%[2]q,"toolbox_name":%[1]q,"source_server":%[2]q}`, toolbox, server)
	own, ok := bytes.CutSuffix(definition, []byte(members))
	if !ok {
		t.Fatalf("%s does not end in %s", definition, members)
	}
	return string(own) + "}"
}
