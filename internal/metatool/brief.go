package metatool

import (
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
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

// appendBriefTool appends a tool as open_toolbox lists it in brief. The toolbox is named
// once, above all of them.
func appendBriefTool(dst []byte, server string, tool catalog.Tool) []byte {
	members := wire.AppendMember([]byte("{"), "server", server)
	members = wire.AppendMember(members, "name", tool.Name)
	return append(append(dst, appendBrief(members, tool)...), '}')
}

// parseDetail reads how much open_toolbox is to say of each tool.
func parseDetail(detail wire.Payload) (brief bool, problem string) {
	switch text, ok := detail.Text(); {
	case detail.IsAbsent(), text == "full":
		return false, ""
	case text == "brief":
		return true, ""
	case !ok:
		return false, "detail: Expected string, received " + detail.Kind()
	}
	return false, "detail: Expected 'full' or 'brief'"
}

// BriefTool returns a tool as open_toolbox lists it in brief.
func BriefTool(server string, tool catalog.Tool) []byte { return appendBriefTool(nil, server, tool) }

// OneLine returns a description as it is in brief.
func OneLine(description string) string { return oneLine(description) }
