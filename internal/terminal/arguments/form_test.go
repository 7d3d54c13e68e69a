package arguments

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// outline writes a form in one line: name:type of each field, with ! for a required one and ? for one that may be null.
func outline(f Field) string {
	text := f.Type
	if f.Name != "" {
		text = f.Name + ":" + text
	}
	for _, mark := range []struct {
		is   bool
		text string
	}{{f.Required, "!"}, {f.Nullable, "?"}, {f.Secret, "*"}, {f.Note != "", " (" + f.Note + ")"}, {f.Format != "", "/" + f.Format}} {
		if mark.is {
			text += mark.text
		}
	}
	if f.Values != nil {
		text += fmt.Sprintf("%s", f.Values)
	}
	var parts []string
	for _, sub := range f.Fields {
		parts = append(parts, outline(sub))
	}
	if f.Fields != nil {
		text += "{" + strings.Join(parts, " ") + "}"
	}
	if f.Items != nil {
		text += "[" + outline(*f.Items) + "]"
	}
	parts = nil
	for _, sub := range f.Alternatives {
		parts = append(parts, "'"+sub.Title+"' "+outline(sub))
	}
	if parts != nil {
		text += "<" + strings.Join(parts, " | ") + ">"
	}
	return text
}

func TestForm(t *testing.T) {
	for _, test := range []struct{ name, schema, want string }{
		{"without parameters", `{"type":"object"}`, "object!"},
		{"nothing", `{}`, "object!"},
		{"a boolean", `true`, "object!"},
		{
			"scalars", `{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"number"},"c":{"type":"integer"},"d":{"type":"boolean"}}}`,
			"object!{a:text! b:number c:integer d:boolean}",
		},
		{
			"choices", `{"properties":{"a":{"enum":["x",1,null]},"b":{"const":"k"},"c":{"oneOf":[{"const":1,"title":"one"},{"const":2}]}}}`,
			`object!{a:choice?["x" 1] b:constant["k"] c:choice[1 2]}`,
		},
		{"no choice", `{"properties":{"a":{"enum":[]},"b":{"enum":[null]}}}`, "object!{a:json (The schema permits no value) b:constant[null]}"},
		{
			"null", `{"properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null},"c":{"type":"null"}}}`,
			"object!{a:text? b:integer? c:constant[null]}",
		},
		{"several types", `{"properties":{"a":{"type":["string","number"]}}}`, "object!{a:oneOf<'string' text | 'number' number>}"},
		{
			"nested", `{"properties":{"a":{"type":"object","required":["b"],"properties":{"b":{"type":"array","items":{"type":"string"}}}}}}`,
			"object!{a:object{b:list![text!]}}",
		},
		{
			"maps", `{"properties":{"a":{"type":"object","additionalProperties":{"type":"number"}},"b":{"type":"object"},"c":{"properties":{"d":{}},"additionalProperties":{"type":"string"}}}}`,
			"object!{a:map[number!] b:json c:object{d:json}[text!]}",
		},
		{
			"alternatives", `{"properties":{"shape":{"oneOf":[{"properties":{"type":{"const":"circle"},"r":{"type":"number"}}},{"title":"Box","properties":{"w":{"type":"number"}}},{"type":"string"}]}}}`,
			`object!{shape:oneOf<'type: circle' object{type:constant["circle"] r:number} | 'Box' object{w:number} | 'string' text>}`,
		},
		{
			"alternatives of an object", `{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"title":"x","properties":{"b":{"type":"string"}}},{"title":"y","properties":{"c":{"type":"string"}}}]}`,
			"object!{a:text}<'x' object{b:text} | 'y' object{c:text}>",
		},
		{"what only says what is needed", `{"properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, "object!{a:text}"},
		{
			"all of several", `{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"$ref":"#/$defs/x"}],"$defs":{"x":{"properties":{"b":{"type":"number"}}}}}`,
			"object!{a:text! b:number}",
		},
		{
			"references", `{"properties":{"a":{"$ref":"#/$defs/p","description":"d"},"b":{"$ref":"#/$defs/p"}},"$defs":{"p":{"type":"object","properties":{"x":{"type":"number"}}}}}`,
			"object!{a:object{x:number} b:object{x:number}}",
		},
		{
			"formats", `{"properties":{"a":{"type":"string","format":"date"},"apiKey":{"type":"string"},"b":{"type":"string","writeOnly":true},"key":{"type":"string"}}}`,
			"object!{a:text/date apiKey:text* b:text* key:text}",
		},
		{
			"files", `{"properties":{"a":{"type":"string","contentEncoding":"base64","contentMediaType":"image/png"},"b":{"type":"string","format":"byte"},"c":{"type":"string","contentMediaType":"text/csv"}}}`,
			"object!{a:file b:file/byte c:file}",
		},
		{"a tuple", `{"properties":{"a":{"type":"array","prefixItems":[{}]}}}`, "object!{a:json (The schema says something else of each element)}"},
		{
			"recursive", `{"properties":{"child":{"$ref":"#"},"list":{"type":"array","items":{"$ref":"#/$defs/n"}}},"$defs":{"n":{"properties":{"n":{"$ref":"#/$defs/n"}}}}}`,
			"object!{child:json (The schema is recursive) list:list[object!{n:json (The schema is recursive)}]}",
		},
		{"elsewhere", `{"properties":{"a":{"$ref":"https://example.com/x"}}}`, "object!{a:json (The schema refers to something that is not in it)}"},
		{"a strange type", `{"properties":{"a":{"type":"date"}}}`, "object!{a:json (The schema names a type that does not exist)}"},
		{"a list", `{"type":"array","items":{"type":"string"}}`, "list![text!]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := outline(Form(value(t, test.schema))); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestFormOfNothing(t *testing.T) {
	if got := outline(Form(wire.Payload{})); got != "object!" {
		t.Errorf("got %s", got)
	}
}

func TestFormDescribesItsFields(t *testing.T) {
	form := Form(value(t, `{"title":"All","properties":{"a/b":{"type":"string","title":"T","description":"D","default":"x","minLength":1,"maxLength":9,"pattern":"^x"},
		"n":{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}],"description":"count","default":1e2}, "l":{"items":{"additionalProperties":{"title":"deep","type":"object","properties":{"q":{}}}}},
		"o":{"$ref":"#/$defs/p","title":"own"}},"$defs":{"p":{"title":"theirs","description":"of p","type":"string"}}}`))
	encoded, err := json.Marshal(form)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"path":"","type":"object","title":"All","required":true,"fields":[` +
		`{"name":"a/b","path":"/a~1b","type":"text","title":"T","description":"D","default":"x","pattern":"^x","minLength":1,"maxLength":9},` +
		`{"name":"n","path":"/n","type":"integer","description":"count","nullable":true,"default":1e2,"minimum":1},` +
		`{"name":"l","path":"/l","type":"list","items":{"path":"/l/-","type":"map","required":true,"items":{"path":"/l/-/*","type":"object","title":"deep","required":true,"fields":[{"name":"q","path":"/l/-/*/q","type":"json"}]}}},` +
		`{"name":"o","path":"/o","type":"text","title":"own","description":"of p"}]}`
	if string(encoded) != want {
		t.Errorf("got  %s\nwant %s", encoded, want)
	}
}

