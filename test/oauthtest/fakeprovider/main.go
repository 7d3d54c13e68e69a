// Command fakeprovider is an authorization server and an MCP server that it protects, which behave as a file tells them.
package main

import (
	"os"

	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

func main() { os.Exit(oauthtest.Main(os.Args[1:])) }
