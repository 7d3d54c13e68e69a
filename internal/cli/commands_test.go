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
	const room = helpWidth - len("  completion  ")
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		switch {
		case cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || len(cmd.Short) > room:
			t.Errorf("%s: %q is no sentence without a full stop in %d columns", path, cmd.Short, room)
		case cmd.Example == "" && cmd.HasParent():
			t.Errorf("%s has no example", path)
		case !regexp.MustCompile(`\b` + cmd.Name() + `\b`).Match(page):
			t.Errorf("%s is not in docs/commands.md", path)
		}
		for _, sub := range cmd.Commands() {
			if sub.Hidden {
				continue
			}
			check(sub)
		}
	}
	check(newRoot())
}

// The help of the program has every command, and fits a screen.
func TestOverview(t *testing.T) {
	root := newRoot()
	var out strings.Builder
	root.SetOut(&out)
	root.SetArgs([]string{"--help"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) > 50 {
		t.Errorf("it has %d lines", len(lines))
	}
	for _, line := range lines {
		if len(line) > helpWidth {
			t.Errorf("too long: %s", line)
		}
	}
	for _, command := range root.Commands() {
		if !command.Hidden && !regexp.MustCompile(`(?m)^  ([a-z]+, )*`+command.Name()+`\b`).MatchString(out.String()) && command.Name() != "help" {
			t.Errorf("%s is not in it:\n%s", command.Name(), &out)
		}
	}
}
