package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The help of all commands fits a terminal and reads alike, and the page about them has all.
func TestEveryCommandIsExplained(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	const room = 80 - len("  completion  ")
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		switch {
		case cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || len(cmd.Short) > room:
			t.Errorf("%s: %q is no sentence without a full stop in %d columns", path, cmd.Short, room)
		case cmd.Example == "":
			t.Errorf("%s has no example", path)
		case !regexp.MustCompile(`\b` + cmd.Name() + `\b`).Match(page):
			t.Errorf("%s is not in docs/commands.md", path)
		}
		for _, sub := range cmd.Commands() {
			if sub.Hidden {
				continue
			}
			if cmd.Parent() == nil && sub.GroupID == "" {
				t.Errorf("%s is in no group", sub.CommandPath())
			}
			check(sub)
		}
	}
	check(newRoot())
}
