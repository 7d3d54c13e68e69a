package metatool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// exampleCall is an example of use_tool's arguments.
const exampleCall = `{"tool":{"toolbox":"toolbox-name","server":"server-name","name":"tool-name"},"arguments":{}}`

// namesFirst is the length, in characters, above which the instructions begin with a line of all names: some clients
// cut them after 512.
const namesFirst = 500

// Instructions describe the toolboxes to a client before anything is connected.
func (s *Surface) Instructions() string {
	if s.showsNoticeOnly() {
		return s.notice
	}
	boxes := s.visible.Toolboxes()
	if s.serverInstructions {
		return instructionsOf(boxes)
	}
	if off := s.visible.DisabledToolboxes(); len(boxes) == 0 && len(off) > 0 {
		return "No toolboxes configured that are enabled.\n\n" + disabledToolbox(off[0])
	}
	if len(boxes) == 0 {
		return "No toolboxes configured.\n\n" +
			`Add one to workbench-config.json, for example: {"toolboxes":{"dev":{"description":"Development tools","mcpServers":{"files":{"builtin":"files"}}}}}`
	}
	var listing strings.Builder
	names := make([]string, len(boxes))
	for i, box := range boxes {
		names[i] = box.Name
		description := box.Description
		if description == "" {
			description = "No description provided"
		}
		if s.mode == config.Direct {
			fmt.Fprintf(&listing, "\n%s: %s", box.Name, description)
		} else {
			fmt.Fprintf(&listing, "\n%s (%d servers)\n  Description: %s\n", box.Name, len(box.Servers), description)
		}
	}
	text := "Available Toolboxes:\n" + listing.String()
	if s.notice != "" {
		text = s.notice + "\n\n" + text
	}
	if s.mode != config.Direct {
		text += "\nUse open_toolbox to connect to a toolbox, then use_tool to invoke tools.\n\n" +
			"Example tool invocation:\n" + exampleCall
	}
	if utf8.RuneCountInString(text) > namesFirst {
		return "Toolboxes: " + strings.Join(names, ", ") + "\n\n" + text
	}
	return text
}

func instructionsOf(boxes []*fleet.Toolbox) string {
	var texts []string
	for _, box := range boxes {
		for _, server := range box.Servers {
			if offered := server.Offered(); offered != nil && offered.Instructions != "" {
				texts = append(texts, offered.Instructions)
			}
		}
	}
	return strings.Join(texts, "\n\n")
}
