package main

import (
	_ "embed"
	"fmt"
	"strings"
)

const preamble = `# Conformance

Made by ` + "`make conformance`" + `, which runs the [conformance suite](https://github.com/modelcontextprotocol/conformance) of MCP
against servers and clients that others wrote: once directly, and once with the workbench between, in direct mode. What
counts is that the columns are equal. A server that fails a scenario by itself must fail it in the same way through
the workbench. ` + "`make conformance CHECK=1`" + ` fails if a column is worse than "direct", or than it is here.

The scenarios are those that revisions ` + legacyRevision + ` and ` + modernRevision + ` require, one of each era of the protocol. The suite also
runs some that it does not score: they are marked with a star. "Modern to legacy" is a client of the newer era with a server
that knows only the older one, and "legacy to modern" the other way round; "direct" is the server in the era of the client.
`

// eras is what the other comparison of the two eras looks at.
//
//go:embed eras.md
var eras string

// markdown is the report as a page.
func (r *report) markdown() string {
	var page strings.Builder
	page.WriteString(preamble)
	page.WriteString("\n| used | version |\n| --- | --- |\n")
	for _, v := range r.versions {
		fmt.Fprintf(&page, "| `%s` | %s |\n", v.name, v.number)
	}
	page.WriteString("\n## Scored scenarios that pass\n\n| subject | revision | direct | through, HTTP below | through, stdio below |\n| --- | --- | --- | --- | --- |\n")
	for _, s := range r.sections {
		fmt.Fprintf(&page, "| %s | %s | %s | %s | %s |\n", s.subject, s.revision, r.total(s.subject, direct), r.total(s.subject, throughHTTP), r.total(s.subject, throughStdio))
	}
	for _, s := range r.sections {
		r.table(&page, s)
	}
	page.WriteString("\n## Worse than directly\n\n")
	r.list(&page, func(s section, through column, one scenario) string {
		if !worseIn(s.subject, s.columns[0], through, one.name) {
			return ""
		}
		if reason := reasonFor(s.subject, one); reason != "" {
			return reason
		}
		return messages(s.subject, s.columns[0], through, one.name)
	})
	page.WriteString("\n## Single checks that may be worse\n\n")
	for _, known := range meant {
		fmt.Fprintf(&page, "- %s: `%s`. %s\n", strings.Join(known.subjects, "; "), known.check, known.reason)
	}
	page.WriteString("\n" + eras)
	page.WriteString("\n## Not tried through the workbench\n\nNo complaint, but the suite found nothing to check. Over HTTP the workbench answers with plain JSON where nothing comes\nbefore the answer, and streams are its own and not those of the server.\n\n")
	r.list(&page, func(s section, through column, one scenario) string {
		if worseIn(s.subject, s.columns[0], through, one.name) {
			return ""
		}
		return strings.Join(untried(s.columns[0].results[one.name], through.results[one.name]), ", ")
	})
	page.WriteString("\n## What fails directly as well\n\n")
	r.failing(&page)
	return page.String()
}

func (r *report) table(page *strings.Builder, s section) {
	fmt.Fprintf(page, "\n## %s\n\n| scenario |", s.subject)
	for _, c := range s.columns {
		fmt.Fprintf(page, " %s |", c.route)
	}
	page.WriteString("\n| --- |" + strings.Repeat(" --- |", len(s.columns)) + "\n")
	for _, one := range r.scenarios(s) {
		name := "`" + one.name + "`"
		if !one.scored {
			name += " *"
		}
		fmt.Fprintf(page, "| %s |", name)
		for _, c := range s.columns {
			fmt.Fprintf(page, " %s |", c.verdict(one.name))
		}
		page.WriteString("\n")
	}
}

// list writes a line for every scenario and route that there is something to say about. Routes and
// scenarios that share their words share a line.
func (r *report) list(page *strings.Builder, say func(section, column, scenario) string) {
	type line struct {
		subject, words string
		scenarios      []string
		routes         string
	}
	var lines []*line
	for _, s := range r.sections {
		for _, one := range r.scenarios(s) {
			routes := make(map[string][]string)
			var order []string
			for _, through := range s.columns[1:] {
				words := say(s, through, one)
				if words != "" && routes[words] == nil {
					order = append(order, words)
				}
				routes[words] = append(routes[words], strings.TrimPrefix(through.route, "through, "))
			}
			for _, words := range order {
				on := strings.Join(routes[words], " and ")
				if last := len(lines) - 1; last >= 0 && lines[last].subject == s.subject && lines[last].words == words && lines[last].routes == on {
					lines[last].scenarios = append(lines[last].scenarios, "`"+one.name+"`")
					continue
				}
				lines = append(lines, &line{s.subject, words, []string{"`" + one.name + "`"}, on})
			}
		}
	}
	for _, l := range lines {
		fmt.Fprintf(page, "- %s, %s: %s. %s\n", l.subject, l.routes, strings.Join(l.scenarios, ", "), l.words)
	}
	if len(lines) == 0 {
		page.WriteString("Nothing.\n")
	}
}

// failing tells what the subjects fail without us.
func (r *report) failing(page *strings.Builder) {
	none := true
	for _, s := range r.sections {
		for _, one := range r.scenarios(s) {
			if s.columns[0].verdict(one.name) != failed {
				continue
			}
			none = false
			_, checks := worst(s.columns[0].results[one.name])
			var words []string
			order, _ := worst(s.columns[0].results[one.name])
			for _, id := range order {
				if rank(checks[id].Status) == 2 {
					words = append(words, phrase(checks[id]))
				}
			}
			fmt.Fprintf(page, "- %s: `%s`. %s\n", s.subject, one.name, strings.Join(words, "; "))
		}
	}
	if none {
		page.WriteString("Nothing.\n")
	}
}

// cell is a place in the tables.
type cell struct{ subject, scenario, route string }

// parseCells reads the tables of a page back.
func parseCells(page string) map[cell]string {
	cells := make(map[cell]string)
	var subject string
	var routes []string
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "## "); ok {
			subject, routes = name, nil
			continue
		}
		inner, ok := strings.CutPrefix(line, "| ")
		if !ok {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(inner, " |"), " | ")
		switch {
		case fields[0] == "scenario":
			routes = fields[1:]
		case strings.HasPrefix(fields[0], "`") && len(fields) == len(routes)+1:
			scenario := strings.Trim(strings.TrimSuffix(fields[0], " *"), "`")
			for i, route := range routes {
				cells[cell{subject, scenario, route}] = fields[i+1]
			}
		}
	}
	return cells
}

// worseThan tells of every cell that was better in the page that is checked in.
func (r *report) worseThan(before map[cell]string) []string {
	if len(before) == 0 {
		return []string{"the page that is checked in has no tables: run 'make conformance'"}
	}
	order := map[string]int{passed: 0, warned: 1, failed: 2, absent: 3}
	var lines []string
	for _, s := range r.sections {
		for _, one := range r.scenarios(s) {
			for _, c := range s.columns {
				was, known := before[cell{s.subject, one.name, c.route}]
				if is := c.verdict(one.name); known && order[is] > order[was] {
					lines = append(lines, fmt.Sprintf("%s, %s, %s: %s, and the table that is checked in says %s", s.subject, c.route, one.name, is, was))
				}
			}
		}
	}
	return lines
}
