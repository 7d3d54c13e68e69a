package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
)

// escaped is a rune as JSON escapes.
func escaped(r rune) string {
	var text strings.Builder
	for _, unit := range utf16.Encode([]rune{r}) {
		fmt.Fprintf(&text, `\u%04x`, unit)
	}
	return text.String()
}

func TestInvisibleText(t *testing.T) {
	removed := []struct {
		name       string
		first, end rune
	}{
		{"control characters before tab", 0x00, 0x08},
		{"control characters between line ends", 0x0b, 0x0c},
		{"control characters after line ends", 0x0e, 0x1f},
		{"delete and C1", 0x7f, 0x9f},
		{"zero width space", 0x200b, 0x200b},
		{"word joiner and invisible operators", 0x2060, 0x2064},
		{"byte order mark", 0xfeff, 0xfeff},
		{"embeddings and overrides", 0x202a, 0x202e},
		{"isolates", 0x2066, 0x2069},
		{"tags", 0xe0000, 0xe007f},
	}
	invisible := func(r rune) bool {
		for _, set := range removed {
			if set.first <= r && r <= set.end {
				return true
			}
		}
		return false
	}
	check := func(r rune, as, text string) {
		want := "visible"
		if !invisible(r) {
			want += string(r)
		}
		tool := offer(t, `{"name":"a","description":"visible`+text+`","inputSchema":{}}`)
		if got, _ := tool.Definition.Member("description").Text(); got != want {
			t.Errorf("U+%04X %s: %q, want %q", r, as, got, want)
		}
	}
	// Each of them, and its neighbours, which stay: joiners (U+200C and U+200D) are among them.
	for _, set := range removed {
		for r := max(set.first-2, 0); r <= set.end+2; r++ {
			check(r, "escaped", escaped(r))
			if r >= 0x20 {
				check(r, "raw", string(r))
			}
		}
	}
	for _, r := range "\t\n\r \u00a0\u00ad\u200e\u200f\ufe0fé漢\U0001f600" {
		check(r, "escaped", escaped(r))
	}
	check('\b', "short", `\b`)
	check('\f', "short", `\f`)
}

func TestTerminalSequences(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"colours", "\x1b[31mred\x1b[0m text", "red text"},
		{"parameters and intermediates", "a\x1b[?25;1 qb\x1b[38:5:1mc", "abc"},
		{"C1 colours", "\u009b31mred", "red"},
		{"title", "a\x1b]0;title\x07b", "ab"},
		{"link", "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"C1 title", "a\u009d0;title\u009cb", "ab"},
		{"device control", "a\x1bPq#0;2\x1b\\b", "ab"},
		{"strings of other kinds", "a\x1bXx\x1b\\b\x1b^x\x1b\\c\x1b_x\x07d", "abcd"},
		{"C1 strings", "a\u0090x\u009cb\u0098x\u009cc\u009ex\u009cd\u009fx\u009ce", "abcde"},
		{"character set", "a\x1b(Bb", "ab"},
		{"reset", "a\x1bcb\x1b7c", "abc"},
		{"never ends", "a\x1b]0;title", "a"},
		{"ends in another", "a\x1b]0;title\x1b[31mb", "ab"},
		{"broken off", "a\x1b[", "a"},
		{"escape at the end", "a\x1b", "a"},
		{"two escapes", "a\x1b\x1b[1mb", "ab"},
		{"put together by cleaning", "a\x1b\x1b[0m[1mb", "a[1mb"},
		{"no sequence", "[31m ]0;x", "[31m ]0;x"},
		{"backspace", "abc\b\b\bxyz", "abcxyz"},
		{"all at once", "\u202e\x1b[1m\u200bA\U000e0041\x1b[0m\ufeff", "A"},
		{"text before and after stays", "Größe\t\x1b[1m漢\n", "Größe\t漢\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := CleanText(test.in)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if again := CleanText(got); again != got {
				t.Errorf("cleaned again: %q", again)
			}
		})
	}
}

