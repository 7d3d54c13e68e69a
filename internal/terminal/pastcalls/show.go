package pastcalls

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/overview"
)

// column is one of the table.
type column struct {
	title string
	text  func(*history.Record) string
	style func(*history.Record) tty.Style // may be nil
	right bool                            // numbers
	// gives says how early the column gives way on a narrow screen: the highest first; 0: never. It is narrowed to its least
	// width first, and then left out.
	gives int
	least int // 0: it is not narrowed
	// isOptional says that the column is there only if a call has a text for it.
	isOptional bool
}

const (
	columnGap      = 2
	leastArguments = 12
	leastClient    = 8
	leastCaller    = 12
)

// columns are those of the table. The tool is never cut, so that it can be copied.
var columns = []column{
	{title: "TIME", text: timeOf, style: faint, gives: 2},
	{title: "CLIENT", text: clientOf, gives: 5, least: leastClient},
	{title: "CALLER", text: callerOf, gives: 4, least: leastCaller, isOptional: true},
	{title: "TOOL", text: Subject, style: func(*history.Record) tty.Style { return tty.Name }},
	{title: "OUTCOME", text: outcomeOf, style: outcomeStyle, gives: 1},
	{title: "TOTAL", text: func(r *history.Record) string { return span(r.Took) }, right: true, gives: 3},
	{title: "START", text: func(r *history.Record) string { return span(r.InStart) }, right: true, gives: 7},
	{title: "SERVER", text: func(r *history.Record) string { return span(r.AtServer) }, right: true, gives: 6},
	{title: "PERSON", text: func(r *history.Record) string { return span(r.Waited) }, right: true, gives: 8},
	{title: "OWN", text: func(r *history.Record) string { return span(r.InWorkbench) }, right: true, gives: 9},
	{title: "IN", text: func(r *history.Record) string { return size(r.RequestBytes) }, right: true, gives: 11},
	{title: "OUT", text: func(r *history.Record) string { return size(r.ResponseBytes) }, right: true, gives: 10},
	{title: "MEMORY", text: func(r *history.Record) string { return overview.Megabytes(r.Memory) }, right: true, gives: 13},
	{title: "CPU", text: processor, right: true, gives: 14},
	{title: "ARGUMENTS", text: func(r *history.Record) string { return r.Arguments }, style: faint, gives: 12, least: leastArguments},
}

func faint(*history.Record) tty.Style { return tty.Faint }

// Printer writes calls as a table, which can be continued.
type Printer struct {
	screen *tty.Screen
	widths []int  // of the columns so far; 0: left out; nil: nothing was written
	gone   []bool // the columns that the screen had no room for
}

// NewPrinter returns a printer for a screen.
func NewPrinter(screen *tty.Screen) *Printer { return &Printer{screen: screen} }

// Print writes calls. Later ones widen the columns, as far as the screen has room; if one has to be left out for that, the titles
// are written again.
func (p *Printer) Print(records ...history.Record) {
	cells := make([][]string, len(records))
	for i := range records {
		cells[i] = make([]string, len(columns))
		for n, column := range columns {
			cells[i][n] = tty.CleanLine(column.text(&records[i]))
		}
	}
	if p.layOut(cells) {
		titles := make([]string, len(columns))
		for n, column := range columns {
			titles[n] = column.title
		}
		p.line(titles, func(int) tty.Style { return tty.Faint })
	}
	for i := range records {
		if lost := records[i].Lost; lost > 0 {
			fmt.Fprintln(p.screen, p.screen.Paint(tty.Caution, fmt.Sprintf("(%s missing here)", toolbox.Count(int(lost), "call is", "calls are"))))
		}
		p.line(cells[i], func(n int) tty.Style {
			if style := columns[n].style; style != nil {
				return style(&records[i])
			}
			return tty.Plain
		})
	}
}

// layOut finds the widths of the columns that fit the screen, and reports whether the columns are other ones than before.
func (p *Printer) layOut(cells [][]string) (isNew bool) {
	if p.widths == nil {
		isNew = true
		p.widths, p.gone = make([]int, len(columns)), make([]bool, len(columns))
	}
	shown := p.shown()
	for n, column := range columns {
		hasText := func(row []string) bool { return row[n] != "" }
		if p.widths[n] == 0 && !p.gone[n] && (!column.isOptional || slices.ContainsFunc(cells, hasText)) {
			p.widths[n] = len(column.title)
		}
	}
	for n, width := range p.widths {
		for _, row := range cells {
			if width > 0 {
				p.widths[n] = max(p.widths[n], runewidth.StringWidth(row[n]))
			}
		}
	}
	width, _ := p.screen.Size()
	for excess := p.total() - width; width > 0 && excess > 0; excess = p.total() - width {
		if !p.giveWay(excess) {
			break // nothing can
		}
	}
	return isNew || !slices.Equal(p.shown(), shown)
}

// shown returns which columns there are.
func (p *Printer) shown() []bool {
	shown := make([]bool, len(p.widths))
	for n, width := range p.widths {
		shown[n] = width > 0
	}
	return shown
}

