package metatool

import (
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// CallReader is ReadCall for the calls of one client. A client writes its calls of a tool alike, so that the reader
// remembers the last call: one that differs only in the arguments of the tool is not parsed again. The zero value is
// ready to use.
type CallReader struct {
	mu      sync.Mutex
	pattern wire.Pattern // of the params, with the arguments of the tool as its gap
	name    string
	ref     toolbox.Ref
}

// Read is ReadCall.
func (c *CallReader) Read(message *wire.Message) (request Request, problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if arguments, meta, ok := c.pattern.Match(message.Params); ok {
		request.Name, request.ref, request.Params, request.Arguments, request.Meta = c.name, c.ref, message.Params, arguments, meta
		return request, ""
	}
	request, problem = ReadCall(message)
	if isParsed := !request.namesTool() || request.ref != (toolbox.Ref{}); problem == "" && isParsed && request.Extra == nil {
		c.pattern.Learn(request.Params, request.Arguments, request.Meta)
		c.name, c.ref = request.Name, request.ref
	}
	return request, problem
}
