// Command fakebrowser opens an address as a browser does, and logs in there.
package main

import (
	"os"

	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

func main() { os.Exit(oauthtest.Browse(os.Args[1:], os.Stderr)) }
