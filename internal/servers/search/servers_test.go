package search

import "testing"

func TestWhatStandsBeforeASemicolonSaysTheKindOfServer(t *testing.T) {
	documents := []Document{
		{Server: "paint", Name: "draw_map", Description: "Draw a map, for navigation in a picture"},
		{Server: "atlas", ServerDescription: "Maps and navigation", Name: "find_route", Description: "Find a way"},
		{Server: "atlas", ServerDescription: "Maps and navigation", Name: "about", Description: "Terms of use"},
		{Server: "silent", Name: "list_songs", Description: "Music of an artist"},
		{Server: "silent", Name: "list_albums", Description: "Music of an artist"},
		{Server: "silent", Name: "export", Description: "Write a report"},
		{Server: "office", Name: "export", Description: "Write a report"},
	}
	index := New(documents)
	tests := []struct {
		why, query string
		want       int
	}{
		{"the server is of that kind, not the tool", "maps or navigation; find", 1},
		{"what is to be done decides between its tools", "maps or navigation; terms", 2},
		{"a server without a description is what its tools are", "music; write a report", 5},
		{"without a kind the first of equals", "write a report", 5},
		{"and of another kind", "office; write a report", 6},
		{"nothing follows", "draw a map; ", 0},
	}
	for _, test := range tests {
		hits := index.Find(test.query, nil, 1)
		if len(hits) == 0 || hits[0].Index != test.want {
			t.Errorf("%s: %q found %v, not %d", test.why, test.query, hits, test.want)
		}
	}
}

func TestTheRightServerDoesNotFillTheAnswer(t *testing.T) {
	documents := []Document{
		{Server: "atlas", ServerDescription: "Maps, geography, satellites and mountains", Name: "find_route"},
		{Server: "atlas", ServerDescription: "Maps, geography, satellites and mountains", Name: "about"},
		{Server: "other", Name: "find_route"},
		{Server: "more", Name: "mail"},
	}
	index := New(documents)
	hits := index.Find("maps, geography, satellites or mountains; find route", nil, 3)
	if len(hits) < 2 || hits[0].Index != 0 || hits[1].Index != 2 {
		t.Errorf("found %v", hits)
	}
	// Without a tool that fits, those of the right server are better than nothing.
	if hits := index.Find("geography or mountains; zebra", nil, 2); len(hits) != 2 || hits[0].Index+hits[1].Index != 1 {
		t.Errorf("without a tool that fits, found %v", hits)
	}
}

func TestSplitKind(t *testing.T) {
	tests := []struct{ query, kind, needs string }{
		{"maps or navigation; find a route", "maps or navigation", "find a route"},
		{"tools for the web; fetch; then save", "tools for the web", "fetch; then save"},
		{"find a route", "", "find a route"},
		{"maps; ", "", "maps; "},
		{"a;b", "", "a;b"},
		{"Node.js or machine learning; run it", "Node.js or machine learning", "run it"},
		{"US stocks or IT; find", "US stocks or IT", "find"},
	}
	for _, test := range tests {
		if kind, needs := splitKind(test.query); kind != test.kind || needs != test.needs {
			t.Errorf("%q is split into %q and %q", test.query, kind, needs)
		}
	}
}
