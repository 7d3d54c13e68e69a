package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// runChart draws the data of a run: for each lane and size, how long a call takes by each way.
func runChart(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: bench chart DATA.json CHART.svg")
	}
	found, err := readFigures(args[0])
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], []byte(draw(found)), 0o644)
}

const (
	barHeight  = 14
	groupGap   = 12
	labelWidth = 250
	plotWidth  = 460
)

var colours = map[string]string{"direct": "#9aa5b1", "pump": "#52606d", "use_tool": "#2f7ed8", "dynamic mode": "#7bb3f0", "direct mode": "#b3d4f7"}

// draw makes bars of the p50 of one call at a time, as ratios to the direct one.
func draw(found figures) string {
	var rows []figure
	for _, f := range found.Calls {
		if f.Concurrency == 1 {
			rows = append(rows, f)
		}
	}
	longest := 1.0
	for _, f := range rows {
		longest = max(longest, f.ToDirect)
	}
	var body strings.Builder
	y, group := 40, ""
	for _, f := range rows {
		if name := f.Lane + ", " + f.Size; name != group {
			y += groupGap
			group = name
			fmt.Fprintf(&body, `<text x="0" y="%d" class="g">%s</text>`+"\n", y+barHeight-3, name)
		}
		colour := colours[f.Way]
		if colour == "" {
			colour = "#e8a33d"
		}
		width := int(f.ToDirect / longest * plotWidth)
		fmt.Fprintf(&body, `<text x="%d" y="%d" text-anchor="end">%s</text><rect x="%d" y="%d" width="%d" height="%d" fill="%s"/><text x="%d" y="%d">%.2fx  (%s)</text>`+"\n",
			labelWidth-6, y+barHeight-3, f.Way, labelWidth, y+1, width, barHeight-2, colour, labelWidth+width+5, y+barHeight-3, f.ToDirect, round(f.Median.P50))
		y += barHeight
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">
<style>.g{font-weight:bold}</style>
<rect width="100%%" height="100%%" fill="white"/>
<text x="0" y="14" font-size="13">Time of one call (p50), as a ratio to a direct call in the same round</text>
<text x="0" y="30" fill="#52606d">%s</text>
%s</svg>
`, labelWidth+plotWidth+150, y+10, found.Machine, body.String())
}
