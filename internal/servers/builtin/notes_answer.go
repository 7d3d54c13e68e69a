package builtin

import (
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

type notesOutput struct {
	Notes   []note `json:"notes" jsonschema:"Notes found, newest first"`
	LeftOut int    `json:"left_out" jsonschema:"How many more there are than were returned"`
	Note    string `json:"note,omitempty" jsonschema:"What was left out, and how to get it"`
}

// pick returns the newest wanted notes, as many as fit.
func pick(kept []note, limit int, wanted func(*note) bool) (*mcp.CallToolResult, *notesOutput, error) {
	out := &notesOutput{Notes: []note{}}
	size := 0
	for i := len(kept) - 1; i >= 0; i-- {
		k := &kept[i]
		if !wanted(k) {
			continue
		}
		size += len(k.Text)
		// Notes are returned whole or not at all; the first one always.
		if len(out.Notes) >= limit || len(out.Notes) > 0 && size > maxAnswerBytes {
			out.LeftOut++
			continue
		}
		out.Notes = append(out.Notes, *k)
	}
	if out.LeftOut > 0 {
		out.Note = fmt.Sprintf("%s left out; ask for more, narrow with words or a tag, or get one by its id.", toolbox.Count(out.LeftOut, "older note was", "older notes were"))
	}
	return answer(out.String(), out.Note), out, nil
}

func (o *notesOutput) String() string {
	if len(o.Notes) == 0 {
		return "No notes found."
	}
	var b strings.Builder
	for i, k := range o.Notes {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "[%d]", k.ID)
		if k.Title != "" {
			b.WriteString(" " + k.Title)
		}
		fmt.Fprintf(&b, " (%s", k.Created.Format(time.RFC3339))
		if len(k.Tags) > 0 {
			b.WriteString(", tags: " + strings.Join(k.Tags, ", "))
		}
		fmt.Fprintf(&b, ")\n%s\n", strings.TrimRight(k.Text, "\n"))
	}
	return b.String()
}
