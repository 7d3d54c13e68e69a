package metatool

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Offer is the part of a server in the answer of open_toolbox.
type Offer struct {
	Server       string
	Tools        []catalog.Tool
	Instructions string
	Warnings     []string
	Err          error // why it is not connected
}

func offerOf(opened fleet.Opened) Offer {
	if opened.Err != nil {
		return Offer{Server: opened.Server.Name(), Err: opened.Err}
	}
	return Offer{
		Server: opened.Server.Name(), Tools: opened.Lease.Tools.Tools, Instructions: opened.Lease.Tools.Instructions,
		Warnings: slices.Concat(opened.Lease.Tools.Warnings, opened.Lease.ListWarnings()),
	}
}

// OpenAnswer returns the answer of open_toolbox for these offers.
func (s *Surface) OpenAnswer(box, description string, offers []Offer, brief bool) string {
	text, _ := openRequest{toolbox: box, brief: brief, reads: s.reads}.answer(description, offers, unchanged)
	return text
}

// OpenTool returns the part of a tool in the answer of open_toolbox.
func OpenTool(box, server string, tool catalog.Tool, brief bool) string {
	if brief {
		return string(wire.AppendMember(nil, tool.Name, briefText(tool, false)))
	}
	return string(openRequest{toolbox: box}.appendDefinitions(nil, Offer{Server: server, Tools: []catalog.Tool{tool}}, unchanged))
}

func unchanged(_ toolbox.Ref, tool catalog.Tool) catalog.Tool { return tool }

// answer builds the answer of open_toolbox. If it fails, the text holds the reasons. Define returns the tool's
// definition for the client.
func (o openRequest) answer(description string, offers []Offer, define func(toolbox.Ref, catalog.Tool) catalog.Tool) (text string, failed bool) {
	var tools, instructions []byte
	var errs, warnings []string
	if o.notice != "" {
		warnings = append(warnings, o.notice)
	}
	connected := 0
	for _, offer := range offers {
		if offer.Err != nil {
			errs = append(errs, o.failure(offer))
			continue
		}
		connected++
		warnings = append(warnings, offer.Warnings...)
		if offer.Instructions != "" && o.tools == nil {
			instructions = wire.AppendMember(instructions, offer.Server, offer.Instructions)
		}
		if o.brief {
			tools = o.appendBriefServer(tools, offer)
		} else {
			tools = o.appendDefinitions(tools, offer, define)
		}
	}
	if connected == 0 && len(errs) > 0 {
		return strings.Join(errs, "\n"), true
	}
	missing := o.missing(offers)
	if errs = append(errs, missing...); len(missing) > 0 && len(missing) == len(o.tools) {
		return strings.Join(errs, "\n"), true
	}
	result := wire.AppendMember([]byte("{"), "toolbox", o.toolbox)
	result = wire.AppendMember(result, "description", description)
	result = append(result, `,"servers_connected":`...)
	result = strconv.AppendInt(result, int64(connected), 10)
	if hint := o.hint(offers); hint != "" {
		result = wire.AppendMember(result, "hint", hint)
	}
	if o.brief {
		result = append(append(append(result, `,"tools":{`...), tools...), '}')
	} else {
		result = append(append(append(result, `,"tools":[`...), tools...), ']')
	}
	if len(instructions) > 0 {
		result = append(append(append(result, `,"instructions":{`...), instructions...), '}')
	}
	result = appendTexts(result, "_errors", errs)
	result = appendTexts(result, "_warnings", warnings)
	return string(append(result, '}')), false
}

// failure says why a server is not connected, and what to do if a person can help.
func (o openRequest) failure(offer Offer) string {
	err, hint := offer.Err, ""
	if needed, ok := errors.AsType[*fleet.LoginNeededError](offer.Err); ok {
		needed = needed.WithPage()
		err, hint = needed, needed.Hint()
	}
	text := fmt.Sprintf("Failed to connect to server '%s' in toolbox '%s': %v", offer.Server, o.toolbox, err)
	if hint != "" {
		text += "\n" + hint
	}
	return text
}

// appendDefinitions appends the tools of a server with their whole definitions.
func (o openRequest) appendDefinitions(dst []byte, offer Offer, define func(toolbox.Ref, catalog.Tool) catalog.Tool) []byte {
	origin := originMembers(o.toolbox, offer.Server)
	for _, tool := range offer.Tools {
		if !o.wants(offer.Server, tool.Name) {
			continue
		}
		if len(dst) > 0 {
			dst = append(dst, ',')
		}
		ref := toolbox.Ref{Toolbox: o.toolbox, Server: offer.Server, Name: tool.Name}
		dst = wire.AppendWithMembers(dst, define(ref, tool).Definition, isOriginMember, origin)
	}
	return dst
}

// missing describes the requested tools that no server has.
func (o openRequest) missing(offers []Offer) (texts []string) {
	if o.tools == nil {
		return nil
	}
	has, owners := make(map[string]bool), make(map[string][]string) // servers by the names of their tools
	var names, qualified []string
	for _, offer := range offers {
		for _, tool := range offer.Tools {
			for _, name := range o.names(offer.Server, tool.Name) {
				has[name] = true
			}
			if owners[tool.Name] == nil {
				names = append(names, tool.Name)
			}
			owners[tool.Name] = append(owners[tool.Name], offer.Server)
			qualified = append(qualified, offer.Server+"/"+tool.Name)
		}
	}
	for _, name := range o.tools {
		if has[name] {
			continue
		}
		text := fmt.Sprintf("Tool '%s' not found in toolbox '%s'", name, o.toolbox)
		near := qualifyShared(toolbox.Nearest(name, names, nearestTools), owners)
		if strings.Contains(name, "/") {
			near = toolbox.Nearest(name, qualified, nearestTools)
		}
		if len(near) > 0 {
			text += ". Did you mean '" + strings.Join(near, "' or '") + "'?"
		}
		texts = append(texts, text)
	}
	return texts
}

// qualifyShared qualifies the names of tools that several servers have with the server's name.
func qualifyShared(names []string, owners map[string][]string) (apart []string) {
	for _, name := range names {
		if len(owners[name]) == 1 {
			apart = append(apart, name)
			continue
		}
		for _, server := range owners[name] {
			apart = append(apart, server+"/"+name)
		}
	}
	return apart[:min(len(apart), nearestTools)]
}

// originMembers name the toolbox and the server of a tool, with the current and the older keys: clients of older
// versions look for the latter.
func originMembers(toolbox, server string) []byte {
	members := wire.AppendMember(nil, "toolbox", toolbox)
	members = wire.AppendMember(members, "server", server)
	members = wire.AppendMember(members, "toolbox_name", toolbox)
	return wire.AppendMember(members, "source_server", server)
}

func isOriginMember(key string) bool {
	switch key {
	case "toolbox", "server", "toolbox_name", "source_server":
		return true
	}
	return false
}

// appendTexts appends a member with a list of texts, unless the list is empty.
func appendTexts(dst []byte, key string, texts []string) []byte {
	if len(texts) == 0 {
		return dst
	}
	dst = append(dst, ',')
	dst = wire.AppendString(dst, key)
	dst = append(dst, ':')
	for i, text := range texts {
		dst = append(dst, "[,"[min(i, 1)])
		dst = wire.AppendString(dst, text)
	}
	return append(dst, ']')
}
