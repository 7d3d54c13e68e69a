package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// What ordinary permissions refuse is not blamed on the sandbox: the workbench could not do it either.
func TestExplainOrdinaryPermissions(t *testing.T) {
	if os.Getuid() == 0 { // who may do everything
		if err := mcptest.AsNobody(t.TempDir(), "^TestExplainOrdinaryPermissions$"); err != nil {
			t.Error(err)
		}
		return
	}
	folder := t.TempDir()
	closed := filepath.Join(folder, "closed")
	if err := os.WriteFile(closed, nil, 0o000); err != nil {
		t.Fatal(err)
	}
	for _, plan := range []*Plan{{ReadAll: true, Dir: folder}, {Dir: folder}} {
		for _, line := range []string{
			"cat: /etc/shadow: Permission denied",
			"cat: " + closed + ": Permission denied",
			"Error: EACCES: permission denied, open '/etc/shadow'",
			"PermissionError: [Errno 13] Permission denied: '" + closed + "'",
			"ls: cannot open directory '/proc/1/fd': Permission denied",
			"cat: /proc/1/environ: Permission denied",
			"touch: cannot touch '/etc/new': Permission denied",
			"sh: 1: cannot create /usr/new: Permission denied",
		} {
			if denials := plan.Explain([]string{line}); denials != nil {
				t.Errorf("%q is explained by %v", line, denials)
			}
		}
	}
}

// No folder is proposed that gives a server more than its own.
func TestExplainProposesNoSharedFolders(t *testing.T) {
	top := t.TempDir()
	home, project := filepath.Join(top, "home"), filepath.Join(top, "project")
	for _, path := range []string{home, filepath.Join(home, "mine"), project} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	plan := &Plan{ReadAll: true, Settings: []string{filepath.Join(project, "mcp.json")}}
	for _, test := range []struct {
		path     string
		proposed bool
	}{
		{filepath.Join(home, "mine/new"), true},
		{filepath.Join(home, "new"), false},
		{filepath.Join(project, "new"), false},
		{filepath.Join(top, "new"), false},
		{"/tmp/new", false},
		{"/new", false},
		{"/etc/new", false},
		{"/etc/ssl/new", false},
		{"/usr/new", false},
		{"/dev/new", false},
		{"/sys/new", false},
		{"/var/new", false},
	} {
		denials := plan.Explain([]string{"touch: cannot touch '" + test.path + "': Permission denied"})
		if proposes := strings.Contains(fmt.Sprint(denials), `"sandbox"`); proposes != test.proposed {
			t.Errorf("%s: %v, proposed: %t, want %t", test.path, denials, proposes, test.proposed)
		}
		if !test.proposed && len(denials) == 1 && denials[0].String() != "the sandbox refused "+test.path+": it lies outside of what the server may write" {
			t.Errorf("%s: %v", test.path, denials)
		}
	}
	if denials := plan.Explain([]string{"cat: /proc/self/environ: Permission denied"}); len(denials) != 1 || denials[0].Fix != "" {
		t.Errorf("another process: %v", denials)
	}
}
