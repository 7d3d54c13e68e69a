package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/docs"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

func newExplain() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Explain an error code, or list all of them",
		Long: `Explain an error code: what happened, the usual causes, and what to do. The code is in the
last line of an error. Without CODE, list all codes.`,
		Example: `  mcp-workbench explain
  mcp-workbench explain toolbox-not-found`,
		Args:      atMostOne("one code"),
		ValidArgs: errorCodes(),
		RunE: func(cmd *cobra.Command, args []string) error {
			sections, err := explanations(args)
			if err != nil {
				return err
			}
			if asJSON {
				return writeExplanations(cmd, sections)
			}
			screen := screenOf(cmd)
			if len(args) == 0 {
				return listCodes(screen, sections)
			}
			return explain(screen, sections[0])
		},
	}
	addJSONFlag(cmd, &asJSON, "print the explanations as JSON")
	return cmd
}

func errorCodes() []string {
	var codes []string
	for _, section := range docs.Errors() {
		codes = append(codes, section.Code)
	}
	return codes
}

// explanations returns the section of a code, or all.
func explanations(args []string) ([]docs.Section, error) {
	all := docs.Errors()
	if len(args) == 0 {
		return all, nil
	}
	for _, section := range all {
		if strings.EqualFold(section.Code, args[0]) {
			return []docs.Section{section}, nil
		}
	}
	unknown := &toolbox.Error{
		Code:    toolbox.UnknownCode,
		Message: fmt.Sprintf("Unknown error code '%s'", tty.CleanLine(args[0])),
		Hint:    "To list all codes: mcp-workbench explain",
	}
	if near := toolbox.Nearest(args[0], errorCodes(), 1); len(near) > 0 {
		unknown.Hint = "Did you mean '" + near[0] + "'?"
	}
	return nil, unknown
}

func listCodes(screen *tty.Screen, sections []docs.Section) error {
	rows := make([][]tty.Cell, len(sections))
	for i, section := range sections {
		first, _, _ := strings.Cut(strings.ReplaceAll(section.Text, "\n", " "), ". ")
		rows[i] = []tty.Cell{{Text: section.Code, Style: tty.Name}, {Text: plainMarkdown(strings.TrimSuffix(first, "."))}}
	}
	screen.Table(nil, rows)
	return nil
}

func explain(screen *tty.Screen, section docs.Section) error {
	fmt.Fprintln(screen, screen.Paint(tty.Strong, section.Code))
	for _, block := range blocks(plainMarkdown(section.Text)) {
		if item, ok := strings.CutPrefix(block, "- "); ok {
			fmt.Fprintln(screen, "- "+screen.Wrap(item, 2))
		} else {
			fmt.Fprintf(screen, "\n%s\n\n", screen.Wrap(block, 0))
		}
	}
	return nil
}

// blocks returns the paragraphs and the items of lists of a page, each on one line.
func blocks(text string) []string {
	var all []string
	begins := true
	for line := range strings.SplitSeq(text, "\n") {
		switch line = strings.TrimSpace(line); {
		case line == "":
			begins = true
			continue
		case begins || strings.HasPrefix(line, "- "):
			all = append(all, line)
		default:
			all[len(all)-1] += " " + line
		}
		begins = false
	}
	return all
}

var pageLinks = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)

// plainMarkdown removes Markdown except code marks, which delimit commands in a terminal, too.
func plainMarkdown(text string) string {
	text = strings.ReplaceAll(text, "**", "")
	return pageLinks.ReplaceAllString(text, "$1 (docs/$2)")
}

func writeExplanations(cmd *cobra.Command, sections []docs.Section) error {
	type explanation struct {
		Code string `json:"code"`
		Text string `json:"text"`
	}
	list := make([]explanation, len(sections))
	for i, section := range sections {
		list[i] = explanation(section)
	}
	return writeJSON(cmd, struct {
		Explanations []explanation `json:"explanations"`
	}{list})
}
