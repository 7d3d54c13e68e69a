package protocol

import (
	"slices"
	"testing"
)

func TestRevisions(t *testing.T) {
	for _, test := range []struct {
		revision   Revision
		known      bool
		hasBatches bool
	}{
		{"2025-11-25", true, false},
		{"2025-06-18", true, false},
		{"2025-03-26", true, true},
		{"2024-11-05", true, true},
		{"2026-07-28", false, false},
		{"2024-10-07", false, false},
		{"", false, false},
		{"latest", false, false},
	} {
		if test.revision.Known() != test.known || test.revision.HasBatches() != test.hasBatches {
			t.Errorf("%q: known %t, batches %t", test.revision, test.revision.Known(), test.revision.HasBatches())
		}
	}
}

func TestRevisionsAreNewestFirst(t *testing.T) {
	all := Revisions()
	if !slices.IsSortedFunc(all, func(a, b Revision) int { return -compare(a, b) }) || len(all) != 4 {
		t.Errorf("revisions %v", all)
	}
	if Newest() != all[0] {
		t.Errorf("the newest is %s, want %s", Newest(), all[0])
	}
	all[0] = "changed"
	if Revisions()[0] == "changed" || Newest() == "changed" {
		t.Error("a caller can change the list")
	}
}

// compare compares dates, which sort as text.
func compare(a, b Revision) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestClientMustAct(t *testing.T) {
	for code, want := range map[int]bool{
		-32042: true, -32020: true, -32021: true, -32022: true,
		CodeParseError: false, CodeInvalidRequest: false, CodeMethodNotFound: false, CodeInvalidParams: false, CodeInternalError: false,
		0: false, 1: false, -32000: false, -32023: false,
	} {
		if got := ClientMustAct(code); got != want {
			t.Errorf("%d: %t, want %t", code, got, want)
		}
	}
}
