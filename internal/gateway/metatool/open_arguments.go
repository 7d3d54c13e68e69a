package metatool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// openRequest holds the arguments of open_toolbox.
type openRequest struct {
	toolbox string
	brief   bool
	tools   []string // the tools to answer with; nil: all
	notice  string   // that comes first among the warnings; may be empty
	reads   reads    // nil: the answer does not say which tools read_tool runs
}

// maxNamed is the number of tools that a call of open_toolbox may name.
const maxNamed = 100

// parseOpen reads the arguments; problem describes all mistakes in them. Brief is the default of detail.
func parseOpen(arguments wire.Payload, brief bool) (asked openRequest, problem string) {
	if kind := arguments.Kind(); kind != "object" && kind != "null" && kind != "undefined" {
		return asked, "Expected object, received " + kind
	}
	var name, synonym, detail, tools wire.Payload
	var unknown []string
	for key, value := range arguments.Members() {
		switch string(key) {
		case "toolbox":
			name = value
		case "toolbox_name":
			synonym = value
		case "detail":
			detail = value
		case "tools":
			tools = value
		default:
			unknown = append(unknown, fmt.Sprintf("Unrecognized key: '%s'", key))
		}
	}
	toolbox, problems := parseToolbox(name, synonym)
	asked.toolbox = toolbox
	asked.tools, problems = parseToolNames(tools, problems)
	// A client that names tools knows their signatures, and needs the definitions.
	asked.brief, problems = parseDetail(detail, brief && asked.tools == nil, problems)
	return asked, strings.Join(append(problems, unknown...), "; ")
}

// parseToolbox reads the name of the toolbox, which has two keys.
func parseToolbox(name, synonym wire.Payload) (toolbox string, problems []string) {
	var names []string
	for _, field := range []struct {
		key   string
		value wire.Payload
	}{{"toolbox", name}, {"toolbox_name", synonym}} {
		text, isString := field.value.Text()
		switch {
		case field.value.IsAbsent():
			continue
		case !isString:
			problems = append(problems, field.key+": Expected string, received "+field.value.Kind())
		case strings.TrimSpace(text) == "":
			problems = append(problems, field.key+" cannot be empty")
		}
		names = append(names, text)
	}
	switch {
	case len(names) == 0:
		return "", append(problems, "toolbox: Required")
	case len(names) == 2 && names[0] != names[1] && len(problems) == 0:
		problems = append(problems, "toolbox and toolbox_name are different; send toolbox alone")
	}
	return names[0], problems
}

// parseToolNames reads the requested tools. Some models send all parameters, so null and an empty list mean all tools.
func parseToolNames(tools wire.Payload, problems []string) ([]string, []string) {
	if kind := tools.Kind(); kind != "array" {
		if !tools.IsAbsent() && kind != "null" {
			problems = append(problems, "tools: Expected array, received "+kind)
		}
		return nil, problems
	}
	var names []string
	for element := range tools.Elements() {
		if len(names) == maxNamed {
			return nil, append(problems, fmt.Sprintf("tools: Expected at most %d names", maxNamed))
		}
		key := fmt.Sprintf("tools[%d]", len(names))
		var name string
		name, problems = textArgument(key, element, problems)
		names = append(names, name)
	}
	return names, problems
}

// parseDetail reads whether the answer is brief.
func parseDetail(detail wire.Payload, usual bool, problems []string) (brief bool, _ []string) {
	text, ok := detail.Text()
	switch {
	case detail.IsAbsent(), detail.Kind() == "null":
		return usual, problems
	case !ok:
		problems = append(problems, "detail: Expected string, received "+detail.Kind())
	case text != "full" && text != "brief":
		problems = append(problems, "detail: Expected 'full' or 'brief'")
	}
	return text == "brief", problems
}

// names returns the names by which a tool can be requested.
func (o openRequest) names(server, tool string) []string {
	return []string{tool, server + "/" + tool, o.toolbox + "/" + server + "/" + tool}
}

// wants reports whether the tool is requested.
func (o openRequest) wants(server, tool string) bool {
	return o.tools == nil || slices.ContainsFunc(o.names(server, tool), func(name string) bool { return slices.Contains(o.tools, name) })
}

// servers returns the servers to connect: those that are known to have the requested tools, or all of the toolbox if a
// requested tool is unknown.
func (o openRequest) servers(box *fleet.Toolbox, profile *fleet.ClientProfile) []*fleet.Server {
	if o.tools == nil {
		return box.Servers
	}
	known := make(map[string]bool)
	var servers []*fleet.Server
	for _, server := range box.Servers {
		offered := server.OfferedFor(profile)
		if offered == nil {
			continue
		}
		has := false
		for _, tool := range offered.Tools {
			if o.wants(server.Name(), tool.Name) {
				has = true
				for _, name := range o.names(server.Name(), tool.Name) {
					known[name] = true
				}
			}
		}
		if has {
			servers = append(servers, server)
		}
	}
	if slices.ContainsFunc(o.tools, func(name string) bool { return !known[name] }) {
		return box.Servers
	}
	return servers
}
