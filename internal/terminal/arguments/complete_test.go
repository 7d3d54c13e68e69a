package arguments

import (
	"strings"
	"testing"
)

const completed = `{"type":"object","properties":{
	"text":{"type":"string","description":"What to say"},
	"count":{"type":"integer"},
	"on":{"type":"boolean"},
	"mode":{"$ref":"#/$defs/Mode"},
	"level":{"oneOf":[{"const":1,"title":"Low"},{"const":2,"title":"High"}]},
	"tags":{"type":"array","items":{"enum":["go","mcp"]}},
	"where":{"type":["object","null"],"properties":{"city":{"type":"string"},"unit":{"enum":["metric","imperial"]}},"required":["unit"]},
	"extra":{"type":"object"},
	"dotted.name":{"type":"boolean"},
	"a=b":{}
},"required":["mode","text"],"$defs":{"Mode":{"enum":["fast","slow",3],"title":"Mode"}}}`

func TestComplete(t *testing.T) {
	tests := []struct {
		before, begun string
		want          string // words, those that go on with a +
	}{
		{"", "", "text=+ mode=+ count=+ on=+ level=+ tags=+ where.+ extra:=+ dotted.name=+"},
		{"", "t", "text=+ tags=+"},
		{"", "nothing", ""},
		{"text=a count:=1 on=true level=1 where.city=x", "", "mode=+ tags=+ where.+ extra:=+ dotted.name=+"},
		{`{"text":1,"mode":2,"where":{}} tags=go @file`, "", "count=+ on=+ level=+ tags=+ extra:=+ dotted.name=+"},
		{"{broken -", "te", "text=+"},
		{"", "mode=", "mode=fast mode=slow mode=3"},
		{"", "mode=s", "mode=slow"},
		{"", "level=", "level=1 level=2"},
		{"", "on=", "on=true on=false"},
		{"tags=go", "tags=", "tags=go tags=mcp"},
		{"", "text=", ""},
		{"", "extra:=", ""},
		{"", "unknown=", ""},
		{"", "where", "where.+"},
		{"", "where.", "where.unit=+ where.city=+"},
		{"where.unit=metric", "where.", "where.city=+"},
		{"", "where.unit=i", "where.unit=imperial"},
		{"", "dotted.", "dotted.name=+"},
		{"", "dotted.name=t", "dotted.name=true"},
		{"", "text.more", ""},
	}
	for _, test := range tests {
		t.Run(test.before+" "+test.begun, func(t *testing.T) {
			var got []string
			for _, suggestion := range Complete(strings.Fields(test.before), test.begun, value(t, completed)) {
				word := suggestion.Word
				if suggestion.Partial {
					word += "+"
				}
				got = append(got, word)
			}
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestCompleteDescribes(t *testing.T) {
	for begun, want := range map[string]string{
		"te":       "(required) What to say",
		"cou":      "a whole number",
		"mode":     "(required) Mode",
		"level=2":  "High",
		"mode=f":   "",
		"where.ci": "a text",
	} {
		if got := Complete(nil, begun, value(t, completed)); len(got) != 1 || got[0].Description != want {
			t.Errorf("%s: got %v, want %q", begun, got, want)
		}
	}
}

// A schema that refers to itself, or is none, ends.
func TestCompleteOddSchemas(t *testing.T) {
	for _, text := range []string{
		`{"$ref":"#"}`, `{"properties":{"a":{"$ref":"#"}}}`, `true`, `null`, `[]`,
		`{"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"}]}},"required":7}`,
	} {
		for _, begun := range []string{"", "a", "a.a.a.", "a=", "="} {
			Complete([]string{"a=1", "="}, begun, value(t, text))
		}
	}
}
