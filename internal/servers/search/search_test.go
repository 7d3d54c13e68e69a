package search

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// catalog is a small one of many subjects.
func catalog() []Document {
	tool := func(server, name, description, schema string) Document {
		return Document{Toolbox: "all", Server: server, Name: name, Description: description, Schema: wire.Raw([]byte(schema))}
	}
	return []Document{
		tool("filesystem", "read_file", "Read the complete contents of a file.", `{"properties":{"path":{"type":"string"},"head":{"type":"number"}}}`),
		tool("filesystem", "write_file", "Create a new file or overwrite an existing one.", `{"properties":{"path":{"type":"string"},"content":{"type":"string"}}}`),
		tool("filesystem", "list_directory", "List what is in a folder.", `{}`),
		tool("GitHub", "create_issue", "Open a new issue in a repository.", `{"properties":{"labels":{"type":"array","items":{"description":"such as triage"}}}}`),
		tool("GitHub", "search_code", "Search for code across repositories.", ``),
		tool("yt", "you_tube_transcript", "Get what is said in a video.", ``),
		tool("meteo", "getForecast", "Temperature and precipitation for the next days.", `{"properties":{"units":{"enum":["celsius","fahrenheit"]}}}`),
		tool("mailer", "send-email", "Send an email to one or more people.", ``),
		tool("kb", "搜索笔记", "在知识库中搜索笔记", ``),
	}
}

func TestFind(t *testing.T) {
	documents := catalog()
	index := New(documents)
	tests := []struct{ why, query, want string }{
		{"a name as it is", "read_file", "read_file"},
		{"words of a name", "read a file", "read_file"},
		{"other endings", "reading files", "read_file"},
		{"case within a name", "get forecast", "getForecast"},
		{"the server's name", "something on github about code", "search_code"},
		{"the parts of a name", "git hub code", "search_code"},
		{"a parameter's name", "units", "getForecast"},
		{"a nested description", "triage", "create_issue"},
		{"a value of an enum", "fahrenheit", "getForecast"},
		{"a synonym", "mail somebody", "send-email"},
		{"a word of the subject", "do I need an umbrella?", "getForecast"},
		{"a word that only a synonym stands for", "dir", "list_directory"},
		{"a typo", "emial", "send-email"},
		{"letters in the wrong order", "temperatrue", "getForecast"},
		{"two typos in a long word", "precipitaton precipetatoin", "getForecast"},
		{"a script without spaces", "笔记", "搜索笔记"},
		{"several pairs of such a script", "在知识库中搜索笔记", "搜索笔记"},
		{"a word that only its translation stands for", "my notes", "搜索笔记"},
		{"a word in another language than the tool's", "邮件", "send-email"},
		{"a thing for what it belongs to", "will there be a thunderstorm?", "getForecast"},
		{"capitals", "SEND EMAIL", "send-email"},
		{"words that only ask", "could you please help me to send an email", "send-email"},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			hits := index.Find(test.query, nil, 3)
			if len(hits) == 0 {
				t.Fatalf("%q found nothing", test.query)
			}
			if got := documents[hits[0].Index].Name; got != test.want {
				t.Errorf("%q found %s first, not %s", test.query, got, test.want)
			}
		})
	}
}

func TestEveryStepFindsItsTool(t *testing.T) {
	documents := catalog()
	// write_file has more of the words than send-email, but fits no step best.
	hits := New(documents).Find("Read the complete content of the file with that path, then mail it.", nil, 2)
	for i, want := range []string{"read_file", "send-email"} {
		if got := documents[hits[i].Index].Name; got != want {
			t.Errorf("hit %d is %s, not %s", i, got, want)
		}
	}
}

func TestTheEndOfALongQueryIsNotLookedAt(t *testing.T) {
	index := New(catalog())
	for _, filling := range []string{strings.Repeat("? ", maxQuery), strings.Repeat("zq ", maxQueryWords)} {
		if hits := index.Find(filling+"email", nil, 1); len(hits) != 0 {
			t.Errorf("found %v behind %d bytes", hits, len(filling))
		}
	}
}

func TestQuotedWordsCountLess(t *testing.T) {
	documents := catalog()
	hits := New(documents).Find(`create an issue called "email"`, nil, 1)
	if got := documents[hits[0].Index].Name; got != "create_issue" {
		t.Errorf("an argument found %s", got)
	}
}

