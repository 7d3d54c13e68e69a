package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// The tables of a page stand between these, and the rest of it is left alone.
const (
	tablesBegin = "<!-- from here on: make performance -->\n"
	tablesEnd   = "<!-- up to here -->\n"
)

// runPage puts the tables of a run into a page.
func runPage(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: bench page DATA.json PAGE.md")
	}
	found, err := readFigures(args[0])
	if err != nil {
		return err
	}
	text, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(text), tablesBegin)
	_, after, ended := strings.Cut(rest, tablesEnd)
	if !begun || !ended {
		return fmt.Errorf("%s has no place for the tables: they go between %q and %q", args[1], tablesBegin, tablesEnd)
	}
	return os.WriteFile(args[1], []byte(before+tablesBegin+found.tables()+tablesEnd+after), 0o644)
}

func readFigures(path string) (found figures, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return found, err
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return found, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

// tables are all figures in Markdown.
func (found figures) tables() string {
	var out strings.Builder
	fmt.Fprintf(&out, "\nMeasured on %s", found.Machine)
	if found.Load != "" {
		fmt.Fprintf(&out, ", load average %s at the beginning", found.Load)
	}
	fmt.Fprintf(&out, ".\n\n### Goals\n\n| goal | bound | found | |\n| --- | --- | --- | --- |\n")
	for _, g := range found.Goals {
		fmt.Fprintf(&out, "| %s | %.2f | %.2f | %s |\n", g.Name, g.Bound, g.Found, map[bool]string{true: "reached", false: "**not reached**"}[g.Reached])
	}
	fmt.Fprintf(&out, "\n### Start, memory, opening\n\n| what | found | |\n| --- | --- | --- |\n")
	for _, q := range found.Single {
		fmt.Fprintf(&out, "| %s | %.2f %s | %s |\n", q.Name, q.Value, q.Unit, q.Note)
	}
	lane := ""
	for _, f := range found.Calls {
		if f.Lane != lane {
			lane = f.Lane
			fmt.Fprintf(&out, "\n### %s\n\n", lane)
			out.WriteString("| size | at once | way | p50 | p99 | calls/s | CPU/call | allocations | p50/direct | p50/pump | rate/pump |\n")
			out.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
		}
		fmt.Fprintf(&out, "| %s |\n", strings.Join(f.cells(), " | "))
	}
	out.WriteString("\n")
	return out.String()
}
