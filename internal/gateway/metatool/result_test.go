package metatool

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// refsOf reads tools that are written as toolbox/server/tool.
func refsOf(texts ...string) (refs []toolbox.Ref) {
	for _, text := range texts {
		parts := strings.SplitN(text, "/", 3)
		refs = append(refs, toolbox.Ref{Toolbox: parts[0], Server: parts[1], Name: parts[2]})
	}
	return refs
}

func TestFitted(t *testing.T) {
	long := strings.Repeat("x", 5000)
	text := `{"content":[{"type":"text","text":"` + long + `"}]`
	for _, test := range []struct {
		name, result string
		native       bool
		shortened    bool
	}{
		{name: "text", result: text + `}`, shortened: true},
		{name: "called natively", result: text + `}`, native: true, shortened: true},
		{name: "small", result: `{"content":[]}`},
		{name: "structured", result: text + `,"structuredContent":{"a":1}}`, shortened: true},
		{name: "structured, and the client checks it", result: text + `,"structuredContent":{"a":1}}`, native: true},
		{name: "an image alone", result: `{"content":[{"type":"image","data":"` + long + `","mimeType":"image/png"}]}`},
		{name: "a task", result: `{"task":{"taskId":"` + long + `"}}`},
		{name: "a question", result: text + `,"resultType":"input_required"}`},
		{name: "complete", result: text + `,"resultType":"complete"}`, shortened: true},
		{name: "unknown", result: `{"future":"` + long + `"}`},
	} {
		results := NewResultStore().Session()
		answer := Answer{Outcome: call.Outcome{Result: wire.Raw([]byte(test.result))}, limit: &resultLimit{results, 4096, test.native}}
		shortened := answer.Shortened()
		kept, _ := results.find("r1")
		switch {
		case (shortened.Text != nil) != test.shortened:
			t.Errorf("%s: shortened is %v", test.name, shortened.Text != nil)
		case test.shortened && string(kept.Bytes()) != test.result:
			t.Errorf("%s: what is kept is %.100s", test.name, kept.Bytes())
		case test.shortened && !shortened.Outcome.Result.IsAbsent():
			t.Errorf("%s: the answer is of two kinds", test.name)
		case !test.shortened && string(shortened.Outcome.Result.Bytes()) != test.result:
			t.Errorf("%s: the result was changed", test.name)
		}
		results.Close()
	}
}

func TestResultsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &ResultStore{bytes: 1000, inAll: 1 << 20}
		one, other := store.Session(), store.Session()
		value := func(size int) wire.Payload { return wire.Raw([]byte(`"` + strings.Repeat("x", size-2) + `"`)) }
		if _, ok := one.keep(value(1001)); ok {
			t.Error("a result is kept that is over the limit")
		}
		for range keptResults + 2 {
			one.keep(value(10))
		}
		if _, handles := one.find(""); len(handles) != keptResults || handles[0] != "r3" {
			t.Errorf("kept are %v", handles)
		}
		if result, handles := other.find("r10"); !result.IsAbsent() || handles != nil {
			t.Error("one client can read what another one got")
		}
		<-time.After(keptTime / 2)
		last, _ := one.keep(value(990))
		if _, handles := one.find(""); len(handles) != 2 || handles[1] != last {
			t.Errorf("with a large one, kept are %v", handles)
		}
		<-time.After(keptTime / 2)
		synctest.Wait()
		if _, handles := one.find(""); len(handles) != 1 {
			t.Errorf("when the time of the first is over, kept are %v", handles)
		}
		one.Close()
		if _, ok := one.keep(value(10)); ok || len(store.kept) != 0 || store.timer != nil {
			t.Error("something is kept for a session that ended")
		}
	})
}

func TestResultsOfAllAreBounded(t *testing.T) {
	const size = 10
	store := &ResultStore{bytes: size, inAll: 4*size + 1}
	var sessions []*Results
	for range 5 {
		sessions = append(sessions, store.Session())
		sessions[len(sessions)-1].keep(wire.Raw(make([]byte, size)))
	}
	if _, handles := sessions[0].find(""); handles != nil {
		t.Error("the oldest result of all is still kept")
	}
	if _, handles := sessions[1].find(""); handles == nil {
		t.Error("more than the oldest result was dropped")
	}
	for _, s := range sessions {
		s.Close()
	}
}

