package tty

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Cell is a text in a table. What others wrote is cleaned here.
type Cell struct {
	Text  string
	Style Style
}

// Cells are plain ones.
func Cells(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, text := range texts {
		cells[i].Text = text
	}
	return cells
}

const (
	columnGap = 2
	// minColumn is the width that a column of text is cut down to; if that is not enough, columns go.
	minColumn = 14
)

// Table writes rows in columns that fit the width. The first column, and every other with the style Name, holds what a person types
// again, and is never cut. Of the others, the widest give way first, and their text is cut. If that is not enough, columns go, from the
// right: they are in the order of their importance. Without a terminal nothing is cut. An empty header is left out.
func (s *Screen) Table(header []string, rows [][]Cell) { s.table(header, rows, false) }

// WrappedTable is a Table whose last column is continued on further lines, and is the last to go.
func (s *Screen) WrappedTable(header []string, rows [][]Cell) { s.table(header, rows, true) }

// Fits reports whether a Table is as wide as the screen or less with nothing cut.
func (s *Screen) Fits(header []string, rows [][]Cell) bool {
	width, _ := s.Size()
	return width <= 0 || slices.Equal(fit(cleanRows(header, rows), width), fit(cleanRows(header, rows), 0))
}

// cleanRows returns the header and the rows as they are written.
func cleanRows(header []string, rows [][]Cell) [][]Cell {
	all := make([][]Cell, 0, len(rows)+1)
	if len(header) > 0 {
		head := Cells(header...)
		for i := range head {
			head[i].Style = Faint
		}
		all = append(all, head)
	}
	for _, row := range rows {
		clean := make([]Cell, len(row))
		for i, cell := range row {
			clean[i] = Cell{CleanLine(cell.Text), cell.Style}
		}
		all = append(all, clean)
	}
	return all
}

func (s *Screen) table(header []string, rows [][]Cell, wrapped bool) {
	all := cleanRows(header, rows)
	if len(all) == 0 {
		return
	}
	width, _ := s.Size()
	widths := fit(all, width)
	for widths == nil {
		all = dropColumn(all, wrapped)
		widths = fit(all, width)
	}
	for _, row := range all {
		last := len(row) - 1
		lines := []string{Cut(row[last].Text, widths[last])}
		if wrapped {
			lines = Wrap(row[last].Text, widths[last])
		}
		for i, text := range lines {
			line := make([]Cell, len(row))
			if i == 0 {
				copy(line, row)
			}
			line[last] = Cell{text, row[last].Style}
			s.row(line, widths)
		}
	}
}

// dropColumn removes the least important column: the last one, or the one before it if the last one is wrapped.
func dropColumn(rows [][]Cell, wrapped bool) [][]Cell {
	at := len(rows[0]) - 1
	if wrapped && at > 1 {
		at--
	}
	fewer := make([][]Cell, len(rows))
	for i, row := range rows {
		fewer[i] = slices.Delete(slices.Clone(row), at, at+1)
	}
	return fewer
}

func (s *Screen) row(row []Cell, widths []int) {
	var line strings.Builder
	for i, cell := range row {
		text := Cut(cell.Text, widths[i])
		gap := ""
		if i < len(row)-1 {
			gap = strings.Repeat(" ", len(pad(text, widths[i]+columnGap))-len(text))
		}
		line.WriteString(s.Paint(cell.Style, text) + gap)
	}
	fmt.Fprintln(s, strings.TrimRight(line.String(), " "))
}

// fit returns the widths of columns so that a row fits; 0 is no limit. It returns nil if there are too many columns.
func fit(rows [][]Cell, limit int) []int {
	widths := make([]int, len(rows[0]))
	isWhole := make([]bool, len(widths)) // must not be cut
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], runewidth.StringWidth(cell.Text))
			isWhole[i] = isWhole[i] || cell.Style == Name
		}
	}
	isWhole[0] = true
	if limit <= 0 || len(widths) == 1 {
		return widths
	}
	total := columnGap * (len(widths) - 1)
	for _, width := range widths {
		total += width
	}
	for ; total > limit; total-- {
		widest := -1
		for i, width := range widths {
			if !isWhole[i] && width > minColumn && (widest < 0 || width >= widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return nil
		}
		widths[widest]--
	}
	return widths
}
