package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRequirementsAreReadFromTheSuitesList(t *testing.T) {
	got := parseRequirements([]byte(`Required for 2025-11-25 (2 scenarios, frozen):

Server scenarios (test against a server):
  - ping

Client scenarios (test against a client):
  - auth/basic

Run and reported, but never scored:
  extension (2):
    - auth/dpop [client]
    - sse [server]
`))
	want := []scenario{{"ping", false, true}, {"auth/basic", true, true}, {"auth/dpop", true, false}, {"sse", false, false}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestResultsAreReadFromFolders(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"ping-2026-11-15T07-29-42-184Z", "auth/basic-2026-11-15T07-29-57-849Z"} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "checks.json"), []byte(`[{"id":"a","status":"SUCCESS"}]`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := readResults(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || len(found["ping"]) != 1 || len(found["auth/basic"]) != 1 {
		t.Errorf("got %v", found)
	}
	if found, err := readResults(filepath.Join(folder, "nothing")); err != nil || len(found) != 0 {
		t.Errorf("a suite that saved nothing: %v, %v", found, err)
	}
}

// example is a report about one server with a scenario of each kind.
func example(through results) *report {
	r := &report{required: map[string][]scenario{legacyRevision: {{"ping", false, true}, {"logging", false, true}, {"extra", false, false}, {"auth/x", true, true}}}}
	server := subject{name: "server", revision: legacyRevision}
	r.add(server, direct, results{
		"ping":    {{ID: "a", Status: "SUCCESS"}, {ID: "b", Status: "SUCCESS"}},
		"logging": {{ID: "c", Status: "FAILURE", Message: "no logging at 127.0.0.1:4711"}},
		"extra":   {{ID: "d", Status: "WARNING"}},
	})
	r.add(server, throughHTTP, through)
	return r
}

func TestThroughIsMeasuredByDirect(t *testing.T) {
	same := results{
		"ping":    {{ID: "a", Status: "SUCCESS"}, {ID: "b", Status: "SUCCESS"}},
		"logging": {{ID: "c", Status: "FAILURE"}},
		"extra":   {{ID: "d", Status: "INFO"}},
	}
	tests := []struct {
		name     string
		scenario string
		checks   []check
		want     string // part of the line; "" if it is no worse
	}{
		{"equal", "ping", same["ping"], ""},
		{"one of two checks fails", "ping", []check{{ID: "a", Status: "SUCCESS"}, {ID: "b", Status: "FAILURE", Message: "lost"}}, "ping: FAIL, and directly pass: `b`: lost"},
		{"a check fails once of twice", "ping", []check{{ID: "a", Status: "FAILURE"}, {ID: "a", Status: "SUCCESS"}}, "`a`"},
		{"a warning", "ping", []check{{ID: "a", Status: "WARNING"}}, "ping: warn"},
		{"a check that was not made directly fails", "ping", []check{{ID: "z", Status: "FAILURE"}}, "`z`"},
		{"another check than directly fails", "logging", []check{{ID: "other", Status: "FAILURE"}}, "`other`"},
		{"a warning becomes a failure", "extra", []check{{ID: "d", Status: "FAILURE"}}, "extra: FAIL, and directly warn"},
		{"it did not run", "ping", nil, "ping: did not run"},
		{"it passes now", "logging", []check{{ID: "c", Status: "SUCCESS"}}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			through := results{}
			for name, checks := range same {
				through[name] = checks
			}
			through[test.scenario] = test.checks
			if test.checks == nil {
				delete(through, test.scenario)
			}
			got := strings.Join(example(through).worseThanDirect(), "\n")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A reason counts for the subject that it is about, and for no other.
func TestReasonsForSingleChecks(t *testing.T) {
	known := meant[0]
	for _, test := range []struct {
		subject, status string
		worse, needless int
	}{
		{known.subjects[0], "WARNING", 0, 0},
		{known.subjects[0], "SUCCESS", 0, 1},
		{"server", "WARNING", 1, 0},
	} {
		r := &report{required: map[string][]scenario{modernRevision: {{"ping", false, true}}}}
		one := subject{name: test.subject, revision: modernRevision}
		r.add(one, direct, results{"ping": {{ID: known.check, Status: "SUCCESS"}}})
		r.add(one, throughHTTP, results{"ping": {{ID: known.check, Status: test.status}}})
		if got := r.worseThanDirect(); len(got) != test.worse {
			t.Errorf("%s, %s: %q is worse", test.subject, test.status, got)
		}
		got := slices.DeleteFunc(r.needless(), func(line string) bool { return !strings.Contains(line, known.check) })
		if len(got) != test.needless {
			t.Errorf("%s, %s: %q is needless", test.subject, test.status, got)
		}
	}
}

func TestTheTableIsReadBack(t *testing.T) {
	good := results{
		"ping":    {{ID: "a", Status: "SUCCESS"}},
		"logging": {{ID: "c", Status: "SUCCESS"}},
		"extra":   {{ID: "d", Status: "INFO"}},
	}
	page := example(good).markdown()
	cells := parseCells(page)
	if want := 3 * 2; len(cells) != want {
		t.Fatalf("%d cells, want %d:\n%s", len(cells), want, page)
	}
	if got := cells[cell{"server", "extra", direct}]; got != warned {
		t.Errorf("extra, directly: %q", got)
	}
	if worse := example(good).worseThan(cells); len(worse) != 0 {
		t.Errorf("worse than itself: %q", worse)
	}
	good["logging"] = []check{{ID: "c", Status: "FAILURE"}}
	if worse := example(good).worseThan(cells); len(worse) != 1 || !strings.Contains(worse[0], "logging: FAIL, and the table that is checked in says pass") {
		t.Errorf("a cell that got worse: %q", worse)
	}
	if strings.Contains(page, "4711") {
		t.Error("the page holds a port, which is another one in every run")
	}
	if worse := example(good).worseThan(nil); len(worse) != 1 {
		t.Errorf("no table: %q", worse)
	}
}
