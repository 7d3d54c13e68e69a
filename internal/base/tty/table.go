package tty

import (
	"fmt"
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
	minColumn = 8 // a column is not made narrower than that to fit
	// The first column, by which a row is named, is cut only when the others are down to this.
	minBesideName = 24
)

// Table writes rows in columns that fit the width: the widest columns give way first, the
// first one last, and what does not fit is cut. An empty header is left out.
func (s *Screen) Table(header []string, rows [][]Cell) { s.table(header, rows, false) }

// WrappedTable is a Table whose last column is continued on further lines.
func (s *Screen) WrappedTable(header []string, rows [][]Cell) { s.table(header, rows, true) }

func (s *Screen) table(header []string, rows [][]Cell, wrapped bool) {
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
	width, _ := s.Size()
	widths := fit(all, width)
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

// widestOf returns the column that gives way next.
func widestOf(widths []int) int {
	widest := len(widths) - 1
	for i := len(widths) - 2; i > 0; i-- {
		if widths[i] > widths[widest] {
			widest = i
		}
	}
	if widths[widest] <= minBesideName && widths[0] > widths[widest] {
		return 0
	}
	return widest
}

// fit returns the widths of columns so that a row fits; 0 is no limit.
func fit(rows [][]Cell, limit int) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], runewidth.StringWidth(cell.Text))
		}
	}
	if limit <= 0 {
		return widths
	}
	total := columnGap * (len(widths) - 1)
	for _, width := range widths {
		total += width
	}
	for ; total > limit; total-- {
		widest := widestOf(widths)
		if widths[widest] <= minColumn {
			break
		}
		widths[widest]--
	}
	return widths
}
