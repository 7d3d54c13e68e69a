package policycheck

import (
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

// Cases are the cases of a file, with the definitions of their tools.
type Cases struct {
	File string
	all  []testCase
}

type testCase struct {
	config.PolicyCase
	tool    console.Definition
	history []console.Definition
}

// NamesIn returns the names of all tools in cases.
func NamesIn(cases []config.PolicyCase) (names []string) {
	for _, one := range cases {
		names = append(names, one.Tool.Name)
		for _, before := range one.History {
			names = append(names, before.Name)
		}
	}
	return names
}

// NewCases finds the tools of cases. One that does not exist is a mistake of the file.
func NewCases(file string, cases []config.PolicyCase, known *console.Definitions) (*Cases, error) {
	var mistakes []config.Problem
	find := func(named config.NamedTool) console.Definition {
		found, err := known.Find(named.Name)
		if err != nil {
			mistakes = append(mistakes, mistake(named, err))
		}
		return found
	}
	c := &Cases{File: file}
	for _, one := range cases {
		with := testCase{PolicyCase: one, tool: find(one.Tool)}
		for _, before := range one.History {
			with.history = append(with.history, find(before))
		}
		c.all = append(c.all, with)
	}
	if len(mistakes) > 0 {
		return nil, &config.Error{Code: toolbox.CasesInvalid, File: file, Problems: mistakes}
	}
	return c, nil
}

// mistake places an error at the name of a tool.
func mistake(named config.NamedTool, err error) config.Problem {
	problem := named.At
	problem.Message = tty.Clean(err.Error())
	return problem
}

// differing is a case with another verdict than expected.
type differing struct {
	Case      int       `json:"case"` // from 1
	Line      int       `json:"line"`
	Tool      string    `json:"tool"`
	Caller    string    `json:"caller"`
	Expected  string    `json:"expected"`
	Verdict   string    `json:"verdict"`
	Decided   *decision `json:"decided,omitempty"`
	decidedBy string
}

// Test judges all cases, shows those with another verdict than expected, and returns an error if there are any.
func (c *Cases) Test(screen *tty.Screen, rules *policy.Policy, asJSON bool) error {
	found := []differing{}
	for i := range c.all {
		one := &c.all[i]
		if v := one.judge(rules); v.Verdict != one.Verdict {
			found = append(found, differing{
				Case: i + 1, Line: one.Tool.At.Line, Tool: fullName(one.tool.Ref), Caller: one.Caller,
				Expected: one.Verdict.String(), Verdict: v.Verdict.String(), Decided: decisionOf(v.Judgement), decidedBy: decidedBy(v.Judgement),
			})
		}
	}
	if asJSON {
		result := struct {
			Cases   int         `json:"cases"`
			Differ  int         `json:"differ"`
			Details []differing `json:"differing"`
		}{len(c.all), len(found), found}
		if err := tty.WriteJSON(screen, result); err != nil {
			return err
		}
	} else {
		c.show(screen, found)
	}
	if len(found) == 0 {
		return nil
	}
	return &toolbox.Error{
		Code:    toolbox.CasesDiffer,
		Message: fmt.Sprintf("%d of %s in %s %s not judged as expected", len(found), toolbox.Count(len(c.all), "case", "cases"), c.File, isOrAre(len(found))),
		Hint:    "To see how each rule judges a call: mcp-workbench policy explain TOOL ARGUMENTS",
	}
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func (c *Cases) show(screen *tty.Screen, found []differing) {
	for _, one := range found {
		differs := fmt.Sprintf("%s:%d: case %d, %s called by %s: expected %s, but it is %s", tty.CleanLine(c.File), one.Line,
			one.Case, tty.CleanLine(one.Tool), tty.CleanLine(one.Caller), one.Expected, one.Verdict)
		fmt.Fprintln(screen, screen.Paint(tty.Bad, "✗")+" "+screen.Wrap(differs, 2))
		fmt.Fprintln(screen, "  "+screen.Wrap(tty.CleanLine(one.decidedBy), 2))
	}
	switch {
	case len(c.all) == 0:
		fmt.Fprintln(screen, "0 cases")
	case len(found) == 0:
		fmt.Fprintf(screen, "%s %s judged as expected\n", screen.Paint(tty.Good, "✓"), toolbox.Count(len(c.all), "case is", "cases are"))
	}
}

func (c *testCase) judge(rules *policy.Policy) verdict {
	counted := make(earlierCalls)
	for _, before := range c.history {
		for _, file := range rules.Explain(query(before, c.Caller)).Files {
			for _, one := range file.Rules {
				if one.Matches && one.Rule.Limit != nil {
					counted[one.Rule]++
				}
			}
		}
	}
	q := query(c.tool, c.Caller)
	q.Arguments = c.Arguments
	return judge(rules, q, counted)
}

// query asks about a tool.
func query(tool console.Definition, caller string) *policy.Query {
	return &policy.Query{Caller: caller, Ref: tool.Ref, Tool: tool.Tool.Definition, HintsDoubted: tool.Tool.HintsDoubted, Folder: tool.Folder, Others: tool.NamedFolders}
}

// earlierCalls counts the calls of a case's history, all of which were just now and by one caller.
type earlierCalls map[*config.PolicyRule]int

// Used implements Counter.
func (e earlierCalls) Used(claim policy.Claim) (calls int, again time.Duration, err error) {
	return e[claim.Rule], claim.Rule.Limit.Window, nil
}
