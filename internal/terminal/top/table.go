package top

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// item is a row of a pane, before it is drawn: only those are that can be seen.
type item struct {
	id    string // the same as long as it is about the same
	bench *bench
	of    any // *server, control.RunningCall, …
}

// column is a column of a pane.
type column struct {
	title string
	width int  // 0: as wide as its longest text, up to what is left
	rank  int  // columns with the highest rank go first where there is no room; 0 never goes
	right bool // numbers
	cell  func(item) tty.Cell
	// compare orders the rows; nil if that makes no sense. Numbers have the largest first.
	compare func(a, b item) int
}

const (
	columnGap    = 2
	narrowest    = 12 // of a column without a width
	markerWidth  = 2
	maxTextWidth = 200 // of a text that is measured and drawn; the rest is in the details
)

// table is the state of a pane: what a person chose there.
type table struct {
	cursor, offset int    // of the rows that pass the filter
	chosen         string // id of the row at the cursor; "": the first one, whatever it is
	filter         string
	sorted         int // column + 1; 0: in its own order
	reversed       bool

	items  []item
	rows   int // that fitted when it was drawn
	widest int // text of the first column so far, so that columns do not come and go with the rows
}

// set replaces the rows. The cursor stays at the row where it is.
func (t *table) set(items []item, columns []column, text func(item) string) {
	if t.filter != "" {
		words := strings.Fields(strings.ToLower(t.filter))
		items = slices.DeleteFunc(items, func(one item) bool {
			have := strings.ToLower(text(one))
			return slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(have, word) })
		})
	}
	if t.sorted > 0 && t.sorted <= len(columns) {
		compare := columns[t.sorted-1].compare
		slices.SortStableFunc(items, func(a, b item) int {
			if t.reversed {
				a, b = b, a
			}
			return compare(a, b)
		})
	} else if t.reversed {
		slices.Reverse(items)
	}
	t.items = items
	if t.chosen != "" {
		if at := slices.IndexFunc(items, func(one item) bool { return one.id == t.chosen }); at >= 0 {
			t.cursor = at
		} else {
			t.chosen = "" // it is gone: the next one is at its place
		}
	}
	t.move(0)
}

// move moves the cursor. At the first row it stays first, whatever comes.
func (t *table) move(by int) {
	t.cursor = max(0, min(t.cursor+by, len(t.items)-1))
	if by != 0 {
		t.chosen = ""
		if t.cursor > 0 {
			t.chosen = t.items[t.cursor].id
		}
	} else if t.chosen == "" && t.cursor > 0 && t.cursor < len(t.items) {
		t.chosen = t.items[t.cursor].id
	}
}

// selected returns the row at the cursor.
func (t *table) selected() (item, bool) {
	if t.cursor >= len(t.items) {
		return item{}, false
	}
	return t.items[t.cursor], true
}

// keep has the cursor stay at its row, also if that is the first one, until a person moves.
func (t *table) keep() {
	if one, ok := t.selected(); ok {
		t.chosen = one.id
	}
}

// sortBy chooses the next column that can be sorted by; after the last one, the rows' own order.
func (t *table) sortBy(columns []column) {
	for t.sorted++; t.sorted <= len(columns); t.sorted++ {
		if columns[t.sorted-1].compare != nil {
			return
		}
	}
	t.sorted = 0
}

// draw returns the header and the rows that can be seen.
func (t *table) draw(columns []column, width, height int, paint painter) []string {
	t.rows = max(height-1, 1)
	t.offset = max(0, min(t.offset, t.cursor, len(t.items)-t.rows))
	if t.cursor >= t.offset+t.rows {
		t.offset = t.cursor - t.rows + 1
	}
	seen := t.items[t.offset:min(t.offset+t.rows, len(t.items))]
	cells := make([][]tty.Cell, len(seen))
	for i, one := range seen {
		cells[i] = make([]tty.Cell, len(columns))
		for n, c := range columns {
			cells[i][n] = c.cell(one)
			cells[i][n].Text = tty.CleanLine(tty.Cut(cells[i][n].Text, 4*maxTextWidth))
		}
		t.widest = max(t.widest, runewidth.StringWidth(cells[i][0].Text))
	}
	widths := layOut(columns, cells, t.widest, width-markerWidth)
	head := make([]tty.Cell, len(columns))
	for n, c := range columns {
		head[n] = tty.Cell{Text: c.title, Style: tty.Faint}
		if t.sorted == n+1 {
			head[n] = tty.Cell{Text: c.title + map[bool]string{false: "↓", true: "↑"}[t.reversed], Style: tty.Strong}
		}
	}
	lines := []string{"  " + drawRow(columns, head, widths, paint)}
	for i, row := range cells {
		if t.offset+i != t.cursor {
			lines = append(lines, "  "+drawRow(columns, row, widths, paint))
			continue
		}
		plain := drawRow(columns, row, widths, func(_ tty.Style, text string) string { return text })
		plain = "> " + plain + strings.Repeat(" ", max(0, width-markerWidth-runewidth.StringWidth(plain)))
		lines = append(lines, paint(reverse, plain))
	}
	return lines
}

// layOut returns the widths of the columns; -1 for those without room. The first column gets half of it, if it needs that.
func layOut(columns []column, cells [][]tty.Cell, widest, room int) []int {
	widths := make([]int, len(columns))
	for n, c := range columns {
		widths[n] = max(c.width, runewidth.StringWidth(c.title)+1) // and the arrow
		if c.width == 0 {
			widths[n] = narrowest
		}
	}
	widths[0] = max(widths[0], min(max(widest, runewidth.StringWidth(columns[0].title)+1), room/2))
	total := func() int {
		sum := -columnGap
		for _, w := range widths {
			if w >= 0 {
				sum += w + columnGap
			}
		}
		return sum
	}
	for total() > room {
		worst := -1
		for n, c := range columns {
			if widths[n] >= 0 && c.rank > 0 && (worst < 0 || c.rank >= columns[worst].rank) {
				worst = n
			}
		}
		if worst < 0 {
			break // lines are cut
		}
		widths[worst] = -1
	}
	for n, c := range columns {
		if c.width != 0 || widths[n] < 0 {
			continue
		}
		longest := 0
		for _, row := range cells {
			longest = max(longest, min(runewidth.StringWidth(row[n].Text), maxTextWidth))
		}
		widths[n] = max(widths[n], min(longest, widths[n]+room-total()))
	}
	return widths
}

func drawRow(columns []column, row []tty.Cell, widths []int, paint painter) string {
	var line strings.Builder
	gap := 0
	for n, cell := range row {
		if widths[n] < 0 {
			continue
		}
		text := tty.Cut(cell.Text, widths[n])
		fill := max(0, widths[n]-runewidth.StringWidth(text))
		line.WriteString(strings.Repeat(" ", gap))
		gap = columnGap
		if columns[n].right {
			line.WriteString(strings.Repeat(" ", fill))
		} else {
			gap += fill
		}
		line.WriteString(paint(cell.Style, text))
	}
	return line.String()
}

// by orders rows by a property, the smallest first.
func by[T cmp.Ordered](property func(item) T) func(a, b item) int {
	return func(a, b item) int { return cmp.Compare(property(a), property(b)) }
}

// most orders rows by a property, the largest first.
func most[T cmp.Ordered](property func(item) T) func(a, b item) int {
	return func(a, b item) int { return cmp.Compare(property(b), property(a)) }
}
