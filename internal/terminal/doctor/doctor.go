// Package doctor diagnoses a workbench: its configuration, its folders, the clients, and each server
// step by step, with advice.
package doctor

import (
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Verdict is the result of a check.
type Verdict string

// The verdicts. With a warning everything works, but probably not as intended.
const (
	Fine    Verdict = "ok"
	Warning Verdict = "warning"
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped"
)

// Report contains all results, in the format for scripts.
type Report struct {
	OK      bool     `json:"ok"`
	Checks  []Check  `json:"checks"`
	Servers []Server `json:"servers"`
	Summary Summary  `json:"summary"`
}

// Check is the result of a check of the workbench itself.
type Check struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"status"`
	Detail  string  `json:"detail"`
	Fix     string  `json:"fix,omitempty"`
}

// Server is the result for one server.
type Server struct {
	Toolbox  string   `json:"toolbox"`
	Name     string   `json:"server"`
	Verdict  Verdict  `json:"status"`
	Took     Millis   `json:"tookMs"`
	Steps    []Step   `json:"steps"`
	Software string   `json:"software,omitempty"`
	Revision string   `json:"revision,omitempty"`
	Tools    int      `json:"tools"`
	Denied   int      `json:"denied,omitempty"` // tools hidden by the policy
	Error    string   `json:"error,omitempty"`
	Stderr   []string `json:"stderr,omitempty"` // of a failed server
	Fix      string   `json:"fix,omitempty"`
	Login    *Login   `json:"login,omitempty"` // of a remote server
	Warnings []string `json:"warnings,omitempty"`
	Note     string   `json:"note,omitempty"` // a possible problem elsewhere

	faulty bool // its definition is invalid
}

// Step is one step of a server's start.
type Step struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"status"` // "" while it is under way
	Detail  string  `json:"detail,omitempty"`
	Took    Millis  `json:"tookMs"`
}

// Summary counts servers, and all warnings.
type Summary struct {
	Fine     int `json:"ok"`
	Failed   int `json:"failed"`
	Skipped  int `json:"skipped"`
	Warnings int `json:"warnings"`
}

// Millis is a duration in milliseconds.
type Millis int64

func millis(d time.Duration) Millis { return Millis(d.Milliseconds()) }

// NewReport summarises the results.
func NewReport(checks []Check, servers []Server) *Report {
	if servers == nil {
		servers = []Server{} // scripts expect a list
	}
	r := &Report{OK: true, Checks: checks, Servers: servers}
	for _, check := range checks {
		switch check.Verdict {
		case Failed:
			r.OK = false
		case Warning:
			r.Summary.Warnings++
		}
	}
	for _, server := range servers {
		r.Summary.Warnings += len(server.Warnings)
		switch server.Verdict {
		case Fine:
			r.Summary.Fine++
		case Failed:
			r.Summary.Failed++
			r.OK = false
		case Skipped:
			r.Summary.Skipped++
		}
	}
	return r
}

// stepsOf converts the steps of a start.
func stepsOf(steps []fleet.Step) []Step {
	shown := make([]Step, len(steps))
	for i, step := range steps {
		shown[i] = Step{Name: step.Name, Detail: step.Detail, Took: millis(step.Took)}
		switch {
		case step.Done:
			shown[i].Verdict = Fine
		case step.Failed:
			shown[i].Verdict = Failed
		}
	}
	return shown
}