// giveWay narrows or leaves out the column that gives way first.
func (p *Printer) giveWay(excess int) bool {
	first := -1
	for n, column := range columns {
		if column.gives > 0 && p.widths[n] > 0 && (first < 0 || column.gives > columns[first].gives) {
			first = n
		}
	}
	if first < 0 {
		return false
	}
	if least := columns[first].least; least > 0 && p.widths[first]-excess >= least {
		p.widths[first] -= excess
	} else {
		p.widths[first], p.gone[first] = 0, true
	}
	return true
}

// total is the width of a line.
func (p *Printer) total() int {
	total := -columnGap
	for _, width := range p.widths {
		if width > 0 {
			total += width + columnGap
		}
	}
	return total
}

// line writes one line. Columns that can be narrowed are cut.
func (p *Printer) line(cells []string, style func(n int) tty.Style) {
	var line strings.Builder
	for n, text := range cells {
		width := p.widths[n]
		if width == 0 {
			continue
		}
		if columns[n].least > 0 {
			text = p.cut(text, n)
		}
		padding := strings.Repeat(" ", max(width-runewidth.StringWidth(text), 0))
		painted := p.screen.Paint(style(n), text)
		if columns[n].right {
			line.WriteString(padding + painted)
		} else {
			line.WriteString(painted + padding)
		}
		line.WriteString(strings.Repeat(" ", columnGap))
	}
	fmt.Fprintln(p.screen, strings.TrimRight(line.String(), " "))
}

// cut shortens a text to its column. The last column may be as wide as the screen has room.
func (p *Printer) cut(text string, n int) string {
	width := p.widths[n]
	screen, _ := p.screen.Size()
	switch {
	case n < len(columns)-1:
	case screen == 0:
		return text
	default:
		width += max(screen-p.total(), 0)
	}
	return tty.Cut(text, width)
}

// Subject returns what a request was about: the reference of a tool, or a server and a method.
func Subject(r *history.Record) string {
	server := r.Toolbox + "/" + r.Server
	switch {
	case r.Tool != "":
		return server + "/" + r.Tool
	case r.Prompt != "":
		return server + ": " + r.Method + " " + r.Prompt
	}
	return server + ": " + cmp.Or(r.Method, "another request")
}

func timeOf(r *history.Record) string {
	at, now := r.Time.Local(), time.Now()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format(time.TimeOnly)
	}
	return at.Format("01-02 15:04:05")
}

// clientOf is the name of the client; without one, who it is, unless that is in a column of its own.
func clientOf(r *history.Record) string {
	if callerOf(r) != "" {
		return r.Client
	}
	return cmp.Or(r.Client, r.Caller)
}

// callerOf is whose client it is: a person, a token or a certificate. Others are told apart by their client alone.
func callerOf(r *history.Record) string {
	if config.MayBeElsewhere(r.Caller) {
		return r.Caller
	}
	return ""
}

// outcomeOf says how a call ended, with what is not said by the kind of the end.
func outcomeOf(r *history.Record) string {
	switch r.Outcome {
	case call.StatusRPCError.String():
		return "error " + r.ErrorType
	case call.StatusFailed.String(), call.StatusRefused.String():
		if r.MemoryLimit > 0 {
			return fmt.Sprintf("%s: %s (%s of %s, %s)", r.Outcome, strings.ReplaceAll(r.ErrorType, "_", " "), mebibytes(r.Memory), mebibytes(r.MemoryLimit), r.LimitKey)
		}
		if r.ErrorType != "" && r.ErrorType != r.Outcome {
			return r.Outcome + ": " + strings.ReplaceAll(r.ErrorType, "_", " ")
		}
	}
	return r.Outcome
}

func outcomeStyle(r *history.Record) tty.Style {
	switch {
	case r.IsError():
		return tty.Bad
	case r.Outcome == call.StatusOK.String():
		return tty.Good
	}
	return tty.Faint
}

// span writes a duration with two digits or three.
func span(seconds float64) string {
	switch ms := seconds * 1e3; {
	case ms <= 0:
		return "-"
	case ms < .095:
		return fmt.Sprintf("%.0fµs", ms*1e3)
	case ms < 10:
		return fmt.Sprintf("%.1fms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0fms", ms)
	case seconds < 10:
		return fmt.Sprintf("%.1fs", seconds)
	case seconds < 100:
		return fmt.Sprintf("%.0fs", seconds)
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

// mebibytes writes a size in the unit that limits are mostly written in.
func mebibytes(bytes int64) string { return fmt.Sprintf("%d MiB", (bytes+1<<19)>>20) }

func processor(r *history.Record) string {
	if r.Memory == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", r.CPU)
}

// size writes a number of bytes.
func size(bytes int) string {
	switch {
	case bytes < 10_000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 10_000_000:
		return fmt.Sprintf("%d kB", bytes/1000)
	}
	return fmt.Sprintf("%d MB", bytes/1_000_000)
}
