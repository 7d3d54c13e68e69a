package call

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// nearest is how many names a failed lookup suggests.
const nearest = 3

// Toolboxes are the toolboxes that are visible to a client.
type Toolboxes interface {
	Toolbox(name string) (*fleet.Toolbox, bool)
}

func resolveServer(visible Toolboxes, ref toolbox.Ref) (*fleet.Server, error) {
	box, ok := visible.Toolbox(ref.Toolbox)
	if !ok {
		return nil, &Failure{NotFound: true, Message: fmt.Sprintf("Toolbox '%s' not found", ref.Toolbox)}
	}
	server, ok := box.Server(ref.Server)
	if !ok {
		failure := &Failure{NotFound: true, Message: fmt.Sprintf("Server '%s' not found in toolbox '%s'", ref.Server, ref.Toolbox)}
		if slices.Contains(box.Disabled(), ref.Server) {
			failure.Hint = "It is disabled in the configuration."
		} else {
			failure.Hint = suggestion("Its servers", ref.Server, box.ServerNames())
		}
		return nil, failure
	}
	return server, nil
}

// resolveTool returns a tool that the client sees, or one that the policy denies to it: the stages say why.
func resolveTool(offered *catalog.Snapshot, ref toolbox.Ref) (tool catalog.Tool, isDenied bool, err error) {
	tool, ok := offered.Find(ref.Name)
	if reason, withheld := offered.Withheld(ref.Name); withheld {
		return tool, false, &Failure{Message: "it " + reason}
	}
	if ok {
		return tool, false, nil
	}
	if tool, ok = offered.DeniedTool(ref.Name); ok {
		return tool, true, nil
	}
	return tool, false, &Failure{
		NotFound: true,
		Message:  fmt.Sprintf("Tool '%s' not found in server '%s' (toolbox '%s')", ref.Name, ref.Server, ref.Toolbox),
		Hint:     suggestion("Its tools", ref.Name, offered.Names()),
	}
}

// suggestion returns the nearest names, or the first few of all.
func suggestion(what, wanted string, names []string) string {
	if near := toolbox.Nearest(wanted, names, nearest); len(near) > 0 {
		return "Did you mean " + quoted(near, " or ") + "?"
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 10:
		return fmt.Sprintf("%s: %s and %d more.", what, quoted(names[:10], ", "), len(names)-10)
	default:
		return fmt.Sprintf("%s: %s.", what, quoted(names, ", "))
	}
}

func quoted(names []string, separator string) string {
	return "'" + strings.Join(names, "'"+separator+"'") + "'"
}