func TestFilterAndLimit(t *testing.T) {
	documents := catalog()
	index := New(documents)
	all := index.Find("file", nil, 100)
	if len(all) < 2 {
		t.Fatalf("too few hits to test with: %v", all)
	}
	for limit := range len(all) + 1 {
		if got := index.Find("file", nil, limit); !reflect.DeepEqual(got, append([]Hit(nil), all[:limit]...)) {
			t.Errorf("the first %d are %v, of all %v", limit, got, all)
		}
	}
	if got := index.Find("file", nil, -1); len(got) != 0 {
		t.Errorf("a negative limit gave %v", got)
	}
	without := index.Find("file", func(i int) bool { return i != all[0].Index }, 1)
	if len(without) != 1 || without[0] != all[1] {
		t.Errorf("without the first hit the next is %v, not %v", without, all[1])
	}
}

func TestEqualScoresKeepTheOrderOfTheDocuments(t *testing.T) {
	documents := make([]Document, 20)
	for i := range documents {
		documents[i] = Document{Name: "same", Server: "s"}
	}
	for i, hit := range New(documents).Find("same", nil, 10) {
		if hit.Index != i {
			t.Fatalf("hit %d is document %d", i, hit.Index)
		}
	}
}

func TestTheSameQueryHasTheSameAnswer(t *testing.T) {
	query := "search code, then write a file with the forecst and email it to the team"
	first := New(catalog()).Find(query, nil, 9)
	for range 20 {
		if again := New(catalog()).Find(query, nil, 9); !reflect.DeepEqual(first, again) {
			t.Fatalf("%v and %v", first, again)
		}
	}
}

func TestNothingFound(t *testing.T) {
	for _, index := range []*Index{New(nil), New([]Document{{}}), New(catalog())} {
		for _, query := range []string{"", "   ", "?!", "zzzzzz, yyyyyy", "zzzzzz", strings.Repeat("x", 1000)} {
			if hits := index.Find(query, nil, 5); len(hits) != 0 {
				t.Errorf("%.20q found %v", query, hits)
			}
		}
	}
}

func TestAHugeDocumentIsReadInPart(t *testing.T) {
	var schema strings.Builder
	schema.WriteString(`{"properties":{`)
	for i := range 20_000 {
		fmt.Fprintf(&schema, `"parameter%d":{"description":"word%d"},`, i, i)
	}
	schema.WriteString(`"z":{}}}`)
	index := New([]Document{{Name: "big", Description: strings.Repeat("long ", 1<<20), Schema: wire.Raw([]byte(schema.String()))}})
	if len(index.terms) > 10_000 {
		t.Errorf("%d terms of one tool", len(index.terms))
	}
	if len(index.Find("word7", nil, 1)) == 0 {
		t.Error("the beginning of the schema is not found")
	}
}

func FuzzFind(f *testing.F) {
	for _, query := range []string{"read a file", "don't \"quote", "GetHTMLPage2", "笔记ab", "知识库 and 笔记本", "\xff\xfe x", "a,b. c; d then e", strings.Repeat("ab cd. ", 2000)} {
		f.Add(query, query)
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		documents := append(catalog(), Document{Name: text, Description: text, Server: text})
		index := New(documents)
		hits := index.Find(query, nil, 5)
		for i, hit := range hits {
			if hit.Index < 0 || hit.Index >= len(documents) || !(hit.Score > 0) {
				t.Fatalf("hit %v", hit)
			}
			if i > 0 && hit.Score > hits[i-1].Score {
				t.Fatalf("out of order: %v", hits)
			}
		}
	})
}

// BenchmarkNew and BenchmarkFind use as many tools as a large installation may have.
func BenchmarkNew(b *testing.B) {
	documents := many(10_000)
	for b.Loop() {
		New(documents)
	}
}

func BenchmarkFind(b *testing.B) {
	index := New(many(10_000))
	for _, query := range []string{
		"read a file",
		"Find recent files about word17 and word230, create an issue in the repository and then email the team a summary of word99",
	} {
		b.Run(fmt.Sprintf("%d bytes", len(query)), func(b *testing.B) {
			for b.Loop() {
				index.Find(query, nil, 5)
			}
		})
	}
}

// many makes tools with texts of the usual length. Like in a language, a few words are in
// most of them and most words in a few.
func many(count int) []Document {
	seeds := catalog()
	documents := make([]Document, count)
	for i := range documents {
		d := seeds[i%len(seeds)]
		prose := func(words int) string {
			var text strings.Builder
			for j := range words {
				n := (i*7919 + j*104729) % 100_003
				fmt.Fprintf(&text, "word%d ", n*n/100_003*n/100_003/5)
			}
			return text.String()
		}
		d.Server = fmt.Sprintf("%s %d", d.Server, i/10)
		d.ServerDescription = prose(30)
		d.Description += prose(30)
		d.Schema = wire.Raw([]byte(`{"properties":{"first":{"description":"` + prose(15) + `"},"second":{"description":"` + prose(15) + `"}}}`))
		documents[i] = d
	}
	return documents
}
