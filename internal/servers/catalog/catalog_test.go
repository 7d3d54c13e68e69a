package catalog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// payload is a part of a message, as definitions are: not at the start of its buffer.
func payload(t testing.TB, text string) wire.Payload {
	t.Helper()
	whole, err := wire.ParseValue([]byte(`{"before":["x"],"value":` + text + `,"after":1}`))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return whole.Member("value")
}

func snapshot(t testing.TB, filter toolbox.Filter, definitions ...string) *Snapshot {
	t.Helper()
	var listing Listing
	for _, definition := range definitions {
		listing.Definitions = append(listing.Definitions, payload(t, definition))
	}
	return NewSnapshot("fs", listing, filter)
}

// offer is the one tool that comes of a definition.
func offer(t testing.TB, definition string) Tool {
	t.Helper()
	s := snapshot(t, toolbox.Filter{}, definition)
	if len(s.Tools) != 1 {
		t.Fatalf("%s: %d tools, warnings %q", definition, len(s.Tools), s.Warnings)
	}
	return s.Tools[0]
}

// named is a sound definition.
func named(name string) string { return `{"name":"` + name + `","inputSchema":{"type":"object"}}` }

func checkTools(t *testing.T, s *Snapshot, names, warnings []string) {
	t.Helper()
	if !slices.Equal(s.Names(), names) {
		t.Errorf("tools %q, want %q", s.Names(), names)
	}
	if !slices.Equal(s.Warnings, warnings) {
		t.Errorf("warnings\n%q, want\n%q", s.Warnings, warnings)
	}
}

func TestSnapshotKeepsDefinitionsAsTheyAre(t *testing.T) {
	for _, definition := range []string{
		named("read_file"),
		`{ "inputSchema" : { "type":"object" ,"properties":{ "n":{"maximum":9007199254740993,"x":1.0,"y":1e400} } } ,
		   "name":"\u0061\/b", "title":"Größe \ud83d\ude00 \ud800", "unknown":[ {} , null], "_meta":{"a":1,"a":2} }`,
		"{\"name\":\"a\\tb\\n\\r\",\"description\":\"tab\\t, line\\nends\\r\\n, joiners 👩\u200d💻 می\u200cخواهم\",\"inputSchema\":true}",
		`{"name":"a","inputSchema":{"enum":["\u200b"]},"outputSchema":{"default":"\u202e"},"icons":[{"x":"\u200b"}]}`,
		`{"name":"a","inputSchema":"absurd"}`,
		`{"name":"a","inputSchema":[]}`,
	} {
		tool := offer(t, definition)
		if got := string(tool.Definition.Bytes()); got != strings.ReplaceAll(definition, "\n", " ") {
			t.Errorf("got  %q\nwant %q", got, definition)
		}
	}
}

func TestSnapshotIsACopy(t *testing.T) {
	message := []byte(named("a"))
	s := NewSnapshot("fs", Listing{Definitions: []wire.Payload{wire.Raw(message)}}, toolbox.Filter{})
	want := bytes.Clone(message)
	clear(message)
	if got := s.Tools[0].Definition.Bytes(); !bytes.Equal(got, want) {
		t.Errorf("the definition changed with its message: %q", got)
	}
}

