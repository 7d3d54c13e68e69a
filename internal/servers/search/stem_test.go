package search

import "testing"

func TestStem(t *testing.T) {
	groups := [][]string{
		{"retrieve", "retrieves", "retrieved", "retrieving", "retrieval"},
		{"file", "files", "filed", "filing"},
		{"query", "queries", "querying"},
		{"connect", "connects", "connected", "connection", "connections"},
		{"hop", "hopping", "hopped"},
		{"agree", "agreed"},
		{"create", "creates", "created", "creating"},
	}
	for _, group := range groups {
		for _, word := range group[1:] {
			if stem(word) != stem(group[0]) {
				t.Errorf("%s becomes %s, but %s becomes %s", group[0], stem(group[0]), word, stem(word))
			}
		}
	}
	for _, pair := range [][2]string{
		{"news", "new"},
		{"terminal", "terminate"},
		{"animals", "animation"},
		{"important", "import"},
		{"business", "busy"},
		{"university", "universe"},
		{"community", "communicate"},
		{"conversation", "conversion"},
		{"international", "intern"},
		{"pasted", "past"},
		{"general", "generate"},
		{"authority", "author"},
	} {
		if stem(pair[0]) == stem(pair[1]) {
			t.Errorf("%s and %s both become %s", pair[0], pair[1], stem(pair[0]))
		}
	}
	for _, word := range []string{"", "s", "is", "s3", "b2b", "müll", "笔记", "sing", "red"} {
		if stem(word) != word {
			t.Errorf("%s becomes %s", word, stem(word))
		}
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"file", "file", 0},
		{"file", "fiel", 1},
		{"file", "files", 1},
		{"file", "ile", 1},
		{"file", "fole", 1},
		{"direct", "driect", 1},
		{"abc", "", 3},
		{"kitten", "sitting", 3},
	}
	for _, test := range tests {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("from %q to %q it takes %d changes, not %d", test.a, test.b, got, test.want)
		}
		if got := distance(test.b, test.a); got != test.want {
			t.Errorf("from %q to %q it takes %d changes, not %d", test.b, test.a, got, test.want)
		}
	}
}
