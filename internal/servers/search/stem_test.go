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
	if stem("news") == stem("new") {
		t.Errorf("news and new both become %s", stem("new"))
	}
	for _, word := range []string{"", "s", "is", "s3", "b2b", "müll", "笔记", "sing", "red"} {
		if stem(word) != word {
			t.Errorf("%s becomes %s", word, stem(word))
		}
	}
}