// TestCleaningWhere marks what must go with !! and what must stay with ??; both stand for
// a character that is removed from prose.
func TestCleaningWhere(t *testing.T) {
	for _, test := range []struct{ name, definition string }{
		{"prose of the tool", `{"name":"a!!","title":"b!!","description":"c!!","inputSchema":{}}`},
		{"prose of annotations", `{"name":"a","annotations":{"title":"b!!","x":"??"},"inputSchema":{}}`},
		{"prose of schemas", `{"name":"a","inputSchema":{"description":"b!!","properties":{"p":{"title":"c!!","items":{"description":"d!!"}}}},"outputSchema":{"title":"e!!"}}`},
		{"prose in arrays", `{"name":"a","inputSchema":{"anyOf":[{"title":"b!!"},[{"description":"c!!"}],"??"]}}`},
		{"what is computed with", `{"name":"a","inputSchema":{"enum":["??",{"title":"??"}],"const":{"name":"??"},"default":{"description":["??"],"title":"??"},"pattern":"??"}}`},
		{"other members", `{"name":"a","inputSchema":{"$comment":"??","format":"??"},"x??":"??","_meta":{"x":"??"}}`},
		{"names of parameters", `{"name":"a","inputSchema":{"properties":{"p??":{}},"required":["p??"]}}`},
		// A parameter may be called like a keyword. It is a schema all the same.
		{"parameters called like keywords", `{"name":"a","inputSchema":{"properties":{
			"enum":{"description":"b!!","enum":["??"]}, "const":{"description":"c!!","const":"??"},
			"default":{"description":"d!!","default":{"title":"??"}}, "pattern":{"description":"e!!","pattern":"??"}}}}`},
		{"parameters called like prose", `{"name":"a","inputSchema":{"properties":{
			"name":{"description":"b!!","default":"??"}, "title":{"title":"c!!"}, "description":{"description":"d!!"}}}}`},
		{"a parameter called properties", `{"name":"a","inputSchema":{"properties":{
			"properties":{"default":{"description":"??"},"properties":{"default":{"description":"b!!"}}}}}}`},
		{"other maps of schemas", `{"name":"a","inputSchema":{
			"$defs":{"default":{"title":"b!!"}}, "definitions":{"const":{"title":"c!!"}},
			"patternProperties":{"enum":{"title":"d!!"}}, "dependentSchemas":{"pattern":{"title":"e!!"}}}}`},
		{"names within a value", `{"name":"a","inputSchema":{"default":{"properties":{"x":{"description":"??"}}}}}`},
		{"escaped keys", `{"n\u0061me":"a!!","inputSchema":{"\u0064escription":"b!!","\u0065num":["??"]}}`},
		{"prose of another kind", `{"name":"a","description":{"description":"b!!","x":"??"},"title":["??"],"inputSchema":{}}`},
		{"the same key twice", `{"name":"x!!","name":"a!!","inputSchema":{}}`},
		{"deep down", `{"name":"a","inputSchema":` + strings.Repeat(`{"items":`, 400) + `{"title":"b!!"}` + strings.Repeat("}", 400) + `}`},
	} {
		for as, mark := range map[string]string{"raw": "\u200b", "escaped": `\u200b`, "terminal sequence": `\u001b[1m`} {
			t.Run(test.name+"/"+as, func(t *testing.T) {
				in := strings.NewReplacer("\n", "", "!!", mark, "??", mark).Replace(test.definition)
				want := strings.NewReplacer("\n", "", "!!", "", "??", mark).Replace(test.definition)
				if got := string(offer(t, in).Definition.Bytes()); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

func TestCleaningKeepsTheRest(t *testing.T) {
	definition := "{ \"name\" : \"a\u200b\\/b\", \"title\":\"\\u0041\\/\\ud800\" ,\t\"n\":1.0,\"description\" : \"q\\\"\\u202eß\\n\\u00e9\", \"inputSchema\":{ } , \"x\":[ \"\\u200b\" ] }"
	want := "{ \"name\" : \"a/b\", \"title\":\"\\u0041\\/\\ud800\" ,\t\"n\":1.0,\"description\" : \"q\\\"ß\\né\", \"inputSchema\":{ } , \"x\":[ \"\\u200b\" ] }"
	tool := offer(t, definition)
	if got := string(tool.Definition.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if tool.Name != "a/b" || tool.Original != "a\u200b/b" {
		t.Errorf("name %q, original %q", tool.Name, tool.Original)
	}
}

func TestCleaningWarnsOnce(t *testing.T) {
	s := snapshot(t, toolbox.Filter{},
		`{"name":"a\u200b","title":"\u200b","description":"\u202e","inputSchema":{}}`,
		`{"name":"b","inputSchema":{"enum":["\u200b"]}}`)
	want := []string{"Invisible text was removed from the definition of tool 'a' in server 'fs'"}
	if !slices.Equal(s.Warnings, want) {
		t.Errorf("warnings %q", s.Warnings)
	}
}

// Definitions may nest as deep as messages; looking for prose has an end before that.
func TestCleaningOfAbsurdDepth(t *testing.T) {
	const depth = 9_000
	definition := `{"name":"a","title":"b\u200b","inputSchema":` + strings.Repeat(`{"items":`, depth) + `1` + strings.Repeat("}", depth) + `}`
	tool := offer(t, definition)
	if got := string(tool.Definition.Bytes()); got != strings.Replace(definition, `\u200b`, "", 1) {
		t.Errorf("got %.100s...", got)
	}
	if signature := tool.Signature(); signature != "a()" {
		t.Errorf("signature %.100s", signature)
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[31mred\x1b]0;t\x07\u009b1m", "\u200b\u202e\U000e0041\ufeff", "a\x1b\x1b[0m[1m", "\xff\x9b", "\t\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean := CleanText(text)
		if i := strings.IndexFunc(clean, isInvisible); i >= 0 {
			t.Fatalf("%q became %q", text, clean)
		}
		if CleanText(clean) != clean || len(clean) > len(text) && utf8.ValidString(text) {
			t.Fatalf("%q became %q and then %q", text, clean, CleanText(clean))
		}
	})
}
