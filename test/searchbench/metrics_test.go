package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMeasure(t *testing.T) {
	one := [][]string{{"a", "b"}}
	two := [][]string{{"a"}, {"b"}}
	tests := []struct {
		why  string
		ids  []string
		gold [][]string
		want metrics
	}{
		{"the first hit", []string{"a", "x"}, one, metrics{1, 1, 1, 1, 1}},
		{"one of several equals", []string{"x", "b", "a"}, one, metrics{0, 1, 1, 0.5, 0.6309}},
		{"both slots", []string{"b", "a"}, two, metrics{0.5, 1, 1, 1, 1}},
		{"one slot of two", []string{"x", "x", "x", "x", "x", "a"}, two, metrics{0, 0, 0.5, 1.0 / 6, 0}},
		{"nothing", nil, two, metrics{}},
		{"one tool for two slots", []string{"a"}, [][]string{{"a"}, {"a"}}, metrics{1, 1, 1, 1, 1}},
	}
	for _, test := range tests {
		got := measure(test.ids, test.gold)
		for _, pair := range [][2]float64{
			{got.recall1, test.want.recall1},
			{got.recall5, test.want.recall5},
			{got.recall10, test.want.recall10},
			{got.reciprocal, test.want.reciprocal},
			{got.gain, test.want.gain},
		} {
			if d := pair[0] - pair[1]; d > 0.001 || d < -0.001 {
				t.Errorf("%s: %+v, not %+v", test.why, got, test.want)
			}
		}
	}
}

func TestTable(t *testing.T) {
	folder := t.TempDir()
	files := map[string]string{
		"servers.jsonl": `{"catalog":"c","server":"files","description":"Files on disk"}`,
		"tools.jsonl": `{"catalog":"c","server":"files","name":"read_file","description":"Reads","inputSchema":{"type":"object"}}
{"catalog":"c","server":"mail","name":"send","description":"Sends an email"}`,
		"queries.jsonl": `{"id":"1","set":"easy","catalog":"c","query":"send an email","gold":[["mail/send"]]}
{"id":"2","set":"hard","catalog":"c","query":"send an email","gold":[["files/read_file"]]}
{"id":"3","set":"none","catalog":"c","query":"fly to the moon","gold":null}`,
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := run(&out, folder, "all", true); err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string)
	for line := range strings.Lines(out.String()) {
		if cells := strings.Fields(line); len(cells) == 7 {
			rows[cells[0]] = strings.Join(cells[1:], " ")
		}
	}
	for set, want := range map[string]string{
		"set":   "R@1 R@5 R@10 MRR nDCG@5 queries",
		"easy":  "1.000 1.000 1.000 1.000 1.000 1",
		"hard":  "0.000 0.000 0.000 0.000 0.000 1",
		"MACRO": "0.500 0.500 0.500 0.500 0.500 2",
	} {
		if rows[set] != want {
			t.Errorf("%s: %q, not %q in\n%s", set, rows[set], want, &out)
		}
	}
	if want := "doubtful: no tool fits=1.00 easy=0.00 hard=0.00"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, &out)
	}
	if _, ok := rows["none"]; ok {
		t.Error("a set without answers has a row")
	}
}

func TestBadFolders(t *testing.T) {
	for _, test := range []struct{ folder, part string }{{"", "all"}, {t.TempDir(), "all"}, {t.TempDir(), "half"}} {
		if err := run(&strings.Builder{}, test.folder, test.part, false); err == nil {
			t.Errorf("no error for folder '%s' and part '%s'", test.folder, test.part)
		}
	}
}
