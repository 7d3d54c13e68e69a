package clients

import "fmt"

// HTTPSnippet returns the text to paste into the best-known clients for a workbench over HTTP.
func HTTPSnippet(url, token string) string {
	return fmt.Sprintf(`A client on this machine, with the token in a variable:

  mcp-workbench connect CLIENT --http %[1]s --token-env WORKBENCH_TOKEN

Claude Code:

  claude mcp add --scope user --transport http workbench %[1]s --header "Authorization: Bearer %[2]s"

VS Code, in mcp.json (command "MCP: Open User Configuration"):

  {"servers": {"workbench": {"type": "http", "url": "%[1]s",
    "headers": {"Authorization": "Bearer %[2]s"}}}}

Cursor, in ~/.cursor/mcp.json:

  {"mcpServers": {"workbench": {"url": "%[1]s",
    "headers": {"Authorization": "Bearer %[2]s"}}}}

For one toolbox alone, with its tools under their own names, the address is %[1]s/TOOLBOX.
`, url, token)
}
