package main

import "slices"

// reasonFor says why a scenario need not do as well through the workbench as directly; "" if it
// must.
func reasonFor(subject string, one scenario) string {
	for _, known := range borderReasons {
		if known.subject == subject && slices.Contains(known.scenarios, one.name) {
			return known.reason
		}
	}
	return ""
}

// borderReasons are what a client of one era cannot have of this server in the other.
var borderReasons = []struct {
	subject   string
	scenarios []string
	reason    string
}{
	{
		modernToLegacy,
		[]string{"input-required-result-basic-elicitation"},
		"The suite expects the question under the server's name for it. Legacy questions have no names, so the workbench assigns them.",
	},
	{
		modernToLegacy,
		[]string{"input-required-result-multi-round"},
		"In the legacy era, this server's tool answers the second round with a result that exists only in the modern era.",
	},
	{
		legacyToModern,
		[]string{"tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"},
		"These tools ask the client with a request during the call, which a modern server cannot do. The server says so to any client.",
	},
}

// meant are single checks that may do worse through the workbench, with the subjects that this
// is so for and the reason.
var meant = []struct {
	check    string
	subjects []string
	reason   string
}{
	{
		"sep-2322-ignore-unexpected-params",
		[]string{modernToLegacy},
		"The suite answers a question under the server's name for it. Legacy questions have no names, so the answer matches none of them, and the question is asked again.",
	},
	{
		"sep-2575-server-sends-tools-list-changed-on-subscription",
		[]string{modern, modernToLegacy},
		"The suite's tool announces changed tools, and the second time they have not changed. The workbench reads them, and notifies clients only of real changes.",
	},
}

// isMeant reports whether a check of a subject may do worse.
func isMeant(subject, id string) bool {
	for _, known := range meant {
		if known.check == id && slices.Contains(known.subjects, subject) {
			return true
		}
	}
	return false
}

// needless tells of reasons that no way through the workbench needs any more, of the subjects that
// were run.
func (r *report) needless() (lines []string) {
	for _, s := range r.sections {
		if s.client {
			continue
		}
		for _, one := range r.scenarios(s) {
			if reasonFor(s.subject, one) != "" && !slices.ContainsFunc(s.columns[1:], func(through column) bool { return worseIn(s.subject, s.columns[0], through, one.name) }) {
				lines = append(lines, s.subject+", "+one.name)
			}
		}
		for _, known := range meant {
			if slices.Contains(known.subjects, s.subject) && !r.isWorse(s, known.check) {
				lines = append(lines, s.subject+", "+known.check)
			}
		}
	}
	return lines
}

// isWorse reports whether a check does worse on any way through the workbench.
func (r *report) isWorse(s section, id string) bool {
	for _, one := range r.scenarios(s) {
		_, before := worst(s.columns[0].results[one.name])
		for _, through := range s.columns[1:] {
			if _, after := worst(through.results[one.name]); rank(after[id].Status) > rank(before[id].Status) {
				return true
			}
		}
	}
	return false
}
