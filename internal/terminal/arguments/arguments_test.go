package arguments

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const everything = `{"type":"object","properties":{
	"text":{"type":"string"},
	"count":{"type":"integer","minimum":1,"maximum":10},
	"ratio":{"type":"number"},
	"on":{"type":"boolean"},
	"mode":{"enum":["fast","slow",3]},
	"tags":{"type":"array","items":{"type":"string"},"maxItems":3},
	"sizes":{"type":"array","items":{"type":"integer"}},
	"either":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]},
	"maybe":{"type":["string","null"]},
	"any":{},
	"where":{"type":"object","properties":{"city":{"type":"string"},"zip":{"type":"integer"}},"required":["city"],"additionalProperties":false},
	"dotted.name":{"type":"integer"},
	"kept":{"$ref":"#/$defs/Kept"}
},"$defs":{"Kept":{"type":"boolean"}},"additionalProperties":false}`

func value(t *testing.T, text string) wire.Payload {
	t.Helper()
	parsed, err := wire.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestParse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "arguments.json")
	if err := os.WriteFile(file, []byte("\xef\xbb\xbf{\n  \"text\": \"from file\",\n  \"count\": 3\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		words []string
		want  string
	}{
		{"nothing", nil, `{}`},
		{"an object as it is", []string{`{"z": 1, "a": 12345678901234567890.10}`}, `{"z":1,"a":12345678901234567890.10}`},
		{"a text that looks like a number", []string{"text=5"}, `{"text":"5"}`},
		{"an empty text", []string{"text="}, `{"text":""}`},
		{"a text with an equals sign", []string{"text=a=b"}, `{"text":"a=b"}`},
		{"a text with quotes", []string{`text="a"`}, `{"text":"\"a\""}`},
		{"numbers and truth", []string{"count=5", "ratio=1.50", "on=true"}, `{"count":5,"ratio":1.50,"on":true}`},
		{"an enum of several types", []string{"mode=fast"}, `{"mode":"fast"}`},
		{"a number of an enum", []string{"mode=3"}, `{"mode":3}`},
		{"one value of a list", []string{"tags=a"}, `{"tags":["a"]}`},
		{"values of a list", []string{"tags=a", "text=x", "tags=b", "tags=3"}, `{"tags":["a","b","3"],"text":"x"}`},
		{"numbers of a list", []string{"sizes=1", "sizes=2"}, `{"sizes":[1,2]}`},
		{"a list as JSON", []string{`tags=["a", "b"]`}, `{"tags":["a","b"]}`},
		{"a text where a list is also taken", []string{"either=a"}, `{"either":"a"}`},
		{"both where a list is also taken", []string{"either=a", "either=b"}, `{"either":["a","b"]}`},
		{"null where it is taken", []string{"maybe=null"}, `{"maybe":null}`},
		{"any type", []string{"any=5"}, `{"any":5}`},
		{"any type, as text", []string{"any=five"}, `{"any":"five"}`},
		{"raw JSON", []string{`any:={"a": [1]}`}, `{"any":{"a":[1]}}`},
		{"raw JSON of a text", []string{`text:="x"`}, `{"text":"x"}`},
		{"nested", []string{"where.city=Bern", "where.zip=3000"}, `{"where":{"city":"Bern","zip":3000}}`},
		{"nested into an object", []string{`{"where":{"zip":1,"x":2}}`, "where.zip=3000"}, `{"where":{"zip":3000,"x":2}}`},
		{"a name with a dot", []string{"dotted.name=4"}, `{"dotted.name":4}`},
		{"a reference", []string{"kept=true"}, `{"kept":true}`},
		{"a file", []string{"@" + file}, `{"text":"from file","count":3}`},
		{"a file, and a word that wins", []string{"@" + file, "count=9"}, `{"text":"from file","count":9}`},
		{"stdin", []string{"-"}, `{"text":"from stdin"}`},
		{"not named", []string{"other=true"}, `{"other":true}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(test.words, value(t, everything), strings.NewReader(`{"text": "from stdin"}`))
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct {
		words []string
		want  string
	}{
		{[]string{"word"}, "'word' is no argument"},
		{[]string{"=x"}, "'=x' is no argument"},
		{[]string{"count=many"}, "Parameter 'count' takes a whole number, not 'many'"},
		{[]string{"on=yes"}, "Parameter 'on' takes true or false, not 'yes'"},
		{[]string{"sizes=1", "sizes=big"}, "Parameter 'sizes' takes a list of a whole number, not 'big'"},
		{[]string{"text=a", "text=b"}, "'text' is given more than once"},
		{[]string{"text:=a"}, "The value of 'text' cannot be read as JSON: a"},
		{[]string{"text=a", "text.b=c"}, "'text.b' cannot be set: 'text' has a value that is not an object"},
		{[]string{`{"a":`}, "The arguments cannot be read as JSON"},
		{[]string{"-"}, "The content of stdin: an object is expected, not an array"},
		{[]string{"@/nowhere/at/all"}, "/nowhere/at/all"},
	} {
		got, err := Parse(test.words, value(t, everything), strings.NewReader("[]"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %s, %v; want %s", test.words, got, err, test.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, schema, arguments string
		problems, notes         string
	}{
		{"all is well", everything, `{"text":"x","count":10,"on":true,"mode":3.0,"where":{"city":"x"},"maybe":null}`, "", ""},
		{"missing", `{"required":["path"],"properties":{"path":{"type":"string"}}}`, `{}`, "Parameter 'path' is missing: it takes a text", ""},
		{"wrong type", everything, `{"text":5}`, "Parameter 'text' takes a text, not a number", ""},
		{"no whole number", everything, `{"count":1.5}`, "Parameter 'count' takes a whole number, not 1.5", ""},
		{"a whole number in another form", everything, `{"count":1.0e0}`, "", ""},
		{"too much", everything, `{"count":11}`, "Parameter 'count' is at most 10, not 11", ""},
		{"none of the values", everything, `{"mode":"medium"}`, `Parameter 'mode' takes one of "fast", "slow", 3, not "medium"`, ""},
		{"unknown, refused", everything, `{"txet":"x"}`, "The tool has no parameter 'txet'; did you mean 'text'?", ""},
		{"unknown, permitted", `{"properties":{"path":{}}}`, `{"paht":1}`, "", "The tool names no parameter 'paht'; did you mean 'path'?"},
		{"unknown, expected", `{"properties":{"path":{}},"additionalProperties":{"type":"integer"}}`, `{"x":1}`, "", ""},
		{"inside of an object", everything, `{"where":{"zip":1}}`, "Parameter 'where.city' is missing: it takes a text", ""},
		{"inside of a list", everything, `{"tags":["a",2]}`, "Parameter 'tags[1]' takes a text, not a number", ""},
		{"too many", everything, `{"tags":["a","b","c","d"]}`, "Parameter 'tags' takes at most 3 values, not 4", ""},
		{"a percent sign", `{"properties":{"100%d":{"type":"string"}}}`, `{"100%d":1}`, "Parameter '100%d' takes a text, not a number", ""},
		{"one of several forms", `{"properties":{"a":{}},"oneOf":[{"properties":{"k":{"const":"x"}}},{"properties":{"k":{"const":"y"}}}]}`, `{"k":"y"}`, "", ""},
		{"what only the whole schema says", `{"properties":{"a":{"type":"string","pattern":"^x"}}}`, `{"a":"y"}`, "The arguments do not fit the tool's schema", ""},
		{"a schema that cannot be used", `{"$ref":"https://example.com/schema"}`, `{"a":"y"}`, "", ""},
		{"a schema of an unknown draft", `{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object"}`, `{"a":"y"}`, "", ""},
		{"a circle", `{"$ref":"#"}`, `{"a":"y"}`, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			problems, notes := Check([]byte(test.arguments), value(t, test.schema))
			if got := strings.Join(problems, "\n"); !strings.HasPrefix(got, test.problems) || (test.problems == "") != (got == "") {
				t.Errorf("problems: %s\nwant: %s", got, test.problems)
			}
			if got := strings.Join(notes, "\n"); got != test.notes {
				t.Errorf("notes: %s\nwant: %s", got, test.notes)
			}
		})
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	problems, _ := Check([]byte(`{"sizes":[`+strings.Repeat(`"x",`, 29)+`"x"]}`), value(t, everything))
	if len(problems) != maxProblems+1 || problems[maxProblems] != "and 10 more problems" {
		t.Errorf("%d problems: %s", len(problems), problems[len(problems)-1])
	}
}

func TestIsAffordable(t *testing.T) {
	doubling := `{"$ref":"#/$defs/d0","$defs":{`
	for i := range 40 {
		doubling += fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	doubling += `"d40":{}}}`
	for _, test := range []struct {
		name, schema string
		want         bool
	}{
		{"the usual", everything, true},
		{"a tree", `{"properties":{"child":{"$ref":"#"},"name":{"type":"string"}}}`, true},
		{"a member of a list", `{"anyOf":[{"type":"object"},{"$ref":"#/anyOf/0"}]}`, true},
		{"a property with the name of a keyword", `{"properties":{"$id":{"type":"string"},"not":{"type":"string"}}}`, true},
		{"a circle", `{"$ref":"#"}`, false},
		{"a circle further down", `{"properties":{"a":{"allOf":[{"$ref":"#/properties/a"}]}}}`, false},
		{"a circle of two", `{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#/$defs/b"}},"b":{"if":{"$ref":"#/$defs/a"}}}}`, false},
		{"a circle by another root", `{"properties":{"a":{"$id":"other","$ref":"#/$defs/x","$defs":{"x":{"$ref":"#"}}}}}`, false},
		{"doubling", doubling, false},
		{"another document", `{"$ref":"https://example.com/x"}`, false},
		{"too deep", strings.Repeat(`{"not":`, 200) + "{}" + strings.Repeat("}", 200), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			parsed := value(t, test.schema)
			if got := isAffordable(parsed, 10); got != test.want {
				t.Errorf("got %t", got)
			}
			Check([]byte(`{"a":1}`), parsed) // and it returns
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("where.city=Bern", "tags=a", everything)
	f.Add(`{"a":{"b":1}}`, "a.b:=[1]", `{"$ref":"#/$defs/a"}`)
	f.Fuzz(func(t *testing.T, first, second, inputSchema string) {
		if strings.HasPrefix(first, "@") || strings.HasPrefix(second, "@") {
			return // files are not for a fuzzer
		}
		parsed, err := wire.ParseValue([]byte(inputSchema))
		if err != nil {
			return
		}
		made, err := Parse([]string{first, second}, parsed, strings.NewReader("{}"))
		if err != nil {
			return
		}
		object, err := wire.ParseValue(made)
		if err != nil || object.Kind() != "object" || strings.Contains(string(made), "\n") {
			t.Fatalf("%q is no object on one line: %v", made, err)
		}
		Check(made, parsed)
	})
}
