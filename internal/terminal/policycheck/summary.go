package policycheck

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

// Summarize writes which policy is in force, and which tools it hides from whom.
func Summarize(screen *tty.Screen, cfg *config.Config, known *console.Definitions) {
	rules := policy.New(cfg)
	if rules == nil {
		fmt.Fprintln(screen, screen.Wrap("There is no policy, so that every call is allowed. To start with one: mcp-workbench policy suggest", 0))
		return
	}
	for _, file := range cfg.Policy.Files {
		parts := []string{"default " + file.Default.String(), toolbox.Count(len(file.Rules), "rule", "rules")}
		if len(file.Classes) > 0 {
			parts = append(parts, toolbox.Count(len(file.Classes), "class", "classes"))
		}
		path := tty.CleanLine(file.Path)
		fmt.Fprintln(screen, screen.Wrap(screen.Paint(tty.Name, path)+": "+strings.Join(parts, ", "), 0))
	}
	if len(cfg.Policy.Files) > 1 {
		fmt.Fprintln(screen, "Each file is judged alone, and the strictest verdict counts.")
	}
	ask := cfg.Policy.Ask
	questions := fmt.Sprintf("Questions go to the %s. Without an answer within %s, the call is denied.", strings.Join(ask.Via, ", then the "), span(ask.Timeout))
	fmt.Fprint(screen, screen.Wrap(questions, 0), "\n\n")
	tools := known.All()
	var rows [][]tty.Cell
	for _, caller := range callersOf(rules) {
		rows = append(rows, tty.Cells(caller, fmt.Sprintf("%d of %d", hiddenFrom(rules, tools, caller), len(tools))))
	}
	screen.Table([]string{"CALLER", "TOOLS HIDDEN"}, rows)
	if unknown := len(known.Unknown()); unknown > 0 {
		fmt.Fprintf(screen, "%s never connected; their tools are not counted.\n", toolbox.Count(unknown, "server was", "servers were"))
	}
}

// Summary is Summarize for scripts.
type Summary struct {
	Files   []summaryFile   `json:"files"` // empty without a policy: every call is allowed
	Ask     *summaryAsk     `json:"ask,omitempty"`
	Callers []summaryCaller `json:"callers"`
	Tools   int             `json:"tools"`          // that are known
	Unknown int             `json:"unknownServers"` // that were never connected
}

type (
	summaryFile struct {
		File    string `json:"file"`
		Default string `json:"default"`
		Rules   int    `json:"rules"`
		Classes int    `json:"classes"`
	}
	summaryAsk struct {
		Via     []string `json:"via"`
		Seconds float64  `json:"timeoutSeconds"`
	}
	summaryCaller struct {
		Caller string `json:"caller"`
		Hidden int    `json:"hiddenTools"`
	}
)

// NewSummary summarises the policy in force.
func NewSummary(cfg *config.Config, known *console.Definitions) Summary {
	tools := known.All()
	s := Summary{Files: []summaryFile{}, Callers: []summaryCaller{}, Tools: len(tools), Unknown: len(known.Unknown())}
	rules := policy.New(cfg)
	if rules == nil {
		return s
	}
	for _, file := range cfg.Policy.Files {
		s.Files = append(s.Files, summaryFile{file.Path, file.Default.String(), len(file.Rules), len(file.Classes)})
	}
	s.Ask = &summaryAsk{append([]string{}, cfg.Policy.Ask.Via...), cfg.Policy.Ask.Timeout.Seconds()}
	for _, caller := range callersOf(rules) {
		s.Callers = append(s.Callers, summaryCaller{caller, hiddenFrom(rules, tools, caller)})
	}
	return s
}

// hiddenFrom counts the tools that a caller does not see.
func hiddenFrom(rules *policy.Policy, tools []console.Definition, caller string) (hidden int) {
	for _, tool := range tools {
		if rules.AlwaysDenies(query(tool, caller)) {
			hidden++
		}
	}
	return hidden
}

// callersOf returns the callers to show: all kinds, and the tokens, people and certificates that rules name.
func callersOf(rules *policy.Policy) []string {
	callers := []string{config.CallerStdio, config.CallerShared, config.CallerTerminal, config.CallerHTTP}
	for _, caller := range rules.Callers() {
		for _, kind := range []string{config.CallerToken, config.CallerPerson, config.CallerCertificate} {
			if strings.HasPrefix(caller, kind) {
				callers = append(callers, caller)
			}
		}
	}
	return callers
}
