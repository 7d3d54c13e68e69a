package clients

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// fake is a machine with these variables and files.
func fake(goos string, env map[string]string, files ...string) Machine {
	return Machine{
		OS:     goos,
		Getenv: func(name string) string { return env[name] },
		Exists: func(file string) bool { return slices.Contains(files, file) },
		Glob: func(pattern string) (found []string) {
			for _, file := range files {
				if ok, _ := path.Match(strings.ReplaceAll(pattern, `\`, "/"), strings.ReplaceAll(file, `\`, "/")); ok {
					found = append(found, file)
				}
			}
			return found
		},
	}
}

var (
	linuxEnv   = map[string]string{"HOME": "/home/me"}
	macEnv     = map[string]string{"HOME": "/Users/me"}
	windowsEnv = map[string]string{"USERPROFILE": `C:\Users\me`, "APPDATA": `C:\Users\me\AppData\Roaming`, "LOCALAPPDATA": `C:\Users\me\AppData\Local`}
)

func TestFiles(t *testing.T) {
	for id, want := range map[string][3]string{
		"claude-code":     {"/home/me/.claude.json", "/Users/me/.claude.json", `C:\Users\me\.claude.json`},
		"claude-desktop":  {"/home/me/.config/Claude/claude_desktop_config.json", "/Users/me/Library/Application Support/Claude/claude_desktop_config.json", `C:\Users\me\AppData\Roaming\Claude\claude_desktop_config.json`},
		"cursor":          {"/home/me/.cursor/mcp.json", "/Users/me/.cursor/mcp.json", `C:\Users\me\.cursor\mcp.json`},
		"vscode":          {"/home/me/.config/Code/User/mcp.json", "/Users/me/Library/Application Support/Code/User/mcp.json", `C:\Users\me\AppData\Roaming\Code\User\mcp.json`},
		"vscode-insiders": {"/home/me/.config/Code - Insiders/User/mcp.json", "/Users/me/Library/Application Support/Code - Insiders/User/mcp.json", `C:\Users\me\AppData\Roaming\Code - Insiders\User\mcp.json`},
		"devin":           {"/home/me/.config/devin/mcp_config.json", "/Users/me/.config/devin/mcp_config.json", `C:\Users\me\AppData\Roaming\devin\mcp_config.json`},
		"windsurf":        {"/home/me/.codeium/windsurf/mcp_config.json", "/Users/me/.codeium/windsurf/mcp_config.json", `C:\Users\me\.codeium\windsurf\mcp_config.json`},
		"zed":             {"/home/me/.config/zed/settings.json", "/Users/me/.config/zed/settings.json", `C:\Users\me\AppData\Roaming\Zed\settings.json`},
		"junie":           {"/home/me/.junie/mcp/mcp.json", "/Users/me/.junie/mcp/mcp.json", `C:\Users\me\.junie\mcp\mcp.json`},
		"codex":           {"/home/me/.codex/config.toml", "/Users/me/.codex/config.toml", `C:\Users\me\.codex\config.toml`},
		"gemini":          {"/home/me/.gemini/settings.json", "/Users/me/.gemini/settings.json", `C:\Users\me\.gemini\settings.json`},
		"qwen":            {"/home/me/.qwen/settings.json", "/Users/me/.qwen/settings.json", `C:\Users\me\.qwen\settings.json`},
		"copilot-cli":     {"/home/me/.copilot/mcp-config.json", "/Users/me/.copilot/mcp-config.json", `C:\Users\me\.copilot\mcp-config.json`},
		"cline":           {"/home/me/.cline/data/settings/cline_mcp_settings.json", "/Users/me/.cline/data/settings/cline_mcp_settings.json", `C:\Users\me\.cline\data\settings\cline_mcp_settings.json`},
		"roo":             {"/home/me/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json", "/Users/me/Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json", `C:\Users\me\AppData\Roaming\Code\User\globalStorage\rooveterinaryinc.roo-cline\settings\mcp_settings.json`},
		"continue":        {"/home/me/.continue/config.yaml", "/Users/me/.continue/config.yaml", `C:\Users\me\.continue\config.yaml`},
		"goose":           {"/home/me/.config/goose/config.yaml", "/Users/me/.config/goose/config.yaml", `C:\Users\me\AppData\Roaming\Block\goose\config\config.yaml`},
		"lmstudio":        {"/home/me/.lmstudio/mcp.json", "/Users/me/.lmstudio/mcp.json", `C:\Users\me\.lmstudio\mcp.json`},
		"kiro":            {"/home/me/.kiro/settings/mcp.json", "/Users/me/.kiro/settings/mcp.json", `C:\Users\me\.kiro\settings\mcp.json`},
		"amazonq":         {"/home/me/.aws/amazonq/mcp.json", "/Users/me/.aws/amazonq/mcp.json", `C:\Users\me\.aws\amazonq\mcp.json`},
		"opencode":        {"/home/me/.config/opencode/opencode.json", "/Users/me/.config/opencode/opencode.json", `C:\Users\me\.config\opencode\opencode.json`},
		"crush":           {"/home/me/.config/crush/crushrc", "/Users/me/.config/crush/crushrc", `C:\Users\me\.config\crush\crushrc`},
		"warp":            {"/home/me/.warp/.mcp.json", "/Users/me/.warp/.mcp.json", `C:\Users\me\.warp\.mcp.json`},
		"amp":             {"/home/me/.config/amp/settings.json", "/Users/me/.config/amp/settings.json", `C:\Users\me\.config\amp\settings.json`},
	} {
		client := ByID(id)
		if client == nil {
			t.Errorf("there is no client %q", id)
			continue
		}
		for i, machine := range []Machine{fake("linux", linuxEnv), fake("darwin", macEnv), fake("windows", windowsEnv)} {
			if got := client.Files(machine); !slices.Equal(got, []string{want[i]}) {
				t.Errorf("%s on %s: %q, want %q", id, machine.OS, got, want[i])
			}
		}
	}
	if got := len(All()); got != 24 {
		t.Errorf("%d clients; add a new one to this test", got)
	}
}

func TestFilesThatMove(t *testing.T) {
	const family = `C:\Users\me\AppData\Local\Packages\Claude_pzs8sxrjxfjjc`
	const packaged = family + `\LocalCache\Roaming\Claude\claude_desktop_config.json`
	const ordinary = `C:\Users\me\AppData\Roaming\Claude\claude_desktop_config.json`
	with := func(env map[string]string, name, value string) map[string]string {
		return map[string]string{"HOME": env["HOME"], name: value}
	}
	for _, test := range []struct {
		name, id string
		machine  Machine
		want     []string
	}{
		{"variable", "codex", fake("linux", with(linuxEnv, "CODEX_HOME", "/x")), []string{"/x/config.toml"}},
		{"XDG", "zed", fake("linux", with(linuxEnv, "XDG_CONFIG_HOME", "/x")), []string{"/x/zed/settings.json"}},
		{"relative XDG", "zed", fake("linux", with(linuxEnv, "XDG_CONFIG_HOME", "x")), []string{"/home/me/.config/zed/settings.json"}},
		{"first variable", "cline", fake("linux", map[string]string{"CLINE_DIR": "/b", "CLINE_MCP_SETTINGS_PATH": "/a.json"}), []string{"/a.json"}},
		{"one that exists", "crush", fake("linux", linuxEnv, "/home/me/.config/crush/crush.json"), []string{"/home/me/.config/crush/crush.json"}},
		{"first that exists", "opencode", fake("linux", linuxEnv, "/home/me/.config/opencode/opencode.json", "/home/me/.config/opencode/opencode.jsonc"), []string{"/home/me/.config/opencode/opencode.jsonc"}},
		{"no home", "cursor", fake("linux", nil), nil},
		{"package", "claude-desktop", fake("windows", windowsEnv, family), []string{packaged}},
		{"package in use", "claude-desktop", fake("windows", windowsEnv, family, packaged, ordinary), []string{packaged}},
		{"package without a file, and a file", "claude-desktop", fake("windows", windowsEnv, family, ordinary), []string{packaged, ordinary}},
		{"two packages", "claude-desktop", fake("windows", windowsEnv, family, family+"x"), []string{packaged, family + `x\LocalCache\Roaming\Claude\claude_desktop_config.json`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := ByID(test.id).Files(test.machine); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestProjectFile(t *testing.T) {
	for _, test := range []struct{ id, there, want string }{
		{"claude-code", "", "/p/.mcp.json"},
		{"opencode", "", "/p/opencode.json"},
		{"opencode", "/p/opencode.jsonc", "/p/opencode.jsonc"},
		{"lmstudio", "", ""},
	} {
		if got := ByID(test.id).ProjectFile(fake("linux", linuxEnv, test.there), "/p"); got != test.want {
			t.Errorf("%s: %q, want %q", test.id, got, test.want)
		}
	}
}
