package search

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestTheToolWithTheWholeNameComesFirst(t *testing.T) {
	documents := []Document{
		{Name: "read_file_lines", Description: "Reads"},
		{Name: "read_file", Description: "Reads parts or all of something, line by line if need be"},
		{Name: "zip", Description: "Packs"},
	}
	hits := New(documents).Find("read a file", nil, 2)
	if got := documents[hits[0].Index].Name; got != "read_file" {
		t.Errorf("found %s first", got)
	}
	without := New([]Document{{Server: "file"}, {Name: "x"}}).Find("file", nil, 1)
	if len(without) != 1 || !(without[0].Score > 0) {
		t.Errorf("a tool without a name gave %v", without)
	}
}

func TestOneWordOfAToolDoesNotAnswerSeveralWords(t *testing.T) {
	documents := []Document{{Name: "page"}, {Name: "email"}, {Name: "other"}}
	// A page may stand for two of the words, but it is one thing.
	hits := New(documents).Find("website webpage email", nil, 2)
	if got := documents[hits[0].Index].Name; got != "email" {
		t.Errorf("found %s first", got)
	}
}

func TestAWordOfTheListsIsSpeltRight(t *testing.T) {
	index := New([]Document{{Name: "book"}, {Name: "other"}})
	if hits := index.Find("bock", nil, 1); len(hits) != 1 || hits[0].Index != 0 {
		t.Errorf("a misspelt book found %v", hits)
	}
	if hits := index.Find("boot", nil, 1); len(hits) != 0 {
		t.Errorf("a boot was taken for a book: %v", hits)
	}
}

func TestWordsThatOnlyAskAreLeftOutWhereAllToolsHaveThem(t *testing.T) {
	tests := []struct {
		tools int
		query string
		want  int // words that are looked up
	}{
		{everywhere, "the email for it", 2},
		{10 * everywhere, "the email for it", 1},
		{10 * everywhere, "the, for it", 1}, // else nothing would be found
		{10 * everywhere, "think about email", 2},
	}
	for _, test := range tests {
		documents := make([]Document, test.tools)
		for i := range documents {
			documents[i] = Document{Name: "email", Description: "for"}
		}
		documents[0].Name = "think"
		index := New(documents)
		finder := finder{Index: index, room: maxWork}
		finder.plan(parseQuery(test.query))
		got := 0
		for _, candidates := range finder.words {
			if len(candidates) > 0 {
				got++
			}
		}
		if got != test.want {
			t.Errorf("of %q over %d tools, %d words are looked up, not %d", test.query, test.tools, got, test.want)
		}
	}
}

func TestAWordIsLookedUpOnceInAClause(t *testing.T) {
	index := New(catalog())
	finder := finder{Index: index, room: maxWork}
	got := finder.plan(parseQuery("email email file, email"))
	want := [][]lookup{{{0, true}, {1, true}}, {{0, false}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the plan is %v, not %v", got, want)
	}
}

func TestTheWorkForAQueryIsBounded(t *testing.T) {
	var words []string
	for _, sides := range lines("synonyms") {
		words = append(words, sides[0]...)
	}
	words = words[:150]
	text := strings.Join(words, " ")
	documents := make([]Document, 8_000)
	for i := range documents {
		documents[i] = Document{Name: "same", Description: text}
	}
	index := New(documents)
	finder := finder{Index: index, room: maxWork}
	work := 0
	plan := finder.plan(parseQuery(text + ". " + text))
	for _, lookups := range plan {
		for _, l := range lookups {
			for _, c := range finder.words[l.word] {
				work += len(index.postings[c.term])
			}
		}
	}
	// The last word before each of the two limits goes beyond it.
	if limit := 2*maxWork + 40*len(documents); work > limit {
		t.Errorf("%d entries are looked at, more than %d", work, limit)
	}
	if alone := maxWork / len(documents); len(plan[0]) < alone {
		t.Errorf("only %d words are looked up, but %d could be without words that stand for them", len(plan[0]), alone)
	}
}

// oddQueries are as long as a query may be, and made to cause as much work as possible.
func oddQueries(index *Index) map[string]string {
	var common []string
	for _, list := range index.spellings {
		for _, s := range list {
			if len(index.postings[s.term]) > index.documents/10 {
				common = append(common, s.word)
			}
		}
	}
	var different, related, misspelt strings.Builder
	for _, sides := range lines("synonyms") {
		related.WriteString(strings.Join(sides[0], " ") + " ")
	}
	for i := range 300 {
		fmt.Fprintf(&different, "word%d ", i)
		fmt.Fprintf(&misspelt, "wodr%dx. ", i)
	}
	return map[string]string{
		"common words":          strings.Repeat(strings.Join(common, " ")+" ", 200),
		"common words, clauses": strings.Repeat(strings.Join(common, ". ")+". ", 200),
		"different words":       different.String(),
		"words with synonyms":   related.String(),
		"misspelt words":        "file " + misspelt.String(),
		"one word":              strings.Repeat("file. ", 1000),
	}
}

func BenchmarkFindOdd(b *testing.B) {
	index := New(many(10_000))
	for name, query := range oddQueries(index) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				index.Find(query, nil, 5)
			}
		})
	}
}