// The schemas of real servers and of our own need no JSON but where they permit anything.
func TestFormOfRealServers(t *testing.T) {
	for name, want := range map[string]string{
		// @modelcontextprotocol/server-everything, -memory, -filesystem
		`{"type":"object","properties":{"a":{"type":"number","description":"First number"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}`:                                                                                 "object!{a:number! b:number!}",
		`{"type":"object","properties":{"messageType":{"type":"string","enum":["error","success","debug"]},"includeImage":{"type":"boolean","default":false}},"required":["messageType"]}`:                                                                                                                `object!{messageType:choice!["error" "success" "debug"] includeImage:boolean}`,
		`{"type":"object","properties":{"entities":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"entityType":{"type":"string"},"observations":{"type":"array","items":{"type":"string"}}},"required":["name","entityType","observations"]}}},"required":["entities"]}`: "object!{entities:list![object!{name:text! entityType:text! observations:list![text!]}]}",
		`{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","items":{"type":"object","properties":{"oldText":{"type":"string"},"newText":{"type":"string"}},"required":["oldText","newText"]}},"dryRun":{"default":false,"type":"boolean"}},"required":["path","edits"]}`:    "object!{path:text! edits:list![object!{oldText:text! newText:text!}] dryRun:boolean}",
	} {
		if got := outline(Form(value(t, name))); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for _, server := range []string{"clock", "files", "notes"} {
		data, err := os.ReadFile("../../servers/builtin/testdata/" + server + ".json")
		if err != nil {
			t.Fatal(err)
		}
		tools := 0
		for tool := range wire.Raw(data).Member("tools").Elements() {
			tools++
			if got := outline(Form(tool.Member("inputSchema"))); !strings.HasPrefix(got, "object!") || strings.Contains(got, "json") {
				t.Errorf("%s: %s", server, got)
			}
		}
		t.Logf("%s has %d tools", server, tools)
	}
}

// hostile are schemas that would take for ever, or all memory.
func hostile() map[string]string {
	doubling := `{"$ref":"#/$defs/d0","$defs":{`
	for i := range 40 {
		doubling += fmt.Sprintf(`"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	var wide, refs, choices strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&wide, `"p%d":{"type":"string","description":"%s"},`, i, strings.Repeat("x", 100))
		fmt.Fprintf(&refs, `"p%d":{"$ref":"#/$defs/big"},`, i)
		fmt.Fprintf(&choices, `{"properties":{"p%d":{"type":"string"}}},`, i)
	}
	big := `{"enum":["` + strings.Repeat("x", 1<<20) + `"]}`
	return map[string]string{
		"doubling":          doubling + `"d40":{}}}`,
		"deep":              strings.Repeat(`{"properties":{"a":`, 2000) + "{}" + strings.Repeat("}}", 2000),
		"deep lists":        strings.Repeat(`{"items":`, 5000) + "{}" + strings.Repeat("}", 5000),
		"deep alternatives": strings.Repeat(`{"anyOf":[`, 2000) + "{}" + strings.Repeat("]}", 2000),
		"wide":              `{"properties":{` + wide.String() + `"z":{}}}`,
		"large references":  `{"properties":{` + refs.String() + `"z":{}},"$defs":{"big":` + big + `}}`,
		"many choices":      `{"oneOf":[` + choices.String() + `{}]}`,
		"a circle":          `{"$ref":"#"}`,
		"a circle of two":   `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`,
		"a circle in anyOf": `{"properties":{"x":{"anyOf":[{"$ref":"#/properties/x"},{"type":"string"}]}}}`,
		"all of itself":     `{"allOf":[{"allOf":[{"$ref":"#/allOf/0"}]}]}`,
	}
}

func TestFormIsBounded(t *testing.T) {
	for name, schema := range hostile() {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			form := Form(value(t, schema))
			if took := time.Since(began); took > 10*time.Second { // nothing comes near it
				t.Errorf("it took %v", took)
			}
			checkForm(t, form)
		})
	}
}

// checkForm checks what holds for all forms.
func checkForm(t *testing.T, form Field) {
	t.Helper()
	encoded, err := json.Marshal(form)
	if err != nil || len(encoded) > 16<<20 {
		t.Errorf("the form has %d bytes, %v", len(encoded), err)
	}
	count := 0
	var visit func(f *Field, depth int)
	visit = func(f *Field, depth int) {
		count++
		if depth > 2*maxFormDepth {
			t.Fatal("it is too deep")
		}
		if (f.Type == FieldChoice || f.Type == FieldConstant) != (f.Values != nil) || f.Labels != nil && len(f.Labels) != len(f.Values) {
			t.Errorf("the values of %+v", f)
		}
		for i := range f.Fields {
			visit(&f.Fields[i], depth+1)
		}
		for i := range f.Alternatives {
			if f.Alternatives[i].Title == "" {
				t.Errorf("an alternative without a title: %+v", f.Alternatives[i])
			}
			visit(&f.Alternatives[i], depth+1)
		}
		if f.Items != nil {
			visit(f.Items, depth+1)
		}
	}
	if visit(&form, 0); count > 2*maxFields {
		t.Errorf("it has %d fields", count)
	}
}

func FuzzForm(f *testing.F) {
	f.Add(everything)
	f.Add(`{"properties":{"a":{"anyOf":[{"type":"string"},{"const":1},{"$ref":"#"}]}},"oneOf":[{"properties":{"b":{"enum":[1,null]}}}]}`)
	for name, schema := range hostile() {
		if strings.HasPrefix(name, "a circle") || name == "all of itself" {
			f.Add(schema)
		}
	}
	f.Fuzz(func(t *testing.T, schema string) {
		parsed, err := wire.ParseValue([]byte(schema))
		if err != nil {
			return
		}
		checkForm(t, Form(parsed))
	})
}
