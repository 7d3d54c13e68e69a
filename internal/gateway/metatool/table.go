package metatool

import (
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// metaTool is a tool of the workbench itself.
type metaTool struct {
	name string
	// define returns the definition, as tools/list has it.
	define func(*Surface) []byte
	// isOffered reports whether the session's client has the tool; without a session, whether
	// any client may have it. nil: every client has it.
	isOffered func(*Surface, Session) bool
	// call answers a call. It does not block. The request comes by value, since a pointer would
	// move every call to the heap.
	call func(*Surface, Request)
}

// metaTools are all meta-tools, in the order of tools/list. A new one is a row here, and a file
// with its definition and its handler.
var metaTools = []metaTool{
	{name: openName, define: (*Surface).openDefinition, call: (*Surface).openToolbox},
	{name: useName, define: (*Surface).useDefinition, call: (*Surface).useTool},
	{name: findName, define: (*Surface).findDefinition, isOffered: (*Surface).offersFind, call: (*Surface).findTools},
	{name: readToolName, define: (*Surface).readToolDefinition, isOffered: (*Surface).offersReadTool, call: (*Surface).readTool},
	{name: readResultName, define: (*Surface).readResultDefinition, isOffered: (*Surface).offersReadResult, call: (*Surface).readResult},
}

// offeredMetaTools returns the meta-tools of a client, or of any client without a session.
func (s *Surface) offeredMetaTools(session Session) []metaTool {
	return slices.DeleteFunc(slices.Clone(metaTools), func(tool metaTool) bool { return !tool.isOfferedTo(s, session) })
}

func (t *metaTool) isOfferedTo(s *Surface, session Session) bool {
	return t.isOffered == nil || t.isOffered(s, session)
}

// callMetaTool answers the call of a meta-tool; ok is false if the name is not that of one.
func (s *Surface) callMetaTool(request *Request) (ok bool) {
	for i := range metaTools {
		if tool := &metaTools[i]; tool.name == request.Name && tool.isOfferedTo(s, request.Session) {
			tool.call(s, *request)
			return true
		}
	}
	return false
}

// IsMetaTool reports whether a name is that of a meta-tool, whether or not clients have it.
func IsMetaTool(name string) bool {
	return slices.ContainsFunc(metaTools, func(tool metaTool) bool { return tool.name == name })
}

// MetaTools returns the definitions of all meta-tools that clients may have.
func (s *Surface) MetaTools() (definitions [][]byte) {
	if s.mode == config.Direct {
		return nil
	}
	for _, tool := range s.offeredMetaTools(nil) {
		definitions = append(definitions, tool.define(s))
	}
	return definitions
}

// Some clients show a model the definitions of tools only when it searches for them. These members of _meta ask them to
// keep a tool loaded, and give the words by which it is found. If the meta-tools were hidden, so would be every tool
// behind them.
const (
	alwaysLoad = `"anthropic/alwaysLoad":true`
	searchHint = "anthropic/searchHint"
)
