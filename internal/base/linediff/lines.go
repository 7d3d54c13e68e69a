package linediff

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Op says what becomes of a line.
type Op byte

// The operations.
const (
	Same    Op = ' '
	Removed Op = '-'
	Added   Op = '+'
	Skipped Op = '@' // lines that are the same are left out here; Count says how many
)

// Line is one line of a diff.
type Line struct {
	Op    Op
	Text  string // without its end
	Count int    // of Skipped
}

// Lines returns the diff of two texts with some lines of context around each change.
func Lines(before, after []byte) (lines []Line) {
	unified, err := udiff.ToUnifiedDiff("", "", string(before), edits(before, after), udiff.DefaultContextLines)
	if err != nil {
		panic(err) // the edits do not fit their own text
	}
	at, total := 1, strings.Count(string(before), "\n")
	for _, hunk := range unified.Hunks {
		if n := hunk.FromLine - at; n > 0 {
			lines = append(lines, Line{Op: Skipped, Count: n})
		}
		at = max(at, hunk.FromLine)
		for _, line := range hunk.Lines {
			next := Line{Op: Same, Text: strings.TrimSuffix(line.Content, "\n")}
			switch line.Kind {
			case udiff.Delete:
				next.Op = Removed
			case udiff.Insert:
				next.Op = Added
			}
			if next.Op != Added {
				at++
			}
			lines = append(lines, next)
		}
	}
	if n := total - at + 1; n > 0 {
		lines = append(lines, Line{Op: Skipped, Count: n})
	}
	return lines
}
