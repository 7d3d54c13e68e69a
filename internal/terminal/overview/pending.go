package overview

import "github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"

// AnsweredAtPage is the command that opens the page, for what no terminal can answer.
const AnsweredAtPage = "mcp-workbench ui"

// Pending is how much waits for a person in a workbench.
type Pending struct {
	Terminal int // calls that may be approved at a terminal
	Page     int // calls that may be approved on the page only
	Asked    int // questions of servers
}

// Lines say what waits, and where a person answers it. The command that approves calls may have flags.
func (p Pending) Lines(approve string) []string {
	var lines []string
	if p.Asked > 0 {
		lines = append(lines, toolbox.Count(p.Asked, "question of a server waits", "questions of servers wait")+" for an answer: "+AnsweredAtPage)
	}
	if p.Terminal > 0 {
		lines = append(lines, toolbox.Count(p.Terminal, "call waits", "calls wait")+" for approval: "+approve)
	}
	if p.Page > 0 {
		lines = append(lines, toolbox.Count(p.Page, "call waits", "calls wait")+" for approval: "+AnsweredAtPage)
	}
	return lines
}
