package search

import (
	"math"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestExplain(t *testing.T) {
	documents := append(catalog(), Document{
		Server: "x", Name: "paint", Schema: wire.Raw([]byte(`{"properties":{"hue":{"enum":["zirconium"],"items":{"description":"like vermilion"}}}}`)),
	})
	index := New(documents)
	read := func(i int) Document { return documents[i] }
	for _, test := range []struct {
		query string
		want  Reason // the strongest, whatever its share
	}{
		{"email", Reason{Word: "email", Found: "email", Field: "name", How: SameWord}},
		{"directories", Reason{Word: "directories", Found: "directory", Field: "name", How: SameStem}},
		{"precipitaton", Reason{Word: "precipitaton", Found: "precipitation", Field: "description", How: Misspelling}},
		{"zirconium", Reason{Word: "zirconium", Found: "zirconium", Field: "parameter value", How: SameWord}},
		{"vermilion", Reason{Word: "vermilion", Found: "vermilion", Field: "parameter description", How: SameWord}},
		{"units", Reason{Word: "units", Found: "units", Field: "parameter", How: SameWord}},
		{"dir", Reason{Word: "dir", Found: "directory", Field: "name", How: Synonym}},
		{"邮件", Reason{Word: "邮件", Found: "email", Field: "name", How: Synonym}},
		{"umbrella", Reason{Word: "umbrella", Found: "forecast", Field: "name", How: Related}},
	} {
		hits := index.Find(test.query, nil, 1)
		if len(hits) == 0 {
			t.Errorf("%q found nothing", test.query)
			continue
		}
		reasons := index.Explain(test.query, []int{hits[0].Index}, read)[0]
		if len(reasons) == 0 {
			t.Errorf("%q has no reasons", test.query)
			continue
		}
		got := reasons[0]
		got.Share = 0
		if got != test.want {
			t.Errorf("%q: %+v, want %+v", test.query, reasons, test.want)
		}
	}
}

func TestTheSharesOfReasonsAddUp(t *testing.T) {
	documents := catalog()
	index := New(documents)
	for _, query := range []string{"read a file and send an email", "github; open an issue in a repository", "weather; days", "read_file"} {
		hits := index.Find(query, nil, 5)
		if len(hits) == 0 {
			t.Fatalf("%q found nothing", query)
		}
		found := make([]int, len(hits))
		for i, hit := range hits {
			found[i] = hit.Index
		}
		for i, reasons := range index.Explain(query, found, func(i int) Document { return documents[i] }) {
			sum, before := 0.0, 1.1
			for _, r := range reasons {
				if r.Share > before {
					t.Errorf("%q: the reasons of %s are not in order: %+v", query, documents[found[i]].Name, reasons)
				}
				sum, before = sum+r.Share, r.Share
			}
			if math.Abs(sum-1) > 1e-6 {
				t.Errorf("%q: the shares of %s add up to %v: %+v", query, documents[found[i]].Name, sum, reasons)
			}
		}
	}
}

func TestExplainNamesTheKindOfServer(t *testing.T) {
	documents := []Document{
		{Server: "silent", Name: "list_songs", Description: "Music of an artist"},
		{Server: "silent", Name: "export", Description: "Write a report"},
		{Server: "office", Name: "export", Description: "Write a report"},
	}
	reasons := New(documents).Explain("music; write a report", []int{1}, func(i int) Document { return documents[i] })[0]
	for _, r := range reasons {
		if r.Word == "music" && r.How == ByServer && r.Field == "server" {
			return
		}
	}
	t.Errorf("got %+v", reasons)
}

func TestExplainIsBounded(t *testing.T) {
	documents := many(200)
	index := New(documents)
	for name, query := range oddQueries(index) {
		hits := index.Find(query, nil, 20)
		found := make([]int, len(hits))
		for i, hit := range hits {
			found[i] = hit.Index
		}
		for _, reasons := range index.Explain(query, found, func(i int) Document { return documents[i] }) {
			if len(reasons) == 0 || len(reasons) > maxReasons {
				t.Errorf("%s: %d reasons", name, len(reasons))
			}
		}
	}
}

func BenchmarkExplain(b *testing.B) {
	documents := many(10_000)
	index := New(documents)
	hits := index.Find("read the file of the report", nil, 50)
	found := make([]int, len(hits))
	for i, hit := range hits {
		found[i] = hit.Index
	}
	for b.Loop() {
		index.Explain("read the file of the report", found, func(i int) Document { return documents[i] })
	}
}
