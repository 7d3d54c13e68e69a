// Package linediff compares texts line by line: it makes unified diffs for people, and three-way merges.
package linediff

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Unified returns the unified diff of a file, or "" if nothing changes. A nil text means that the file does not exist
// before or after the change. The caller masks secrets.
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
		panic(err) // the edits do not fit their own text
	}
	return renumber(strings.ReplaceAll(diff, "\r\n", "\n"))
}

var hunkHeader = regexp.MustCompile(`(?m)^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$`)

// renumber corrects where hunks begin in the new text: udiff does not count the lines between two edits of one hunk.
func renumber(diff string) string {
	grown := 0 // by how many lines the hunks before it have made the text longer
	return hunkHeader.ReplaceAllStringFunc(diff, func(header string) string {
		match := hunkHeader.FindStringSubmatch(header)
		number := func(at int) int {
			n, err := strconv.Atoi(match[at])
			if err != nil {
				return 1 // a count of one is left out
			}
			return n
		}
		before, after := number(2), number(4)
		if before > 0 && after > 0 { // an empty text has lines from 0 on
			header = strings.Replace(header, "+"+match[3], "+"+strconv.Itoa(number(1)+grown), 1)
		}
		grown += after - before
		return header
	})
}

// Merge applies the change from base to changed to now. ok is false where the two changes of base touch each other.
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

// edits returns the edits of whole lines between two texts. A block that could have been inserted or deleted at several
// places is put at the last one: in JSON, that is a member with its own closing brace.
func edits(before, after []byte) []udiff.Edit {
	text := string(before)
	edits := udiff.Lines(text, string(after))
	end := len(text) // end of the lines that a block can slide over
	for i := len(edits) - 1; i >= 0; i-- {
		edits[i] = slideDown(text, edits[i], end)
		end = edits[i].Start
	}
	return edits
}

// slideDown moves an insertion or a deletion down over lines equal to its first, up to end.
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
