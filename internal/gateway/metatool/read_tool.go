package metatool

import (
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// readToolName is the name of use_tool's read-only twin. To a client, use_tool is one tool that may do anything, so that
// it asks a person before every call; this one it need not ask about.
const readToolName = "read_tool"

// reads reports whether a tool only reads.
type reads func(toolbox.Ref, catalog.Tool) bool

// includes reports whether read_tool is offered and runs the tool.
func (r reads) includes(ref toolbox.Ref, tool catalog.Tool) bool { return r != nil && r(ref, tool) }

// offersReadTool reports whether the configuration offers read_tool.
func (s *Surface) offersReadTool(Session) bool { return s.reads != nil }

// readToolDefinition defines read_tool. Its input is that of use_tool, whose descriptions it does not repeat.
func (s *Surface) readToolDefinition() []byte {
	return []byte(`{"name":"read_tool","title":"Use a tool that only reads",` +
		`"description":"Run a tool of ` + s.usableToolbox() + ` that only reads, so that the user need not be asked. Such tools have readOnlyHint true in open_toolbox, ` +
		`use read_tool in find_tools. Run others by use_tool, with the same input.",` +
		`"inputSchema":{"type":"object","properties":{` +
		`"tool":{"type":"object","description":"Which tool to run","properties":{` +
		`"toolbox":{"type":"string","minLength":1},"server":{"type":"string","minLength":1},"name":{"type":"string","minLength":1}},` +
		`"required":["toolbox","server","name"],"additionalProperties":false},` +
		`"arguments":{"type":"object","description":"Arguments of the tool","default":{}}},` +
		`"required":["tool"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":true},"_meta":{` + alwaysLoad + `}}`)
}

func (s *Surface) readTool(request Request) { s.runTool(request, s.admitRead) }

// admitRead refuses tools that do not read. It decides about the definition that the call is sent to, since a listed one
// may have changed.
func admitRead(reads reads) call.Admit {
	return func(ref toolbox.Ref, tool catalog.Tool) *call.Failure {
		if reads(ref, tool) {
			return nil
		}
		return &call.Failure{Message: "it is not known to only read, so read_tool does not run it: call " + useName + " with the same input"}
	}
}

// isRead reports whether read_tool runs a tool of a server.
func (o openRequest) isRead(server string, tool catalog.Tool) bool {
	return o.reads.includes(toolbox.Ref{Toolbox: o.toolbox, Server: server, Name: tool.Name}, tool)
}

// hint explains the answer of open_toolbox. In full, the definitions themselves say which tools read_tool runs, so that
// only the exceptions are named. It may be empty.
func (o openRequest) hint(offers []Offer) string {
	if o.reads == nil && !o.brief {
		return ""
	}
	some := false
	var also, not []string // tools that read without declaring it, and the reverse
	for _, offer := range offers {
		for _, tool := range offer.Tools {
			if !o.wants(offer.Server, tool.Name) {
				continue
			}
			isRead, declares := o.isRead(offer.Server, tool), declaresReading(tool)
			some = some || isRead
			switch {
			case isRead && !declares:
				also = append(also, offer.Server+"/"+tool.Name)
			case declares && !isRead:
				not = append(not, offer.Server+"/"+tool.Name)
			}
		}
	}
	switch {
	case o.brief && some:
		return briefHint + briefReadHint
	case o.brief:
		return briefHint
	}
	var parts []string
	if len(also) > 0 {
		parts = append(parts, "read_tool also runs "+strings.Join(also, ", "))
	}
	if len(not) > 0 {
		parts = append(parts, "read_tool does not run "+strings.Join(not, ", "))
	}
	return strings.Join(parts, ". ")
}

// declaresReading reports whether a tool's definition says that it only reads, as the model sees it.
func declaresReading(tool catalog.Tool) bool {
	return string(tool.Definition.Member("annotations").Member("readOnlyHint").Bytes()) == "true"
}
