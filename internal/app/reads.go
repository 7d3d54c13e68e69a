package app

import (
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// reads reports whether a tool only reads, so that read_tool runs it.
func (a *App) reads(_ toolbox.Ref, tool catalog.Tool) bool {
	return string(tool.Definition.Member("annotations").Member("readOnlyHint").Bytes()) == "true"
}
