package clients

import (
	"path/filepath"
	"testing"
)

// This file is the clients that have a model, and how each is run.

// agent is a client that has a model.
type agent struct {
	name   string // of its folder in npm
	title  string // as the documents have it
	client string // as 'mcp-workbench connect' has it
	era    string // the revision that it speaks as it is pinned
	legacy bool   // is kept because it is old
	long   bool   // is left out of a short run
	// settle writes the settings that its user would have made before.
	settle func(b *bench)
	// command is all but the question, which comes last.
	command  func(t *testing.T, i installation) []string
	question string // if it is another one
	env      func(model string) []string
}

// modelName is the one that clients which insist on one get.
const modelName = "stand-in"

// modern is the revision without sessions, in which all that a client asks for at its start comes
// without an opened toolbox.
const modern = "2026-07-28"

var agents = []agent{
	{
		name: "claude-code", title: "Claude Code", client: "claude-code", era: modern,
		command: func(_ *testing.T, i installation) []string {
			return []string{i.path("@anthropic-ai", "claude-code-"+platform(), "claude"), "--allowedTools=mcp__workbench", "-p"}
		},
		env: claudeEnv,
	},
	{
		name: "claude-code-legacy", title: "Claude Code", client: "claude-code", era: "2025-11-25", legacy: true,
		command: func(t *testing.T, i installation) []string {
			return []string{node(t), i.path("@anthropic-ai", "claude-code", "cli.js"), "--allowedTools=mcp__workbench", "-p"}
		},
		env: claudeEnv,
	},
	{
		name: "codex", title: "Codex", client: "codex", era: "2025-06-18",
		settle: func(b *bench) {
			b.write(".codex/config.toml", `model = "`+modelName+`"
model_provider = "local"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.local]
name = "local"
base_url = "`+b.model.address+`/v1"
wire_api = "responses"
`)
		},
		command: func(_ *testing.T, i installation) []string {
			programs, _ := filepath.Glob(i.path("@openai", "codex-"+platform(), "vendor", "*", "bin", "codex"))
			return append(programs, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
		},
	},
	{
		name: "gemini-cli", title: "Gemini CLI", client: "gemini", era: "2025-06-18",
		settle: func(b *bench) {
			b.write(".gemini/settings.json", object{
				"security": object{"auth": object{"selectedType": "gemini-api-key"}},
				"privacy":  object{"usageStatisticsEnabled": false},
				"general":  object{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
			})
		},
		command: func(t *testing.T, i installation) []string {
			return []string{node(t), i.path("@google", "gemini-cli", "bundle", "gemini.js"), "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust", "-p"}
		},
		env: func(model string) []string {
			return []string{"GEMINI_API_KEY=none-is-needed", "GOOGLE_GEMINI_BASE_URL=" + model, "GEMINI_TELEMETRY_ENABLED=false"}
		},
	},
	{
		name: "opencode", title: "opencode", client: "opencode", era: "2025-11-25",
		settle: func(b *bench) {
			b.write(".config/opencode/opencode.json", object{
				"model": "local/" + modelName, "autoupdate": false, "share": "disabled",
				"provider": object{"local": object{
					"npm": "@ai-sdk/openai-compatible", "options": object{"baseURL": b.model.address + "/v1", "apiKey": "none-is-needed"},
					"models": object{modelName: object{}},
				}},
			})
		},
		command: func(_ *testing.T, i installation) []string {
			return []string{i.path("opencode-"+platform(), "bin", "opencode"), "run"}
		},
		env: func(string) []string {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
		},
	},
	{
		name: "qwen-code", title: "Qwen Code", client: "qwen", era: "2025-11-25", long: true,
		settle: func(b *bench) {
			b.write(".qwen/settings.json", object{
				"security": object{"auth": object{"selectedType": "openai"}}, "privacy": object{"usageStatisticsEnabled": false},
				"general": object{"enableAutoUpdate": false}, "model": object{"name": modelName},
			})
		},
		command: func(t *testing.T, i installation) []string {
			return []string{node(t), i.path("@qwen-code", "qwen-code", "cli.js"), "--yolo", "-p"}
		},
		env: func(model string) []string {
			return []string{"OPENAI_API_KEY=none-is-needed", "OPENAI_BASE_URL=" + model + "/v1", "OPENAI_MODEL=" + modelName}
		},
	},
}

func claudeEnv(model string) []string {
	return []string{
		"ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=none-is-needed",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
	}
}
