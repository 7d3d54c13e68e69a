package clients

// In places, ~ is the home folder, %NAME% a Windows folder, and $CONFIG the configuration folder of the XDG
// specification.

var anywhere = func(places ...string) map[string][]string { return map[string][]string{"": places} }

// plainEntry is the entry of most clients.
var plainEntry = []field{{"command", program}, {"args", arguments}}

// plainRemote is that of most clients for a workbench over HTTP.
var plainRemote = []field{{"url", address}, {"headers", headers}}

var mcpServers = []string{"mcpServers"}

const (
	restart  = "Quit the client completely and start it again."
	newStart = "Start a new session."
	atOnce   = "The client notices the change by itself."
)

var table = []*Client{
	{
		ID: "claude-code", Title: "Claude Code",
		After: newStart, See: "Type /mcp in a session.",
		places:    anywhere("~/.claude.json"),
		overrides: []override{{"CLAUDE_CONFIG_DIR", []string{"{}/.claude.json"}}},
		project:   []string{".mcp.json"},
		servers:   mcpServers, elsewhere: [][]string{{"projects", "*", "mcpServers"}}, variables: braces,
		entry:    []field{{"type", "stdio"}, {"command", program}, {"args", arguments}, {"env", emptyObject}, {"alwaysLoad", yes}},
		remote:   []field{{"type", "http"}, {"url", address}, {"headers", headers}, {"alwaysLoad", yes}},
		programs: []string{"claude"},
	},
	{
		ID: "claude-desktop", Title: "Claude Desktop",
		After: restart, See: "Open Settings, Developer: the workbench is listed as running.",
		places: map[string][]string{
			"darwin":  {"~/Library/Application Support/Claude/claude_desktop_config.json"},
			"windows": {`%LOCALAPPDATA%/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json`, "%APPDATA%/Claude/claude_desktop_config.json"},
			"":        {"$CONFIG/Claude/claude_desktop_config.json"},
		},
		servers: mcpServers, entry: plainEntry,
		programs: []string{"claude-desktop"},
	},
	{
		ID: "cursor", Title: "Cursor",
		After: atOnce, See: "Open Settings, MCP: the workbench has a green dot.",
		places: anywhere("~/.cursor/mcp.json"), project: []string{".cursor/mcp.json"},
		servers: mcpServers, variables: editor, entry: plainEntry,
		remote: plainRemote, programs: []string{"cursor", "cursor-agent"},
	},
	visualStudioCode("vscode", "VS Code", "Code", "code"),
	visualStudioCode("vscode-insiders", "VS Code Insiders", "Code - Insiders", "code-insiders"),
	{
		ID: "devin", Title: "Devin Desktop (was Windsurf)",
		After: "Press Refresh in the list of MCP servers.", See: "Open the list of MCP servers.",
		places:  map[string][]string{"windows": {"%APPDATA%/devin/mcp_config.json"}, "": {"~/.config/devin/mcp_config.json"}},
		project: []string{".devin/mcp_config.json"},
		servers: mcpServers, variables: editor, entry: plainEntry,
		remote: plainRemote, programs: []string{"devin", "devin-desktop"},
	},
	{
		ID: "windsurf", Title: "Windsurf (before it became Devin Desktop)",
		After: "Press Refresh in the list of MCP servers.", See: "Open the list of MCP servers in Cascade.",
		places:  anywhere("~/.codeium/windsurf/mcp_config.json"),
		servers: mcpServers, variables: editor, entry: plainEntry,
		older:  []olderFile{{anywhere("~/.codeium/mcp_config.json"), mcpServers}},
		remote: []field{{"serverUrl", address}, {"headers", headers}}, programs: []string{"windsurf"},
	},
	{
		ID: "zed", Title: "Zed",
		After: atOnce, See: "Open the agent panel's settings: the workbench has a green dot.",
		places: map[string][]string{
			"windows": {"%APPDATA%/Zed/settings.json"},
			"darwin":  {"~/.config/zed/settings.json"},
			"":        {"$CONFIG/zed/settings.json"},
		},
		overrides: []override{{"FLATPAK_XDG_CONFIG_HOME", []string{"{}/zed/settings.json"}}},
		project:   []string{".zed/settings.json"},
		servers:   []string{"context_servers"},
		entry:     []field{{"command", program}, {"args", arguments}, {"env", emptyObject}},
		remote:    plainRemote, programs: []string{"zed", "zeditor"},
	},
	{
		ID: "junie", Title: "Junie (JetBrains)",
		After: restart, See: "Open Settings, Tools, Junie, MCP Settings.",
		places: anywhere("~/.junie/mcp/mcp.json"), project: []string{".junie/mcp/mcp.json"},
		servers: mcpServers, entry: plainEntry,
		programs: []string{"junie"},
	},
	{
		ID: "codex", Title: "Codex",
		After: newStart, See: "Run 'codex mcp list', or type /mcp in a session.",
		places:    anywhere("~/.codex/config.toml"),
		overrides: []override{{"CODEX_HOME", []string{"{}/config.toml"}}},
		project:   []string{".codex/config.toml"},
		servers:   []string{"mcp_servers"},
		entry:     []field{{"command", program}, {"args", arguments}, {"startup_timeout_sec", timeout30}},
		remote:    []field{{"url", address}, {"bearer_token_env_var", tokenName}, {"http_headers", headers}, {"startup_timeout_sec", timeout30}},
		programs:  []string{"codex"},
	},
	{
		ID: "gemini", Title: "Gemini CLI",
		After: newStart, See: "Type /mcp in a session.",
		places:    anywhere("~/.gemini/settings.json"),
		overrides: []override{{"GEMINI_CLI_HOME", []string{"{}/.gemini/settings.json"}}},
		project:   []string{".gemini/settings.json"},
		servers:   mcpServers, variables: dollar, bareURL: "sse", entry: plainEntry,
		remote: []field{{"httpUrl", address}, {"headers", headers}}, programs: []string{"gemini"},
	},
	{
		ID: "qwen", Title: "Qwen Code",
		After: newStart, See: "Type /mcp in a session.",
		places:    anywhere("~/.qwen/settings.json"),
		overrides: []override{{"QWEN_HOME", []string{"{}/settings.json"}}},
		project:   []string{".qwen/settings.json"},
		servers:   mcpServers, variables: dollar, bareURL: "sse",
		entry:  []field{{"command", program}, {"args", arguments}, {"alwaysLoadTools", yes}},
		remote: []field{{"httpUrl", address}, {"headers", headers}, {"alwaysLoadTools", yes}}, programs: []string{"qwen"},
	},
	{
		ID: "copilot-cli", Title: "GitHub Copilot CLI",
		After: newStart, See: "Type /mcp in a session.",
		places:    anywhere("~/.copilot/mcp-config.json"),
		overrides: []override{{"COPILOT_HOME", []string{"{}/mcp-config.json"}}},
		project:   []string{".github/mcp.json"},
		servers:   mcpServers, variables: dollar,
		entry:    []field{{"type", "stdio"}, {"command", program}, {"args", arguments}, {"tools", allTools}, {"deferTools", "never"}},
		remote:   []field{{"type", "http"}, {"url", address}, {"headers", headers}, {"tools", allTools}, {"deferTools", "never"}},
		programs: []string{"copilot"},
	},
	{
		ID: "cline", Title: "Cline",
		After: atOnce, See: "Open the list of MCP servers in Cline.",
		places: anywhere("~/.cline/data/settings/cline_mcp_settings.json"),
		overrides: []override{
			{"CLINE_MCP_SETTINGS_PATH", []string{"{}"}},
			{"CLINE_DATA_DIR", []string{"{}/settings/cline_mcp_settings.json"}},
			{"CLINE_DIR", []string{"{}/data/settings/cline_mcp_settings.json"}},
		},
		servers: mcpServers, bareURL: "sse",
		entry:    []field{{"command", program}, {"args", arguments}, {"disabled", no}, {"autoApprove", emptyList}},
		older:    []olderFile{{codeFolder("Code", "globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"), mcpServers}},
		remote:   []field{{"type", "streamableHttp"}, {"url", address}, {"headers", headers}, {"disabled", no}, {"autoApprove", emptyList}},
		programs: []string{"cline"},
	},
	{
		ID: "roo", Title: "Roo Code",
		Retired: "Roo Code was shut down in May 2026",
		places:  codeFolder("Code", "globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
		project: []string{".roo/mcp.json"},
		servers: mcpServers, variables: editor, entry: plainEntry,
	},
	{
		ID: "continue", Title: "Continue",
		After: atOnce, See: "Open the list of tools in Continue.",
		places:    anywhere("~/.continue/config.yaml"),
		overrides: []override{{"CONTINUE_GLOBAL_DIR", []string{"{}/config.yaml"}}},
		servers:   mcpServers, variables: templates,
		entry:  []field{{"name", entryName}, {"command", program}, {"args", arguments}},
		remote: []field{{"name", entryName}, {"type", "streamable-http"}, {"url", address}, {"requestOptions", options}},
	},
	{
		ID: "goose", Title: "Goose",
		After: newStart, See: "Run 'goose configure', or open Extensions in the app.",
		places: map[string][]string{
			"windows": {"%APPDATA%/Block/goose/config/config.yaml"},
			"darwin":  {"~/.config/goose/config.yaml"},
			"":        {"$CONFIG/goose/config.yaml"},
		},
		overrides: []override{{"GOOSE_PATH_ROOT", []string{"{}/config/config.yaml"}}},
		servers:   []string{"extensions"},
		entry: []field{
			{"enabled", yes},
			{"type", "stdio"},
			{"name", entryName},
			{"description", "MCP Workbench"},
			{"cmd", program},
			{"args", arguments},
			{"envs", emptyObject},
			{"timeout", timeout300},
		},
		// A migration tool for databases is called goose, too: the program alone does not show that the client is there.
		remote: []field{
			{"enabled", yes},
			{"type", "streamable_http"},
			{"name", entryName},
			{"description", "MCP Workbench"},
			{"uri", address},
			{"headers", headers},
			{"timeout", timeout300},
		},
	},
	{
		ID: "lmstudio", Title: "LM Studio",
		After: atOnce, See: "Open the Program tab: the workbench is listed under Install.",
		places:  anywhere("~/.lmstudio/mcp.json"),
		servers: mcpServers, entry: plainEntry,
		older:  []olderFile{{anywhere("~/.cache/lm-studio/mcp.json"), mcpServers}},
		remote: plainRemote, programs: []string{"lms"},
	},
	{
		ID: "kiro", Title: "Kiro",
		After: atOnce, See: "Open the MCP servers view, or run 'kiro-cli mcp list'.",
		places: anywhere("~/.kiro/settings/mcp.json"), project: []string{".kiro/settings/mcp.json"},
		servers: mcpServers, variables: braces,
		entry:     []field{{"command", program}, {"args", arguments}, {"disabled", no}},
		remote:    []field{{"url", address}, {"headers", headers}, {"disabled", no}},
		copyToken: true, programs: []string{"kiro", "kiro-cli"},
	},
	{
		ID: "amazonq", Title: "Amazon Q CLI",
		Retired: "Amazon Q CLI became Kiro CLI; connect 'kiro' instead",
		places:  anywhere("~/.aws/amazonq/mcp.json"), project: []string{".amazonq/mcp.json"},
		servers: mcpServers, entry: plainEntry,
	},
	{
		ID: "opencode", Title: "opencode",
		After: newStart, See: "Type /status in a session.",
		places: anywhere("$CONFIG/opencode/opencode.jsonc", "$CONFIG/opencode/opencode.json", "$CONFIG/opencode/config.json"),
		overrides: []override{
			{"OPENCODE_CONFIG", []string{"{}"}},
			{"OPENCODE_CONFIG_DIR", []string{"{}/opencode.jsonc", "{}/opencode.json"}},
		},
		project: []string{"opencode.jsonc", "opencode.json"},
		fresh:   1, servers: []string{"mcp"}, variables: curly,
		entry:    []field{{"type", "local"}, {"command", commandLine}, {"enabled", yes}},
		remote:   []field{{"type", "remote"}, {"url", address}, {"headers", headers}, {"enabled", yes}},
		programs: []string{"opencode"},
	},
	{
		ID: "crush", Title: "Crush",
		After: newStart, See: "The list of MCP servers is on Crush's first screen.",
		places:    anywhere("$CONFIG/crush/crushrc", "$CONFIG/crush/crush.json"),
		overrides: []override{{"CRUSH_GLOBAL_CONFIG", []string{"{}/crushrc", "{}/crush.json"}}},
		project:   []string{".crushrc", "crushrc", ".crush.json", "crush.json"},
		servers:   []string{"mcp"}, variables: dollar,
		entry:    []field{{"type", "stdio"}, {"command", program}, {"args", arguments}, {"timeout", timeout30}},
		remote:   []field{{"type", "http"}, {"url", address}, {"headers", headers}, {"timeout", timeout30}},
		programs: []string{"crush"},
	},
	{
		ID: "warp", Title: "Warp",
		After: atOnce, See: "Open Settings, MCP servers.",
		places: anywhere("~/.warp/.mcp.json"), project: []string{".warp/.mcp.json"},
		servers: mcpServers, entry: plainEntry,
		remote: plainRemote, programs: []string{"warp-terminal"},
	},
	{
		ID: "amp", Title: "Amp",
		After: newStart, See: "Type /mcp in a session.",
		places:  anywhere("~/.config/amp/settings.jsonc", "~/.config/amp/settings.json"),
		project: []string{".amp/settings.jsonc", ".amp/settings.json"},
		fresh:   1, servers: []string{"amp.mcpServers"}, entry: plainEntry,
		remote: plainRemote, programs: []string{"amp"},
	},
}

func visualStudioCode(id, title, folder, command string) *Client {
	return &Client{
		ID: id, Title: title,
		After: atOnce, See: "Run the command 'MCP: List Servers'.",
		places: codeFolder(folder, "mcp.json"), project: []string{".vscode/mcp.json"},
		servers: []string{"servers"}, variables: editor,
		entry:  []field{{"type", "stdio"}, {"command", program}, {"args", arguments}},
		remote: []field{{"type", "http"}, {"url", address}, {"headers", headers}}, programs: []string{command},
		older: []olderFile{{codeFolder(folder, "settings.json"), []string{"mcp", "servers"}}},
	}
}

// codeFolder returns a file in the user's folder of VS Code.
func codeFolder(folder, file string) map[string][]string {
	return map[string][]string{
		"darwin":  {"~/Library/Application Support/" + folder + "/User/" + file},
		"windows": {"%APPDATA%/" + folder + "/User/" + file},
		"":        {"$CONFIG/" + folder + "/User/" + file},
	}
}
