package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	tests := []struct{ text, want string }{
		{"read_file", "read file"},
		{"list-all.files", "list all files"},
		{"readFile", "read file readfile"},
		{"getHTMLPage2", "get html page2 gethtmlpage2"},
		{"GitHub's", "git hub github s"},
		{"HTML", "html"},
		{"web3", "web3"},
		{"知识库", "知识 识库"},
		{"知", "知"},
		{"ab知识cd", "ab 知识 cd ab知识cd"},
		{"Ünïcode", "ünïcode"},
		{"a \xff b", "a b"},
		{"", ""},
		{"-- __", ""},
	}
	for _, test := range tests {
		var got []string
		for _, w := range appendWords(nil, test.text) {
			got = append(got, w.text)
		}
		if !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%q is %q, not %q", test.text, got, test.want)
		}
	}
}

func TestClauses(t *testing.T) {
	tests := []struct {
		query string
		want  int
	}{
		{"", 1},
		{"read a file", 1},
		{"read the file and email the team", 2},
		{"Read the file notes.txt. Send mail to joe@example.com, then create an issue.", 3},
		{`create an issue called "read file. send email"`, 1},
		{"email, files", 2},
		{"email, please", 1},
		{"email + files / issues", 3},
		{"email+files/issues", 1},
		{strings.Repeat("email. file. ", 100), maxClauses},
	}
	for _, test := range tests {
		if got := len(parseQuery(test.query)); got != test.want {
			t.Errorf("%q has %d clauses, not %d", test.query, got, test.want)
		}
	}
}

func TestQuotes(t *testing.T) {
	tests := []struct{ query, want string }{
		{`say "hello there" loud`, "hello there"},
		{`say 'hello there' loud`, "hello there"},
		{"say “hello”, `there` loud", "hello there"},
		{`it's joe's and the dogs' house`, ""},
		{`a 34" screen on a desk`, ""},
		{`"` + strings.Repeat("long ", 30) + `"`, ""},
		{`b "" d "x" f`, "x"},
		{`say "hello" very loud "there"`, "hello there"},
	}
	for _, test := range tests {
		var got []string
		for _, clause := range parseQuery(test.query) {
			for _, w := range clause {
				if plain := weigh(word{text: w.text}, false); w.weight < plain.weight {
					got = append(got, w.text)
				}
			}
		}
		if !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%s: in quotes stand %q, not %q", test.query, got, test.want)
		}
	}
}

func TestWhatStandsForWhat(t *testing.T) {
	tests := []struct {
		word, other string
		want        float64
	}{
		{"delete", "remove", synonymWeight},
		{"umbrella", "forecast", subjectWeight},
		{"news", "新闻", translationWeight},
		{"新闻", "news", translationWeight},
		{"jupiter", "planet", subjectWeight},
		{"planet", "jupiter", 0}, // who asks for a planet does not ask for this one
		{"delete", "delete", 0},
	}
	for _, test := range tests {
		got := 0.0
		for _, r := range knownWords().related[stem(test.word)] {
			if r.stem == stem(test.other) {
				got = r.weight
			}
		}
		if got != test.want {
			t.Errorf("%s stands for %s with %v, not %v", test.other, test.word, got, test.want)
		}
	}
}

func TestWordlistsAreTidy(t *testing.T) {
	for list, hasColons := range map[string]bool{
		"request": false, "common": false, "synonyms": false, "subjects": false, "chinese": true, "kinds": true,
	} {
		for _, sides := range lines(list) {
			if len(sides[0]) == 0 || (len(sides[1]) > 0) != hasColons {
				t.Errorf("%s has the line %q", list, sides)
			}
		}
	}
	for _, sides := range lines("chinese") {
		for _, word := range sides[1] {
			if cut := appendWords(nil, word); len(cut) != 1 || utf8.RuneCountInString(word) != 2 {
				t.Errorf("texts are never cut to %s", word)
			}
		}
	}
}
