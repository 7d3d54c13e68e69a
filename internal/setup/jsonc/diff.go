package jsonc

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	diffContext = 3    // lines around a change
	maxChanges  = 1000 // beyond them, the difference is shown as one
)

// Diff shows what changes, as a unified diff; "" if nothing does. A file that is not there
// before or after is nil. What must not be seen has to be masked by the caller.
func Diff(name string, before, after []byte) string {
	steps := compare(splitLines(before), splitLines(after))
	if !slices.ContainsFunc(steps, func(s step) bool { return s.kind != ' ' }) {
		return ""
	}
	from, to := name, name
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", from, to)
	for len(steps) > 0 {
		var hunk []step
		hunk, steps = nextHunk(steps)
		writeHunk(&out, hunk)
	}
	return out.String()
}

// step is a line that stays, goes or comes: ' ', '-' or '+'.
type step struct {
	kind     byte
	was, now int // lines before it, in each of the texts
	text     string
}

// splitLines keeps line ends, since a difference may be in them.
func splitLines(text []byte) []string {
	return slices.Collect(strings.Lines(string(text)))
}

// compare returns the steps from one text to the other.
func compare(was, now []string) []step {
	start := 0
	for start < min(len(was), len(now)) && was[start] == now[start] {
		start++
	}
	end := 0
	for end < min(len(was), len(now))-start && was[len(was)-1-end] == now[len(now)-1-end] {
		end++
	}
	kinds := slices.Repeat([]byte{' '}, start)
	kinds = append(kinds, shortest(was[start:len(was)-end], now[start:len(now)-end])...)
	kinds = append(kinds, slices.Repeat([]byte{' '}, end)...)
	steps := make([]step, 0, len(kinds))
	x, y := 0, 0
	for _, kind := range kinds {
		s := step{kind: kind, was: x, now: y}
		if kind != '+' {
			s.text = was[x]
			x++
		}
		if kind != '-' {
			s.text = now[y]
			y++
		}
		steps = append(steps, s)
	}
	return steps
}

// shortest finds the fewest changes, as Myers described it in 1986: reach[k] is how far one
// gets in the old text with as many changes as there were rounds, where k is the number of
// lines that went less those that came.
func shortest(was, now []string) []byte {
	everything := append(slices.Repeat([]byte{'-'}, len(was)), slices.Repeat([]byte{'+'}, len(now))...)
	limit := min(len(was)+len(now), maxChanges)
	reach := map[int]int{1: 0}
	var rounds []map[int]int
	for changes := 0; changes <= limit; changes++ {
		rounds = append(rounds, maps.Clone(reach))
		for k := -changes; k <= changes; k += 2 {
			x := reach[k-1] + 1
			if comes(reach, k, changes) {
				x = reach[k+1]
			}
			for x < len(was) && x-k < len(now) && was[x] == now[x-k] {
				x++
			}
			reach[k] = x
			if x >= len(was) && x-k >= len(now) {
				return trace(rounds, len(was), len(now))
			}
		}
	}
	return everything
}

// comes reports that the best way to a diagonal is by a line that comes, not one that goes.
func comes(reach map[int]int, k, changes int) bool {
	return k == -changes || k != changes && reach[k-1] < reach[k+1]
}

// trace walks the rounds back from the end of both texts.
func trace(rounds []map[int]int, x, y int) []byte {
	var kinds []byte
	for changes := len(rounds) - 1; changes >= 0; changes-- {
		reach := rounds[changes]
		k := x - y
		kind, from := byte('-'), k-1
		if comes(reach, k, changes) {
			kind, from = '+', k+1
		}
		startX := reach[from]
		startY := startX - from
		for x > startX && y > startY {
			kinds = append(kinds, ' ')
			x--
			y--
		}
		if changes > 0 {
			kinds = append(kinds, kind)
		}
		x, y = startX, startY
	}
	slices.Reverse(kinds)
	return kinds
}

// nextHunk cuts off the next change with the lines around it; changes that are close stay
// together.
func nextHunk(steps []step) (hunk, rest []step) {
	isChange := func(s step) bool { return s.kind != ' ' }
	first := slices.IndexFunc(steps, isChange)
	if first < 0 {
		return nil, nil
	}
	last := first
	for i := first; i < len(steps) && i <= last+2*diffContext+1; i++ {
		if isChange(steps[i]) {
			last = i
		}
	}
	end := min(len(steps), last+1+diffContext)
	return steps[max(0, first-diffContext):end], steps[end:]
}

func writeHunk(out *strings.Builder, hunk []step) {
	if len(hunk) == 0 {
		return
	}
	var was, now int
	for _, s := range hunk {
		if s.kind != '+' {
			was++
		}
		if s.kind != '-' {
			now++
		}
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(hunk[0].was, was), span(hunk[0].now, now))
	for _, s := range hunk {
		out.WriteByte(s.kind)
		text, ended := strings.CutSuffix(s.text, "\n")
		out.WriteString(strings.TrimSuffix(text, "\r") + "\n")
		if !ended {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}

// span names lines as diff does: an empty one by the line before it.
func span(before, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", before)
	case 1:
		return fmt.Sprint(before + 1)
	}
	return fmt.Sprintf("%d,%d", before+1, count)
}
