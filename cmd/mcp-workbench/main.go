// Command mcp-workbench is one MCP server in front of all your others.
package main

import (
	"os"

	"github.com/mcp-workbench/mcp-workbench/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args)) }
