package metatool

import (
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// maxSignature is the length of a signature in bytes.
const maxSignature = 600

const ellipsis = "…"

// appendBrief appends what a model needs to choose and call a tool: a line of description and a signature.
func appendBrief(members []byte, tool catalog.Tool) []byte {
	if description, _ := tool.Definition.Member("description").Text(); strings.TrimSpace(description) != "" {
		members = wire.AppendMember(members, "description", OneLine(description))
	}
	return wire.AppendMember(members, "signature", cutText(tool.Signature(), maxSignature))
}

// OneLine returns a text as one line. A long text is cut after a sentence, or else after a word.
func OneLine(text string) string {
	line := strings.Join(strings.Fields(cutText(text, 16*oneLineMax)), " ")
	if utf8.RuneCountInString(line) <= oneLineMax {
		return line
	}
	short := string([]rune(line)[:oneLineMax-2])
	if end := strings.LastIndex(short, ". "); end > oneLineMax/4 {
		return short[:end+2] + ellipsis
	}
	if space := strings.LastIndexByte(short, ' '); space > oneLineMax/2 {
		short = short[:space]
	}
	return short + ellipsis
}

// cutText returns at most size bytes of a text, with an ellipsis if it was cut.
func cutText(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return toolbox.Clip(text, size-len(ellipsis)) + ellipsis
}

// briefHint explains the brief answer of open_toolbox. A model may know nothing else about it.
const briefHint = "tools holds for each server its tools: name, then (parameters) and description. " +
	"Run one: use_tool {tool: {toolbox, server, name}, arguments}. " +
	"Whole definitions: open_toolbox {toolbox, detail: full, tools: [name]}"

// briefReadHint explains the mark of tools that read_tool runs.
const briefReadHint = ". Those marked with *: read_tool instead of use_tool"

// appendBriefServer appends a member for a server, which has a member for each tool, so that no key is repeated.
func (o openRequest) appendBriefServer(dst []byte, offer Offer) []byte {
	var members []byte
	for _, tool := range offer.Tools {
		if o.wants(offer.Server, tool.Name) {
			members = wire.AppendMember(members, tool.Name, briefText(tool, o.isRead(offer.Server, tool)))
		}
	}
	if len(members) == 0 {
		return dst
	}
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	dst = append(wire.AppendString(dst, offer.Server), ":{"...)
	return append(append(dst, members...), '}')
}

// briefText returns the parameters and a line of description of a tool, with a mark if read_tool runs it.
func briefText(tool catalog.Tool, isRead bool) string {
	text := ""
	if isRead {
		text = "*"
	}
	text += cutText(strings.TrimPrefix(tool.Signature(), tool.Name), maxSignature)
	if description, _ := tool.Definition.Member("description").Text(); strings.TrimSpace(description) != "" {
		text += " " + OneLine(description)
	}
	return text
}
