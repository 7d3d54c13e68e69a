// Command fakeserver is an MCP server that behaves or misbehaves as a file tells it.
package main

import (
	"os"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

func main() { os.Exit(mcptest.Main(os.Args[1:])) }
