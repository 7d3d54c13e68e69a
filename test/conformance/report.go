package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Verdicts about a scenario, as the table shows them.
const (
	passed = "pass"
	warned = "warn"
	failed = "FAIL"
	absent = "did not run"
)

// report holds what was found, in the order in which it was found.
type report struct {
	versions []version
	required map[string][]scenario // of each revision
	sections []section
}

// section is a subject with the results of its routes.
type section struct {
	subject  string
	revision string
	client   bool
	columns  []column
}

type column struct {
	route string
	results
}

func (r *report) add(s subject, route string, found results) {
	last := len(r.sections) - 1
	if last < 0 || r.sections[last].subject != s.name {
		r.sections = append(r.sections, section{subject: s.name, revision: s.revision, client: s.client})
		last++
	}
	r.sections[last].columns = append(r.sections[last].columns, column{route, found})
}

// suspects are the scenarios that do worse in the column that was added last than directly, without a
// reason that is known.
func (r *report) suspects() []string {
	s := r.sections[len(r.sections)-1]
	last := s.columns[len(s.columns)-1]
	var names []string
	for _, one := range r.scenarios(s) {
		if reasonFor(s.subject, one) == "" && worseIn(s.subject, s.columns[0], last, one.name) {
			names = append(names, one.name)
		}
	}
	return names
}

// replace puts other checks into the column that was added last.
func (r *report) replace(scenario string, checks []check) {
	columns := r.sections[len(r.sections)-1].columns
	columns[len(columns)-1].results[scenario] = checks
}

// scenarios are those of the subject's revision and side.
func (r *report) scenarios(s section) []scenario {
	return slices.DeleteFunc(slices.Clone(r.required[s.revision]), func(one scenario) bool { return one.client != s.client })
}

// verdict is the worst that a scenario's checks say.
func (c column) verdict(scenario string) string {
	checks, ok := c.results[scenario]
	if !ok {
		return absent
	}
	worst := 0
	for _, check := range checks {
		worst = max(worst, rank(check.Status))
	}
	return []string{passed, warned, failed}[worst]
}

// rank orders what the suite says about a check; all that is no complaint is equal.
func rank(status string) int {
	switch status {
	case "FAILURE":
		return 2
	case "WARNING":
		return 1
	default:
		return 0
	}
}

// worst returns each check's worst result; a check can be made several times.
func worst(checks []check) (order []string, found map[string]check) {
	found = make(map[string]check)
	for _, one := range checks {
		before, seen := found[one.ID]
		if !seen {
			order = append(order, one.ID)
		}
		if !seen || rank(one.Status) > rank(before.Status) {
			found[one.ID] = one
		}
	}
	return order, found
}

// complaints are the checks that do worse in a column than directly, and are not meant to.
func complaints(subject string, direct, through []check) []check {
	_, before := worst(direct)
	order, after := worst(through)
	var found []check
	for _, id := range order {
		if !isMeant(subject, id) && rank(after[id].Status) > rank(before[id].Status) {
			found = append(found, after[id])
		}
	}
	return found
}

// untried are the checks that succeeded directly, and that the suite did not come to, or had
// nothing to say about, in a column.
func untried(direct, through []check) []string {
	order, before := worst(direct)
	_, after := worst(through)
	var found []string
	for _, id := range order {
		if before[id].Status == "SUCCESS" && after[id].Status != "SUCCESS" && rank(after[id].Status) == 0 {
			found = append(found, id)
		}
	}
	return found
}

// worseThanDirect tells of every scenario that does worse with the workbench between, unless the
// reason is known.
func (r *report) worseThanDirect() []string {
	var lines []string
	for _, s := range r.sections {
		for _, through := range s.columns[1:] {
			for _, one := range r.scenarios(s) {
				if reasonFor(s.subject, one) == "" && worseIn(s.subject, s.columns[0], through, one.name) {
					lines = append(lines, fmt.Sprintf("%s, %s, %s: %s, and directly %s: %s", s.subject, through.route, one.name,
						through.verdict(one.name), s.columns[0].verdict(one.name), messages(s.subject, s.columns[0], through, one.name)))
				}
			}
		}
	}
	return lines
}

func worseIn(subject string, direct, through column, scenario string) bool {
	return through.verdict(scenario) == absent || len(complaints(subject, direct.results[scenario], through.results[scenario])) > 0
}

// volatile is what differs from run to run in the suite's messages.
var volatile = regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`)

// messages are the suite's words about what does worse than directly.
func messages(subject string, direct, through column, scenario string) string {
	var words []string
	for _, one := range complaints(subject, direct.results[scenario], through.results[scenario]) {
		words = append(words, phrase(one))
	}
	if len(words) == 0 {
		return absent
	}
	return strings.Join(words, "; ")
}

func phrase(one check) string {
	text, _, _ := strings.Cut(one.Message, "\n")
	text = volatile.ReplaceAllString(text, "$1:PORT")
	if text == "" {
		return "`" + one.ID + "`"
	}
	return "`" + one.ID + "`: " + text
}

// total counts what passed of what is scored.
func (r *report) total(subject, route string) string {
	for _, s := range r.sections {
		for _, c := range s.columns {
			if s.subject != subject || c.route != route {
				continue
			}
			good, all, excused := 0, 0, 0
			for _, one := range r.scenarios(s) {
				if !one.scored {
					continue
				}
				all++
				switch v := c.verdict(one.name); {
				case v == passed || v == warned:
					good++
				case reasonFor(s.subject, one) != "":
					excused++
				}
			}
			if excused > 0 {
				return fmt.Sprintf("%d of %d; %d more have a reason, below", good, all, excused)
			}
			return fmt.Sprintf("%d of %d", good, all)
		}
	}
	return "-"
}
