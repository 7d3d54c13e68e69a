package front

import (
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// Headers of a modern request repeat parts of it, for proxies. They are checked, so that what a
// proxy allows is what runs.

const (
	methodHeader = "Mcp-Method"
	nameHeader   = "Mcp-Name"
)

// checkHeaders refuses a request that does not declare what it has to, or whose headers differ
// from it.
func checkHeaders(header http.Header, message wire.Message, meta requestMeta) *metatool.Error {
	revision, ok := meta.revision.Text()
	if !ok {
		return meta.checkRevision()
	}
	if refused := checkHeader(header, revisionHeader, revision, false); refused != nil {
		return refused
	}
	if refused := meta.check(); refused != nil {
		return refused
	}
	method := string(message.Method)
	if refused := checkHeader(header, methodHeader, method, false); refused != nil {
		return refused
	}
	about := protocol.FindMethod(method)
	if !about.InHeader || about.Removed {
		return nil
	}
	name, ok := message.Params.Member(about.Subject).Text()
	if !ok {
		return invalidParams(fmt.Sprintf("'%s' must be a string", about.Subject))
	}
	return checkHeader(header, nameHeader, name, true)
}

func mismatch(format string, arguments ...any) *metatool.Error {
	return &metatool.Error{Code: protocol.CodeHeaderMismatch, Message: "Header mismatch: " + fmt.Sprintf(format, arguments...)}
}

// checkHeader refuses a header that is missing, stands twice, or differs from the value; encoded
// says that it may be written in Base64.
func checkHeader(header http.Header, name, value string, encoded bool) *metatool.Error {
	values := header.Values(name)
	if len(values) != 1 {
		return mismatch("the request needs one %s header, and has %d", name, len(values))
	}
	text := values[0]
	if encoded {
		var ok bool
		if text, ok = decodeHeader(text); !ok {
			return mismatch("the %s header is not written as it has to be", name)
		}
	}
	if text != value {
		return mismatch("the %s header is '%.200s', and the request says '%.200s'", name, text, value)
	}
	return nil
}

// decodeHeader reads a value that may be written in Base64.
func decodeHeader(value string) (text string, ok bool) {
	const prefix, suffix = "=?base64?", "?="
	if len(value) >= len(prefix)+len(suffix) && strings.HasPrefix(value, prefix) && strings.HasSuffix(value, suffix) {
		decoded, err := base64.StdEncoding.DecodeString(value[len(prefix) : len(value)-len(suffix)])
		return string(decoded), err == nil && utf8.Valid(decoded)
	}
	for i := range len(value) {
		if value[i] != '\t' && (value[i] < ' ' || value[i] > '~') {
			return "", false
		}
	}
	return value, true
}

// checkArguments refuses a tool call whose headers differ from the arguments that the tool's schema
// has them repeat. The schema of a tool that was never listed is known when its server has started:
// then later does the check.
func (c *statelessClient) checkArguments(header http.Header, message wire.Message) (refused *metatool.Error, later call.Check) {
	if string(message.Method) != protocol.MethodToolsCall {
		return nil, nil
	}
	name, _ := message.Params.Member("name").Text()
	if schema := c.surface.Load().InputSchema(c, name); !schema.IsAbsent() {
		return checkMirrors(header, schema, message.Params.Member("arguments")), nil
	}
	return nil, func(inputSchema, arguments wire.Payload) (rpcError wire.Payload) {
		if refused := checkMirrors(header, inputSchema, arguments); refused != nil {
			return wire.Raw(appendError(nil, refused))
		}
		return wire.Payload{}
	}
}

// checkMirrors compares headers with the arguments that a schema has them repeat.
func checkMirrors(header http.Header, schema, arguments wire.Payload) *metatool.Error {
	for _, mirrored := range downstream.Mirrors(schema) {
		want, given := mirrored.Value(arguments)
		sent := header.Values(mirrored.Header)
		if !given && len(sent) == 0 {
			continue
		}
		if !given {
			return mismatch("there is a header %s, and no argument that it repeats", mirrored.Header)
		}
		if mirrored.Numeric && len(sent) == 1 && sameNumber(sent[0], want) {
			continue
		}
		if refused := checkHeader(header, mirrored.Header, want, true); refused != nil {
			return refused
		}
	}
	return nil
}

// sameNumber compares numbers, however they are written.
func sameNumber(a, b string) bool {
	const exact = 1 << 53 // below it, floating point tells all integers apart
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && x == y && math.Abs(x) < exact
}
