package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// marks are the symbols of verdicts; a running step has none yet.
var marks = map[Verdict]struct {
	text  string
	style tty.Style
}{
	Fine: {"✓", tty.Good}, Warning: {"!", tty.Caution}, Failed: {"✗", tty.Bad}, Skipped: {"-", tty.Faint}, "": {"…", tty.Faint},
}

func mark(screen *tty.Screen, v Verdict) string {
	return screen.Paint(marks[v].style, marks[v].text)
}

// indent is the indentation of details below the name of their subject.
const indent = "    "

// ShowChecks writes the checks, with advice for those that failed.
func ShowChecks(screen *tty.Screen, checks []Check) {
	for _, check := range checks {
		fmt.Fprintf(screen, "%s %s\n", mark(screen, check.Verdict), screen.Wrap(check.Name+": "+tty.Clean(check.Detail), 2))
		if check.Fix != "" {
			label := "fix"
			if check.Verdict == Skipped { // nothing is wrong
				label = "next"
			}
			writeDetail(screen, label, tty.Clean(check.Fix))
		}
	}
}

// Title returns the line of a server: its result, or the progress of its start. names is the width of the longest name.
func Title(screen *tty.Screen, server Server, done bool, names int) string {
	name := fmt.Sprintf("%-*s", names, tty.CleanLine(server.Toolbox+"/"+server.Name))
	if !done {
		return fmt.Sprintf("%s %s  %s", mark(screen, ""), name, underWay(screen, server.Steps))
	}
	text := ""
	switch server.Verdict {
	case Skipped:
		if text = "disabled"; server.isPerPerson() {
			text = "not tried: each person has an account of their own there"
		}
	case Failed:
		if text = "its definition is wrong"; !server.faulty {
			text, _, _ = strings.Cut(tty.CleanLine(server.Error), "; ") // the rest follows below
		}
	default:
		tools := toolbox.Count(server.Tools, "tool", "tools")
		if server.Denied > 0 {
			tools += fmt.Sprintf(" (%d denied by the policy)", server.Denied)
		}
		parts := []string{tools + " in " + seconds(server.Took)}
		if server.Software != "" {
			parts = append(parts, tty.CleanLine(server.Software))
		}
		parts = append(parts, "revision "+tty.CleanLine(server.Revision))
		if server.Login != nil && server.Login.Issuer != "" {
			parts = append(parts, "signed in at "+tty.CleanLine(server.Login.Issuer))
		}
		text = strings.Join(append(parts, tty.CleanLine(server.Steps[0].Detail)), ", ")
	}
	return fmt.Sprintf("%s %s  %s", mark(screen, server.Verdict), screen.Paint(tty.Name, name), text)
}

// underWay shows the completed steps, and the duration of the current one.
func underWay(screen *tty.Screen, steps []Step) string {
	var texts []string
	for _, step := range steps {
		text := step.Name + " " + mark(screen, step.Verdict)
		if step.Verdict == "" {
			text += " " + seconds(step.Took)
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return "waits for its turn"
	}
	return strings.Join(texts, "  ")
}

// ShowTroubles writes the details and advice below the titles of servers.
func ShowTroubles(screen *tty.Screen, servers []Server) {
	for _, server := range servers {
		if server.Verdict != Failed && len(server.Warnings) == 0 {
			continue
		}
		fmt.Fprintf(screen, "\n%s\n", screen.Paint(tty.Strong, tty.CleanLine(server.Toolbox+"/"+server.Name)))
		if server.Verdict == Failed {
			showFailure(screen, server)
		}
		for _, warning := range server.Warnings {
			writeDetail(screen, "warning", tty.Clean(warning))
		}
	}
	var notes []string
	for _, server := range servers {
		if server.Note != "" && !slices.Contains(notes, server.Note) {
			notes = append(notes, server.Note)
			fmt.Fprintf(screen, "\n%s\n", screen.Wrap("Note: "+tty.Clean(server.Note), 0))
		}
	}
}

func showFailure(screen *tty.Screen, server Server) {
	for _, step := range server.Steps {
		text := mark(screen, step.Verdict) + " " + tty.CleanLine(step.Detail)
		if step.Verdict == Failed {
			text = mark(screen, Failed) + " after " + seconds(step.Took) + ": " + tty.Clean(server.Error)
		}
		writeDetail(screen, step.Name, text)
	}
	if len(server.Steps) == 0 {
		writeDetail(screen, "error", tty.Clean(server.Error))
	}
	if server.Login != nil {
		showLogin(screen, server.Login)
	}
	for i, line := range server.Stderr {
		label := ""
		if i == 0 {
			label = "stderr"
		}
		writeDetail(screen, label, screen.Paint(tty.Faint, "| ")+tty.Clean(line))
	}
	if server.Fix != "" {
		writeDetail(screen, "fix", tty.Clean(server.Fix))
	}
}

// labels is the width of the labels of details: that of the longest step.
const labels = len("handshake")

// writeDetail writes a label and a text; further lines are aligned with the first.
func writeDetail(screen *tty.Screen, label, text string) {
	fmt.Fprintf(screen, "%s%s  %s\n", indent, screen.Paint(tty.Strong, fmt.Sprintf("%-*s", labels, label)),
		screen.Wrap(text, len(indent)+labels+2))
}

// ShowSummary writes how many servers work.
func ShowSummary(screen *tty.Screen, r *Report) {
	parts := []string{toolbox.Count(r.Summary.Fine, "server works", "servers work")}
	if r.Summary.Failed > 0 {
		parts = append(parts, screen.Paint(tty.Bad, toolbox.Count(r.Summary.Failed, "fails", "fail")))
	}
	own := 0
	for i := range r.Servers {
		if r.Servers[i].isPerPerson() {
			own++
		}
	}
	if own > 0 {
		parts = append(parts, toolbox.Count(own, "was not tried", "were not tried"))
	}
	if disabled := r.Summary.Skipped - own; disabled > 0 {
		parts = append(parts, toolbox.Count(disabled, "is disabled", "are disabled"))
	}
	if r.Summary.Warnings > 0 {
		parts = append(parts, screen.Paint(tty.Caution, toolbox.Count(r.Summary.Warnings, "warning", "warnings")))
	}
	fmt.Fprintf(screen, "\n%s\n", strings.Join(parts, ", "))
}

func seconds(took Millis) string {
	return fmt.Sprintf("%.1fs", (time.Duration(took) * time.Millisecond).Seconds())
}
