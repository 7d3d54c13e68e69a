package metatool

import (
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// maxSignature is how many bytes of a signature are shown.
const maxSignature = 600

const ellipsis = "…"

// appendBrief appends what a model needs to decide for a tool and to call it: a line of
// description and a signature.
func appendBrief(members []byte, tool catalog.Tool) []byte {
	if description, _ := tool.Definition.Member("description").Text(); strings.TrimSpace(description) != "" {
		members = wire.AppendMember(members, "description", oneLine(description))
	}
	return wire.AppendMember(members, "signature", cutText(tool.Signature(), maxSignature))
}

// oneLine returns a text as one line. What is too long ends with a sentence, or else with a
// word, and a mark.
func oneLine(text string) string {
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

// cutText returns at most size bytes of a text, with a mark if there was more.
func cutText(text string, size int) string {
	if len(text) <= size {
		return text
	}
	end := size - len(ellipsis)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}

// briefHint tells how to read the brief answer of open_toolbox, and what to do with it. A
// model may have nothing else to go by.
const briefHint = "tools holds for each server its tools: name, then (parameters) and description. " +
	"Run one: use_tool {tool: {toolbox, server, name}, arguments}. " +
	"Whole definitions: open_toolbox {toolbox, detail: full, tools: [name]}"

// appendBriefServer appends a member for a server, whose members are its tools. So nothing
// is repeated for each tool but what differs.
func (o openRequest) appendBriefServer(dst []byte, offer Offer) []byte {
	var members []byte
	for _, tool := range offer.Tools {
		if o.wants(offer.Server, tool.Name) {
			members = wire.AppendMember(members, tool.Name, briefText(tool))
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

// briefText is what a model needs of a tool whose name it has: the parameters, and a line of
// description.
func briefText(tool catalog.Tool) string {
	text := cutText(strings.TrimPrefix(tool.Signature(), tool.Name), maxSignature)
	if description, _ := tool.Definition.Member("description").Text(); strings.TrimSpace(description) != "" {
		text += " " + oneLine(description)
	}
	return text
}

// OneLine returns a description as it is in brief.
func OneLine(description string) string { return oneLine(description) }
