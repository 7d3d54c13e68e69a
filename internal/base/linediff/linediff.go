// Package linediff compares texts line by line: it makes unified diffs for people, and three-way merges.
package linediff

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Unified returns the unified diff of a file, "" if nothing changes. A file that does not exist before or after the
// change is nil. The caller masks secrets.
func Unified(name string, before, after []byte) string {
	from, to := name, name
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	diff, err := udiff.ToUnified(from, to, string(before), edits(before, after), udiff.DefaultContextLines)
	if err != nil {
		panic(err) // edits that do not fit the text they are of
	}
	return strings.ReplaceAll(diff, "\r\n", "\n")
}

// Merge applies to now what changed from base to changed. ok is false where the two changes of base touch each other.
func Merge(base, changed, now []byte) (merged []byte, ok bool) {
	all := slices.Concat(edits(base, changed), edits(base, now))
	udiff.SortEdits(all)
	for i := 1; i < len(all); i++ {
		if all[i].Start <= all[i-1].End { // adjacent lines may belong together
			return nil, false
		}
	}
	merged, err := udiff.ApplyBytes(base, all)
	return merged, err == nil
}

// edits returns the edits of whole lines from one text to the other. Where a block of lines could have been inserted or
// deleted at several places, it is the last one: of JSON, that is a member with its own closing brace.
func edits(before, after []byte) []udiff.Edit {
	text := string(before)
	edits := udiff.Lines(text, string(after))
	end := len(text) // of the lines that a block can pass
	for i := len(edits) - 1; i >= 0; i-- {
		edits[i] = slideDown(text, edits[i], end)
		end = edits[i].Start
	}
	return edits
}

// slideDown moves an insertion or a deletion down over lines that are the same as its first, up to end.
func slideDown(text string, edit udiff.Edit, end int) udiff.Edit {
	for edit.New == "" || edit.Start == edit.End {
		line, _, ended := strings.Cut(text[edit.End:end], "\n")
		line += "\n"
		if block := text[edit.Start:edit.End] + edit.New; !ended || !strings.HasPrefix(block, line) {
			break
		}
		edit.Start += len(line)
		edit.End += len(line)
		if edit.New != "" {
			edit.New = edit.New[len(line):] + line
		}
	}
	return edit
}
