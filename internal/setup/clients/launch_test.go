package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// What a client is told to start is there for longer than this run.
func TestLaunch(t *testing.T) {
	own := filepath.Join(t.TempDir(), "mcp-workbench")
	if err := os.WriteFile(own, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	const (
		npx    = "npx -y mcp-workbench"
		global = "/usr/lib/node_modules/mcp-workbench/node_modules/@mcp-workbench/linux-x64/bin/mcp-workbench"
	)
	hash := strings.Repeat("0a", 32)
	for _, test := range []struct {
		name, program, system string
		found                 map[string]string // in PATH
		want                  string            // the words of the command, or ""
		note                  string            // a part of it
	}{
		{"installed", "/opt/mcp-workbench", "linux", nil, "/opt/mcp-workbench", ""},
		{"in PATH", own, "linux", map[string]string{"mcp-workbench": own}, own, ""},
		{"another in PATH", "/opt/mcp-workbench", "linux", map[string]string{"mcp-workbench": own}, "/opt/mcp-workbench", ""},
		{"global npm package", global, "linux", nil, global, ""},
		{"npx", "/home/me/.npm/_npx/15b07286cbcc3329/node_modules/@mcp-workbench/linux-x64/bin/mcp-workbench", "linux", nil, npx, "cache"},
		{"npx on Windows", `C:\Users\me\AppData\Local\npm-cache\_npx\0a\node_modules\@mcp-workbench\win32-x64\bin\mcp-workbench.exe`, "windows", nil, "cmd /c " + npx, "'npx -y mcp-workbench'"},
		{"pnpm dlx", "/home/me/.cache/pnpm/dlx/0a/node_modules/.pnpm/x/mcp-workbench", "linux", map[string]string{"npx": "/usr/bin/npx", "pnpm": "/usr/bin/pnpm"}, npx, "cache"},
		{"pnpm alone", "/home/me/.cache/pnpm/dlx/0a/node_modules/.pnpm/x/mcp-workbench", "linux", map[string]string{"pnpm": "/usr/bin/pnpm"}, "pnpm dlx mcp-workbench", "cache"},
		{"pnpm store", "/home/me/.local/share/pnpm/store/v11/links/x/mcp-workbench", "linux", nil, npx, "cache"},
		{"yarn dlx", "/tmp/xfs-0a1b/dlx-4711/node_modules/x/mcp-workbench", "linux", nil, npx, "cache"},
		{"bunx", "/tmp/bunx-1000-mcp-workbench@latest/node_modules/x/mcp-workbench", "linux", map[string]string{"bunx": "/home/me/.bun/bin/bunx"}, "bunx mcp-workbench", "cache"},
		{"cache of bun", "/home/me/.bun/install/cache/x/mcp-workbench", "linux", nil, npx, "cache"},
		{"temporary", "/tmp/download/mcp-workbench", "linux", nil, "/tmp/download/mcp-workbench", "temporary"},
		{"temporary elsewhere", "/scratch/mcp-workbench", "linux", nil, "/scratch/mcp-workbench", "temporary"},
		{"go run", "/tmp/go-build2871407994/b001/exe/mcp-workbench", "linux", nil, "", ""},
		{"go run from its cache", "/home/me/.cache/go-build/0a/" + hash + "-d/mcp-workbench", "linux", nil, "", ""},
		{"go run on Windows", `C:\Temp\go-build287\b001\exe\mcp-workbench.exe`, "windows", nil, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			launch, err := launchOf(test.program, test.system, "/scratch", func(name string) string { return test.found[name] })
			if (err != nil) != (test.want == "") || err != nil && !strings.Contains(tty.Describe(err), "code: program-temporary") {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			words := append([]string{launch.Command}, launch.Runner...)
			if !slices.Equal(words, strings.Fields(test.want)) {
				t.Errorf("got %q, want %q", words, test.want)
			}
			if (launch.Note != "") != (test.note != "") || !strings.Contains(launch.Note, test.note) {
				t.Errorf("note: %q", launch.Note)
			}
			if len(launch.Runner) == 0 {
				return
			}
			if args, ok := WorkbenchArgs(append(words, "--shared")); !ok || !slices.Equal(args, []string{"--shared"}) {
				t.Errorf("the entry is not recognised: %q, %v", args, ok)
			}
		})
	}
}