func TestPick(t *testing.T) {
	result := wire.Raw([]byte(`{"content":[{"type":"text","text":"{\"a\":[1,{\"b c\":true}]}"}],"x.y":{"z":null}}`))
	for path, want := range map[string]string{
		"content[0].type":               `"text"`,
		"$.content[0].type":             `"text"`,
		`["x.y"].z`:                     `null`,
		`content[0].text.a[1]["b c"]`:   `true`,
		"content[1]":                    "error: content has no element 1; it has 1",
		"content.x":                     "error: content is not an object but array, and has no member 'x'",
		"nope":                          "error: the result has no member 'nope'; it has content, x.y",
		"content[0][1]":                 "error: content[0] is no array but object, and has no element 1",
		"content[-1]":                   `error: '[-1]' in the path is neither an index such as [3] nor a name such as ["a b"]`,
		"content[0":                     `error: '[0' in the path is neither an index such as [3] nor a name such as ["a b"]`,
		"content..x":                    "error: a name is missing in the path 'content..x'",
		strings.Repeat("a.", 100) + "a": "error: a path has at most 64 steps",
	} {
		value, err := valueAt(result, path)
		got := string(value.Bytes())
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
}

func TestShape(t *testing.T) {
	for value, want := range map[string]string{
		`[]`:                                     "[]",
		`{"a":[{"b":1},{"c":2}],"d":"x"}`:        "{a: [2 × {b: number}], d: string}",
		`"` + strings.Repeat(`x\n`, 100) + `"`:   "text of 200 bytes in 100 lines",
		`"[` + strings.Repeat("1,", 100) + `1]"`: "text of 203 bytes holding [101 × number]",
		`[[[[[[[[[1]]]]]]]]]`:                    "[1 × [1 × [1 × [1 × [1 × [1 × [1 × [1 × […]]]]]]]]]",
	} {
		if got := shapeOf(wire.Raw([]byte(value))); got != want {
			t.Errorf("the shape of %s is %s, want %s", value, got, want)
		}
	}
	if got := shapeOf(wire.Raw([]byte(`{"` + strings.Repeat("k", 5000) + `":{` + manyMembers(500) + `}}`))); len(got) > shapeBytes {
		t.Errorf("a shape has %d bytes", len(got))
	}
}

func manyMembers(n int) string {
	var members []string
	for i := range n {
		members = append(members, fmt.Sprintf(`"%d":{"a":{"b":"c"}}`, i))
	}
	return strings.Join(members, ",")
}

func TestReadOfLongLines(t *testing.T) {
	long := strings.Repeat("ä", 1000) + "needle" + strings.Repeat("ö", 1000) + "needle" + strings.Repeat("ü", 1000)
	r, problem := parseRead(wire.Raw([]byte(`{"handle":"r1","grep":"needle","limit":1}`)))
	if problem != "" {
		t.Fatal(problem)
	}
	text := string(r.answer(t.Context(), long, "p", 1<<20).Text)
	if !strings.Contains(text, "ääneedleöö") || strings.Contains(text, "\uFFFD") || len(text) > 2*matchLine || !strings.Contains(text, "go on with offset") {
		t.Errorf("a match in a long line is shown as %s", text)
	}
	var at int
	_, _ = fmt.Sscanf(text[strings.Index(text, "offset ")+len("offset "):], "%d", &at)
	r.offset = at
	if next := string(r.answer(t.Context(), long, "p", 1<<20).Text); !strings.Contains(next, "ööneedleüü") || strings.Contains(next, "go on") {
		t.Errorf("from offset %d on, it is %s", at, next)
	}
}

// A line that is searched in pieces has each match once, wherever it stands.
func TestMatchesAcrossPieces(t *testing.T) {
	for at := matchPiece - matchLine - 10; at < matchPiece+10; at += 5 {
		line := strings.Repeat("x", at) + "needle" + strings.Repeat("y", 2*matchPiece)
		r := readRequest{grep: regexp.MustCompile("needle"), limit: matchesUsual}
		answer := string(r.answer(t.Context(), "first\n"+line+"\nlast", "p", 1<<20).Text)
		if !strings.Contains(answer, "Matches shown: 1,") || !strings.Contains(answer, "needley") {
			t.Fatalf("a match at %d is answered with %s", at, answer)
		}
	}
}

// Whatever the length, the parts of a text together are the text.
func TestReadInParts(t *testing.T) {
	const text = "aäb€c𝄞d\ne"
	for length := 1; length < 6; length++ {
		var whole strings.Builder
		for offset := 0; offset < len(text); {
			r := readRequest{offset: offset, length: length}
			answer := wire.Raw(r.answer(t.Context(), text, "p", 1024).Text)
			var texts []string
			for block := range answer.Member("content").Elements() {
				part, _ := block.Member("text").Text()
				texts = append(texts, part)
			}
			if len(texts) != 2 || texts[1] == "" {
				t.Fatalf("at %d the answer is %s", offset, answer.Bytes())
			}
			whole.WriteString(texts[1])
			offset += len(texts[1])
		}
		if whole.String() != text {
			t.Errorf("in parts of %d it is %q", length, whole.String())
		}
	}
}

func TestParseRead(t *testing.T) {
	for input, want := range map[string]string{
		`{"handle":"r1"}`:                       "",
		`{"handle":"r1","offset":5,"length":1}`: "",
		`{}`:                                    "handle: Required",
		`{"handle":"r1","offset":-1}`:           "offset: Expected a whole number from 0 to 2147483647",
		`{"handle":"r1","limit":201}`:           "limit: Expected a whole number from 1 to 200",
		`{"handle":"","x":1}`:                   "handle cannot be empty; Unrecognized key: 'x'",
		`{"handle":"r1","grep":"` + strings.Repeat("x", maxPattern+1) + `"}`: "grep: Expected at most 1000 bytes",
	} {
		if _, got := parseRead(wire.Raw([]byte(input))); got != want {
			t.Errorf("parseRead(%.60s) finds %q, want %q", input, got, want)
		}
	}
}

func TestLargeResultOfACall(t *testing.T) {
	text := strings.Repeat("many words ", 1000)
	servers := fleetOf(t, fakes(t, fake{"t", "a", `{"tools":[{"name":"run","inputSchema":{}}],"calls":{"run":[{"result":{"content":[{"type":"text","text":"` + text + `"}]}}]}}`}))
	surface, client := New(Options{Visible: servers, Discovery: config.Discovery{MaxResultBytes: 4096}}), newSession()
	client.ask(surface, openName, `{"toolbox":"t"}`)
	answer := client.ask(surface, useName, `{"tool":{"toolbox":"t","server":"a","name":"run"}}`)
	if len(answer) > 4096 || !strings.Contains(answer, "kept as 'r1'") {
		t.Errorf("the answer is %s", answer)
	}
	if !strings.Contains(client.list(surface), readResultName) || strings.Contains(client.list(New(Options{Visible: servers, Mode: config.Proxy})), readResultName) {
		t.Error("read_result is not listed where it is on, or where it is not")
	}
	if got := newSession().ask(surface, readResultName, `{"handle":"r1"}`); !strings.Contains(got, "is not kept") {
		t.Errorf("another client reads %s", got)
	}
}
