package app

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/selfserver"
)

func TestMain(m *testing.M) { selfserver.Main(m) }
