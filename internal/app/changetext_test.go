package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

func unmasked(text string) string { return text }

// diffed is the diff of two contents, one line each.
func diffed(before, after string, mask func(string) string) (text, note string) {
	change := catalog.OpenChange{After: catalog.Record{Content: []byte(after)}}
	if before != "" {
		change.Before = &catalog.Record{Content: []byte(before)}
	}
	diff, note := diffOf(change, mask)
	var lines []string
	for _, line := range diff {
		lines = append(lines, line.Op+line.Text)
	}
	return strings.Join(lines, "\n"), note
}

func TestDiffOfADefinition(t *testing.T) {
	mask := func(text string) string { return strings.ReplaceAll(text, "hunter22", "[hidden]") }
	got, note := diffed(
		`{"name":"a","description":"Reads\nfiles","inputSchema":{"type":"object","required":[]},"k":1}`,
		`{"name":"a","description":"Reads\nfiles \u200b<script>\"hunter22\"","inputSchema":{"type":"object","required":["x"]},"k":1}`, mask)
	want := strings.TrimPrefix(`
 {
   "name": "a",
   "description": "Reads\n
-    files",
+    files ⟨U+200B⟩<script>\"[hidden]\"",
   "inputSchema": {
     "type": "object",
-    "required": []
+    "required": [
+      "x"
+    ]
   },
   "k": 1
 }`, "\n")
	if got != want || note != "" {
		t.Errorf("%s\n%s", note, got)
	}
}

func TestDiffsSayWhatIsMissing(t *testing.T) {
	for name, test := range map[string]struct{ before, after, want, note string }{
		"new":            {"", `{"a":[{}]}`, "+{\n+  \"a\": [\n+    {}\n+  ]\n+}", ""},
		"instructions":   {`"one\ntwo"`, `"one\nthree ⟨U+200B⟩\n"`, " one\n-two\n+three ⟨U+27E8⟩U+200B⟨U+27E9⟩\n+", ""},
		"spelling alone": {`{"a":"b"}`, `{"a": "\u0062"}`, "@3 lines that did not change", "Only white space"},
	} {
		if got, note := diffed(test.before, test.after, unmasked); got != test.want || !strings.HasPrefix(note, test.note) || (note == "") != (test.note == "") {
			t.Errorf("%s: %q\n%s", name, note, got)
		}
	}
	diff, note := diffOf(catalog.OpenChange{Before: &catalog.Record{}, After: catalog.Record{Content: []byte(`{}`)}}, unmasked)
	if len(diff) != 1 || diff[0].Op != "+" || !strings.Contains(note, "former content was not kept") {
		t.Errorf("%v %q", diff, note)
	}
	if diff, note := diffOf(catalog.OpenChange{Before: &catalog.Record{}}, unmasked); len(diff) != 0 || !strings.Contains(note, "cannot be shown") {
		t.Errorf("%v %q", diff, note)
	}
}

// A server cannot make the diff endless, and what is cut is said. A change far inside a long text is still seen.
func TestDiffsAreBounded(t *testing.T) {
	many := `{"a":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 50_000), ",") + `]}`
	got, note := diffed("", many, unmasked)
	if n := strings.Count(got, "\n") + 1; n != maxDiffLines || !strings.Contains(note, "48004 lines are left out") {
		t.Errorf("%d lines, %s", n, note)
	}
	padded := func(end string) string { return fmt.Sprintf(`{"description":%q}`, strings.Repeat("word ", 20_000)+end) }
	got, note = diffed(padded("good"), padded("evil"), unmasked)
	if note != "" || !strings.Contains(got, `evil"`) || len(got) > 5_000 {
		t.Errorf("%d bytes, %q", len(got), note)
	}
	deep := strings.Repeat(`{"a":`, 400) + `"\u202e"` + strings.Repeat(`}`, 400)
	if got, _ := diffed("", deep, unmasked); hidden.Has(strings.ReplaceAll(got, "\n", "")) || !strings.Contains(got, `\u202e`) {
		t.Error("what is deep is not drawn")
	}
}

// Once the room is used up, no diff is made any more, which would be thrown away.
func TestDiffNeedsRoom(t *testing.T) {
	change := catalog.OpenChange{After: catalog.Record{Content: []byte(`{"name":"` + strings.Repeat("a", 100) + `"}`)}}
	made := 0
	mask := func(text string) string { made++; return text }
	room := 200
	for i, isShown := range []bool{true, false, false, false} {
		made = 0
		diff, note := diffWithin(&room, change, mask)
		if len(diff) > 0 != isShown || strings.Contains(note, "look at this one alone") == isShown {
			t.Errorf("%d: %d lines, %q", i, len(diff), note)
		}
		if i > 1 && made > 0 {
			t.Errorf("%d: a diff is made without room", i)
		}
	}
}
