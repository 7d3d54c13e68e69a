package catalog

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// TestCleaningWhere marks what must go with !! and what must stay with ??; both stand for
// a character that is removed from prose.
func TestCleaningWhere(t *testing.T) {
	for _, test := range []struct{ name, definition string }{
		{"prose of the tool", `{"name":"a","title":"b!!","description":"c!!","inputSchema":{}}`},
		{"prose of annotations", `{"name":"a","annotations":{"title":"b!!","x":"??"},"inputSchema":{}}`},
		{"prose of schemas", `{"name":"a","inputSchema":{"description":"b!!","properties":{"p":{"title":"c!!","items":{"description":"d!!"}}}},"outputSchema":{"title":"e!!"}}`},
		{"prose in arrays", `{"name":"a","inputSchema":{"anyOf":[{"title":"b!!"},[{"description":"c!!"}],"??"]}}`},
		{"what is computed with", `{"name":"a","inputSchema":{"enum":["??",{"title":"??"}],"const":{"name":"??"},"default":{"description":["??"],"title":"??"},"pattern":"??"}}`},
		{"other members", `{"name":"a","inputSchema":{"$comment":"??","format":"??"},"x":"??","_meta":{"x":"??","description":"b!!"}}`},
		{"keys within a value", `{"name":"a","inputSchema":{"default":{"p??":{}},"required":["p??"]}}`},
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
		{"escaped keys", `{"n\u0061me":"a","inputSchema":{"\u0064escription":"b!!","\u0065num":["??"]}}`},
		{"prose of another kind", `{"name":"a","description":{"description":"b!!","x":"??"},"title":["??"],"inputSchema":{}}`},
		{"within what is not known", `{"name":"a","inputSchema":{"x-y":{"description":"b!!","properties":{"default":{"title":"c!!","default":"??"}}}},"_meta":{"properties":{"enum":{"title":"d!!"}}}}`},
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
	definition := "{ \"name\" : \"a\\/b\", \"title\":\"\\u0041\\/\\ud800\" ,\t\"n\":1.0,\"description\" : \"q\\\"\\u202eß\\n\\u00e9\", \"inputSchema\":{ } , \"x\":[ \"\\u200b\" ] }"
	want := "{ \"name\" : \"a\\/b\", \"title\":\"\\u0041\\/\\ud800\" ,\t\"n\":1.0,\"description\" : \"q\\\"ß\\né\", \"inputSchema\":{ } , \"x\":[ \"\\u200b\" ] }"
	tool := offer(t, definition)
	if got := string(tool.Definition.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if tool.Name != "a/b" || tool.Hash() != sha256.Sum256([]byte(definition)) {
		t.Errorf("name %q, or another hash than of what the server said", tool.Name)
	}
}

func TestCleaningWarnsOnce(t *testing.T) {
	s := snapshot(t, toolbox.Filter{},
		`{"name":"a","title":"\u200b","description":"\u202e","inputSchema":{}}`,
		`{"name":"b","inputSchema":{"properties":{"p":{"enum":["x","\u200b"]}},"default":"\u200b"}}`)
	want := []string{
		"Invisible text was removed from the definition of tool 'a' in server 'fs'",
		"The definition of tool 'b' in server 'fs' has invisible text in a value, which is unchanged: inputSchema.properties.p.enum",
	}
	if !slices.Equal(s.Warnings, want) {
		t.Errorf("warnings %q", s.Warnings)
	}
}

// What is asked for by a name, a key or an address that hides text cannot be offered.
func TestHiddenNamesWithhold(t *testing.T) {
	for definition, want := range map[string]string{
		`{"name":"a\u200bb","inputSchema":{}}`:                                        "Tool 'a<U+200B>b' of server 'fs' is withheld: its 'name' hides text: 'a<U+200B>b'",
		`{"name":"a","inputSchema":{"properties":{"p\ufe01":{}}}}`:                    "Tool 'a' of server 'fs' is withheld: its definition has the key 'p<U+FE01>', which hides text",
		`{"name":"a","inputSchema":{"$defs":{"x":{"properties":{"\u202ep":{}}}}}}`:    "Tool 'a' of server 'fs' is withheld: its definition has the key '<U+202E>p', which hides text",
		`{"name":"a","inputSchema":{},"x\u3164":1}`:                                   "Tool 'a' of server 'fs' is withheld: its definition has the key 'x<U+3164>', which hides text",
		`{"name":"a","inputSchema":{},"_meta":{"ui":{"resourceUri":"ui://a\u200b"}}}`: "Tool 'a' of server 'fs' is withheld: its 'resourceUri' hides text: 'ui://a<U+200B>'",
		`{"name":"a","inputSchema":{},"icons":[{"src":"https://a\u2060/i"}]}`:         "Tool 'a' of server 'fs' is withheld: its 'src' hides text: 'https://a<U+2060>/i'",
	} {
		s := snapshot(t, toolbox.Filter{}, definition, named("other"))
		if !slices.Equal(s.Names(), []string{"other"}) || !slices.Equal(s.Warnings, []string{want}) {
			t.Errorf("%s: tools %q, warnings %q", definition, s.Names(), s.Warnings)
		}
	}
	honest := "{\"name\":\"نامه\u200cای\",\"description\":\"👩\u200d💻\",\"inputSchema\":{\"properties\":{\"❤\ufe0f\":{}}}}"
	if s := snapshot(t, toolbox.Filter{}, honest); len(s.Tools) != 1 || s.Warnings != nil || string(s.Tools[0].Definition.Bytes()) != honest {
		t.Errorf("an honest definition becomes %v, with %q", s.Tools, s.Warnings)
	}
}

// Programs disagree about members that stand twice, and some read keys without case.
func TestTwinsAreDropped(t *testing.T) {
	for _, test := range []struct{ name, definition, want, dropped string }{
		{"another case", `{"name":"a","Name":"b","DESCRIPTION":"x","inputSchema":{},"InputSchema":{"type":"string"}}`, `{"name":"a","inputSchema":{}}`, "Name, DESCRIPTION, InputSchema"},
		{"twice", `{"name":"x","name":"a","title":"t","inputSchema":{"a":1},"inputSchema":{}}`, `{"name":"a","title":"t","inputSchema":{}}`, "name, inputSchema"},
		{"escaped", `{"name":"a","\u004eame":"b","t":1,"\u0074":2,"inputSchema":{}}`, `{"name":"a","\u0074":2,"inputSchema":{}}`, "Name, t"},
		{"letters that fold", `{"name":"a","deſcription":"b","inputSchema":{}}`, `{"name":"a","inputSchema":{}}`, "deſcription"},
		{"annotations", `{"name":"a","inputSchema":{},"annotations":{"readonlyhint":true,"Title":"x","readOnlyHint":false}}`, `{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":false}}`, "readonlyhint, Title"},
		{"schemas", `{"name":"a","inputSchema":{"properties":{"p":{"Description":"x","type":"string"}},"Type":"x"}}`, `{"name":"a","inputSchema":{"properties":{"p":{"type":"string"}}}}`, "Description, Type"},
		{"further down, what stands twice stays", `{"name":"a","inputSchema":{"type":"object","type":"object","properties":{"p":{},"p":{}}},"annotations":{"readOnlyHint":true,"readOnlyHint":false}}`, "", ""},
		{"in arrays", `{"name":"a","inputSchema":{"anyOf":[{"Title":"x"},{"title":"y"}]}}`, `{"name":"a","inputSchema":{"anyOf":[{},{"title":"y"}]}}`, "Title"},
		{"our own members", `{"name":"a","Toolbox":"x","inputSchema":{}}`, `{"name":"a","inputSchema":{}}`, "Toolbox"},
		{"names and values stay", `{"name":"a","inputSchema":{"properties":{"Name":{},"name":{},"Type":{}},"default":{"x":1,"x":2,"Title":1},"X":1,"x":2,"x-more":{"Type":1,"type":2},"dependentRequired":{"Title":["Name"]}},"_meta":{"Title":1,"title":"2","x":1,"x":2,"properties":{"p":{"Type":1,"type":2}}}}`, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := snapshot(t, toolbox.Filter{}, test.definition)
			if test.want == "" {
				test.want = test.definition
			}
			if got := string(s.Tools[0].Definition.Bytes()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if test.dropped != "" {
				want := "Duplicate members, and members that differ from a known one only in case, were removed from the definition of tool 'a' in server 'fs': " + test.dropped
				if !slices.Equal(s.Warnings, []string{want}) {
					t.Errorf("warnings %q", s.Warnings)
				}
			} else if s.Warnings != nil {
				t.Errorf("warnings %q", s.Warnings)
			}
		})
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf(`"k%d":%d`, i, i))
	}
	wide := `{"name":"a","inputSchema":{},` + strings.Join(many, ",")
	if got := string(offer(t, wide+`,"k3":1}`).Definition.Bytes()); got != strings.Replace(wide, `"k3":3,`, "", 1)+`,"k3":1}` {
		t.Errorf("among many members, a second one stays: %s", got)
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

// FuzzDefinition holds cleaning to what it promises of any definition.
func FuzzDefinition(f *testing.F) {
	for _, seed := range []string{
		named("a"), `{"name":"a","Name":"b","title":"x\u200b","inputSchema":{"properties":{"p":{"description":"\u202e","x":1,"x":2}}}}`,
		`{"name":"a","description":"👩\u200d💻","inputSchema":{"enum":["\ufe01"],"p\u200b":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		value, err := wire.ParseValue(data)
		if err != nil || value.Kind() != "object" || !utf8.Valid(data) {
			return
		}
		found := examine(value)
		if _, err := wire.ParseValue(found.definition.Bytes()); err != nil {
			t.Fatalf("%s becomes %s, which is no JSON: %v", data, found.definition.Bytes(), err)
		}
		again := examine(wire.Raw(found.definition.Bytes()))
		if again.cleaned || len(again.dropped) > 0 || string(again.definition.Bytes()) != string(found.definition.Bytes()) {
			t.Fatalf("%s becomes %s, and then %s", data, found.definition.Bytes(), again.definition.Bytes())
		}
	})
}