func TestSnapshotSchema(t *testing.T) {
	const warning = "Tool 'a' of server 'fs' has no input schema; it is offered as taking any object"
	const twin = "Duplicate members, and members that differ from a known one only in case, were removed from the definition of tool 'a' in server 'fs': "
	for _, test := range []struct{ name, definition, want string }{
		{"missing", `{"name":"a" , "title":"x" }`, `{"name":"a" , "title":"x","inputSchema":{"type":"object"}}`},
		{"null", `{"inputSchema":null,"name":"a"}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"null at the end", `{ "name":"a", "inputSchema" : null }`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"null with an escaped key", `{"name":"a","input\u0053chema":null,"x":1}`, `{"name":"a","x":1,"inputSchema":{"type":"object"}}`},
		{"null as the last of two", `{"name":"a","inputSchema":{},"inputSchema":null}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"other case", `{"name":"a","inputschema":{}}`, `{"name":"a","inputSchema":{"type":"object"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := snapshot(t, toolbox.Filter{}, test.definition)
			warnings := []string{warning}
			switch test.name {
			case "null as the last of two":
				warnings = []string{twin + "inputSchema", warning}
			case "other case":
				warnings = []string{twin + "inputschema", warning}
			}
			checkTools(t, s, []string{"a"}, warnings)
			if got := string(s.Tools[0].Definition.Bytes()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestSnapshotLeavesOut(t *testing.T) {
	const (
		nameless  = "Tool number %d of server 'fs' has no name and was left out"
		duplicate = "Server 'fs' lists tool '%s' more than once; the first one stays"
		withheld  = "Tool '%[1]s' of server 'fs' is withheld: its 'name' hides text: '%[1]s'"
	)
	for _, test := range []struct {
		name        string
		definitions []string
		want        []string
		warnings    []string
	}{
		{"nothing", nil, []string{}, nil},
		{"order", []string{named("c"), named("a"), named("b")}, []string{"c", "a", "b"}, nil},
		{
			"nameless",
			[]string{`{"inputSchema":{}}`, named("a"), named("")},
			[]string{"a"},
			[]string{fmt.Sprintf(nameless, 1), fmt.Sprintf(nameless, 3)},
		},
		{
			"names of other kinds",
			[]string{`{"name":null}`, `{"name":5}`, `{"name":["a"]}`, `{"Name":"a"}`},
			[]string{},
			[]string{fmt.Sprintf(nameless, 1), fmt.Sprintf(nameless, 2), fmt.Sprintf(nameless, 3), fmt.Sprintf(nameless, 4)},
		},
		{
			"no objects",
			[]string{`null`, `"a"`, `[]`, named("a")},
			[]string{"a"},
			[]string{fmt.Sprintf(nameless, 1), fmt.Sprintf(nameless, 2), fmt.Sprintf(nameless, 3)},
		},
		{
			"only invisible",
			[]string{named("\u200b\u2060"), named(`\u001b[0m`)},
			[]string{},
			[]string{fmt.Sprintf(withheld, "<U+200B><U+2060>"), fmt.Sprintf(withheld, "<U+001B>[0m")},
		},
		{"same name", []string{named("a"), named("b"), named("a"), named("A")}, []string{"a", "b", "A"}, []string{fmt.Sprintf(duplicate, "a")}},
		{"same name but for what is hidden", []string{named("a"), named("a\u200b")}, []string{"a"}, []string{fmt.Sprintf(withheld, "a<U+200B>")}},
		{
			"same name, hidden one first",
			[]string{named("a\u200b"), named("a")},
			[]string{"a"},
			[]string{fmt.Sprintf(withheld, "a<U+200B>")},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkTools(t, snapshot(t, toolbox.Filter{}, test.definitions...), test.want, test.warnings)
		})
	}
}

func TestSnapshotFirstOfSameNameStays(t *testing.T) {
	s := snapshot(t, toolbox.Filter{}, `{"name":"a","title":"first","inputSchema":{}}`, `{"name":"a","title":"second","inputSchema":{}}`)
	tool, ok := s.Find("a")
	if title, _ := tool.Definition.Member("title").Text(); !ok || title != "first" {
		t.Errorf("found %t, title %q", ok, title)
	}
}

func TestSnapshotFilters(t *testing.T) {
	definitions := []string{named("a"), named("b"), named("c\u200b"), `{}`, named("b")}
	for _, test := range []struct {
		name   string
		filter toolbox.Filter
		want   []string
	}{
		{"all", toolbox.NewFilter([]string{"*"}), []string{"a", "b"}},
		{"none", toolbox.NewFilter(nil), []string{}},
		{"some", toolbox.NewFilter([]string{"b", "x"}), []string{"b"}},
		{"by a name that hides text", toolbox.NewFilter([]string{"c\u200b"}), []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := snapshot(t, test.filter, definitions...).Names(); !slices.Equal(got, test.want) {
				t.Errorf("tools %q, want %q", got, test.want)
			}
		})
	}
	t.Run("a warning about what was meant", func(t *testing.T) {
		filter := toolbox.NewFilter([]string{"c"})
		checkTools(t, snapshot(t, filter, definitions[:3]...), []string{}, []string{fmt.Sprintf("Tool '%[1]s' of server 'fs' is withheld: its 'name' hides text: '%[1]s'", "c<U+200B>")})
	})
	t.Run("no warnings about what is not offered", func(t *testing.T) {
		filter := toolbox.NewFilter([]string{"a"})
		checkTools(t, snapshot(t, filter, named("a"), named("b"), named("b"), `{"name":"c\u200b"}`), []string{"a"}, nil)
	})
}

func TestSnapshotFind(t *testing.T) {
	s := snapshot(t, toolbox.Filter{}, named("a"), named("b\u200b"))
	for _, test := range []struct {
		name string
		ok   bool
	}{
		{"a", true},
		{"b", false}, // is withheld
		{"b\u200b", false},
		{"A", false},
		{"", false},
	} {
		if tool, ok := s.Find(test.name); ok != test.ok {
			t.Errorf("%q: %+v %t", test.name, tool, ok)
		}
	}
}

func TestSnapshotWarningsAreBounded(t *testing.T) {
	for _, bad := range []int{maxWarnings - 1, maxWarnings, maxWarnings + 1, 10 * maxWarnings} {
		s := snapshot(t, toolbox.Filter{}, slices.Repeat([]string{`{}`}, bad)...)
		if want := min(bad, maxWarnings+1); len(s.Warnings) != want {
			t.Errorf("%d bad definitions: %d warnings, want %d", bad, len(s.Warnings), want)
		}
		more := s.Warnings[len(s.Warnings)-1] == "There were more warnings of this kind"
		if more != (bad > maxWarnings) {
			t.Errorf("%d bad definitions: last warning %q", bad, s.Warnings[len(s.Warnings)-1])
		}
	}
}

func TestSnapshotNote(t *testing.T) {
	s := NewSnapshot("fs", Listing{Note: "The list was cut off"}, toolbox.Filter{})
	checkTools(t, s, []string{}, []string{"The list was cut off (server 'fs')"})
}

func manyTools(t testing.TB, count int) (listing Listing) {
	for i := range count {
		listing.Definitions = append(listing.Definitions, payload(t, fmt.Sprintf(
			`{"name":"tool_%d","description":"%s\u200b","inputSchema":{"type":"object","properties":{"a":{"description":"%s"}}}}`,
			i, strings.Repeat("Does something. ", 20), strings.Repeat("A value. ", 20))))
	}
	return listing
}

func TestSnapshotOfManyTools(t *testing.T) {
	const count = 10_000
	took := func(listing Listing) time.Duration {
		began := time.Now()
		s := NewSnapshot("fs", listing, toolbox.Filter{})
		last := fmt.Sprintf("tool_%d", len(listing.Definitions)-1)
		if tool, ok := s.Find(last); !ok || tool.Name != last || len(s.Tools) != len(listing.Definitions) {
			t.Errorf("%d tools, last one found: %t", len(s.Tools), ok)
		}
		return time.Since(began)
	}
	// Ten times as many may take ten times as long, with room for a busy machine, but not
	// a hundred times.
	few, all := manyTools(t, count/10), manyTools(t, count)
	tenth := took(few)
	if whole := took(all); whole > 50*tenth {
		t.Errorf("%v for %d tools, but %v for a tenth of them", whole, count, tenth)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	listing := manyTools(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		NewSnapshot("fs", listing, toolbox.Filter{})
	}
}

// instructed is what a server offers that says how to use it.
func instructed(t testing.TB, instructions string, definitions ...string) *Snapshot {
	t.Helper()
	listing := Listing{Instructions: instructions}
	for _, definition := range definitions {
		listing.Definitions = append(listing.Definitions, wire.Raw([]byte(definition)))
	}
	return NewSnapshot("fs", listing, toolbox.Filter{})
}
