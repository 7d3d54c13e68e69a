package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWorkbenchArgs(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	renamed := filepath.Join(t.TempDir(), "bench")
	if err := os.Symlink(own, renamed); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line string
		ok   bool
		args string
	}{
		{"mcp-workbench", true, ""},
		{"/opt/bin/mcp-workbench --config x.json", true, "--config x.json"},
		{`C:\x\mcp-workbench.exe serve`, true, "serve"},
		{renamed + " --toolbox builtin", true, "--toolbox builtin"},
		{"npx -y mcp-workbench@latest --shared", true, "--shared"},
		{"npm exec -- mcp-workbench", true, ""},
		{"pnpm dlx mcp-workbench", true, ""},
		{"node /x/node_modules/.bin/mcp-workbench", true, ""},
		{"go run github.com/mcp-workbench/mcp-workbench/cmd/mcp-workbench@latest -v", true, "-v"},
		{"cmd /c npx mcp-workbench", true, ""},
		{"env A=b mcp-workbench bridge http://x", true, "bridge http://x"},
		{"mcp-workbench builtin notes", false, ""},
		{"mcp-workbench --log-level debug record f -- x", false, ""},
		{"npx -y files /src/mcp-workbench", false, ""},
		{"mcp-remote http://127.0.0.1:7420/mcp", false, ""},
		{"sh", false, ""},
		{"", false, ""},
	} {
		args, ok := WorkbenchArgs(strings.Fields(test.line))
		if ok != test.ok || ok && !slices.Equal(args, strings.Fields(test.args)) {
			t.Errorf("%s: %q, %v", test.line, args, ok)
		}
	}
	if args, ok := WorkbenchArgs([]string{"bash", "-lc", "exec mcp-workbench --shared"}); !ok || !slices.Equal(args, []string{"--shared"}) {
		t.Errorf("in a shell: %q, %v", args, ok)
	}
}
