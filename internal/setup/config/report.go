package config

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// report collects problems by byte offset, in any order.
type report struct {
	data     []byte
	errors   []finding
	warnings []finding
	lines    []int // offset of each line's first byte
}

// finding is a problem whose line and column are not computed yet.
type finding struct {
	offset  int
	problem Problem
	server  string // path of the server that contains it; "" if it concerns the file
}

func newReport(data []byte) *report {
	lines := []int{0}
	for offset := 0; ; {
		next := bytes.IndexByte(data[offset:], '\n')
		if next < 0 {
			return &report{data: data, lines: lines}
		}
		offset += next + 1
		lines = append(lines, offset)
	}
}

// fail reports an error at a path. An error at or below a server concerns only that server.
func (r *report) fail(offset int, at *path, message, hint string) {
	r.failWithin(at, offset, at, message, hint)
}

// failWithin reports an error that concerns more than its path: the server that contains scope, otherwise the file.
func (r *report) failWithin(scope *path, offset int, at *path, message, hint string) {
	r.errors = append(r.errors, finding{offset, Problem{Path: at.String(), Message: message, Hint: hint}, scope.server().String()})
}

func (r *report) warn(offset int, at *path, message, hint string) {
	r.warnings = append(r.warnings, finding{offset: offset, problem: Problem{Path: at.String(), Message: message, Hint: hint}})
}

// failed reports whether an error concerns the file.
func (r *report) failed() bool {
	return slices.ContainsFunc(r.errors, func(f finding) bool { return f.server == "" })
}

// faults returns the errors of each server, by its path.
func (r *report) faults() map[string][]Problem {
	byServer := make(map[string][]Problem)
	problems := r.locate(r.errors) // which sorts them
	for i, f := range r.errors {
		byServer[f.server] = append(byServer[f.server], problems[i])
	}
	return byServer
}

func (r *report) failure(code toolbox.Code, file string) *Error {
	return &Error{Code: code, File: file, Problems: r.locate(r.errors), Warnings: r.warned()}
}

func (r *report) warned() []Problem { return r.locate(r.warnings) }

// line returns the line number of offset, from 1.
func (r *report) line(offset int) int {
	index, exact := slices.BinarySearch(r.lines, offset)
	if exact {
		index++
	}
	return index
}

// locate returns the findings as problems in file order. Columns are counted from the previous finding, so that a file
// with one long line is not scanned again for every problem.
func (r *report) locate(findings []finding) []Problem {
	slices.SortStableFunc(findings, func(a, b finding) int { return cmp.Compare(a.offset, b.offset) })
	var problems []Problem
	line, column, counted := 0, 0, 0
	for _, f := range findings {
		if at := r.line(f.offset); at != line {
			line, column, counted = at, 1, r.lines[at-1]
		}
		column += utf8.RuneCount(r.data[counted:f.offset])
		counted = f.offset
		f.problem.Line, f.problem.Column = line, column
		problems = append(problems, f.problem)
	}
	return problems
}
