package front

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// requestMeta is what a request of the modern era says of its client, in its _meta but for the state.
type requestMeta struct {
	state                               wire.Payload // of a suspended call that the request resumes
	revision, capabilities, info, level wire.Payload
	token                               wire.Payload // of progress
	hops                                wire.Payload // the mark of the connection; in server/discover only
	mark                                string       // of the connection, from hops or from a header
	distant                             bool         // see isDistant; from the connection
}

// maxMetaBytes limits what a client declares, which is kept as long as the client.
const maxMetaBytes = 64 << 10

// maxRemembered limits the _meta that is remembered; a longer one is parsed with each request.
const maxRemembered = 4 << 10

// metaReader reads the meta of requests. A client declares the same with each request, so that the reader remembers the
// last declaration: the same bytes are not parsed again. The zero value is ready to use; it is for one goroutine.
type metaReader struct {
	bytes []byte // of the last _meta without a progress token; a copy, since forwarding a call uses up its buffer
	meta  requestMeta
}

func (m *metaReader) read(params wire.Payload) requestMeta {
	object, state := metaMembers(params)
	meta := m.meta
	if object.IsAbsent() || !bytes.Equal(object.Bytes(), m.bytes) {
		if meta = readMeta(object); meta.token.IsAbsent() && len(object.Bytes()) <= maxRemembered {
			m.bytes = bytes.Clone(object.Bytes())
			m.meta = readMeta(wire.Raw(m.bytes))
		}
	}
	meta.state = state
	return meta
}

// readMetaOf reads the meta of a single request.
func readMetaOf(params wire.Payload) requestMeta {
	object, state := metaMembers(params)
	meta := readMeta(object)
	meta.state = state
	return meta
}

// metaMembers finds the members of the params that every request of the modern era may have, in one walk.
func metaMembers(params wire.Payload) (meta, state wire.Payload) {
	for key, value := range params.Members() {
		switch string(key) {
		case "_meta":
			meta = value
		case protocol.RequestState:
			state = value
		}
	}
	return meta, state
}

func readMeta(object wire.Payload) (meta requestMeta) {
	for key, value := range object.Members() {
		switch string(key) {
		case protocol.MetaProtocolVersion:
			meta.revision = value
		case protocol.MetaClientCapabilities:
			meta.capabilities = value
		case protocol.MetaClientInfo:
			meta.info = value
		case protocol.MetaLogLevel:
			meta.level = value
		case protocol.ProgressToken:
			meta.token = value
		case hops.Meta:
			meta.hops = value
		}
	}
	return meta
}

// severity is that of the least severe log messages that the client wants; -1 if it wants none.
func (meta requestMeta) severity() int {
	level, _ := meta.level.Name()
	return protocol.Severity(level)
}

// checkRevision refuses a request of a revision that is not supported in this era.
func (meta requestMeta) checkRevision() *metatool.Error {
	revision, ok := meta.revision.Name()
	switch {
	case !ok:
		return missingMeta(protocol.MetaProtocolVersion, "a string, the revision of the protocol")
	case protocol.Revision(revision) != protocol.Revision20260728:
		return unsupported(revision)
	}
	return nil
}

// check refuses a request that does not declare what it has to.
func (meta requestMeta) check() *metatool.Error {
	if refused := meta.checkRevision(); refused != nil {
		return refused
	}
	switch {
	case meta.capabilities.Kind() != "object":
		return missingMeta(protocol.MetaClientCapabilities, "an object, what the client can do")
	case len(meta.capabilities.Bytes())+len(meta.info.Bytes()) > maxMetaBytes:
		return invalidParams(fmt.Sprintf("what the client says of itself in _meta has more than %d bytes", maxMetaBytes))
	case !meta.level.IsAbsent() && meta.severity() < 0:
		return missingMeta(protocol.MetaLogLevel, "the name of a level, if it is there")
	}
	return nil
}

func missingMeta(key, what string) *metatool.Error {
	return &metatool.Error{Code: protocol.CodeInvalidParams, Message: fmt.Sprintf("Invalid params: '%s' in _meta must be %s", key, what)}
}

func unsupported(revision string) *metatool.Error {
	names := make([]string, 0, 8)
	data := []byte(`{"supported":[`)
	for i, known := range protocol.Supported() {
		if i > 0 {
			data = append(data, ',')
		}
		data = wire.AppendString(data, string(known))
		names = append(names, string(known))
	}
	data = append(wire.AppendMember(append(data, ']'), "requested", revision), '}')
	return &metatool.Error{
		Code: protocol.CodeUnsupportedRevision, Data: data,
		Message: fmt.Sprintf("Unsupported protocol version: '%.100s'. Known are %s; those before %s begin with initialize",
			revision, strings.Join(names, ", "), protocol.Revision20260728),
	}
}

func unknownMethod(method string) *metatool.Error {
	return &metatool.Error{Code: protocol.CodeMethodNotFound, Message: fmt.Sprintf("Method not found: '%.200s'", method)}
}

func invalidParams(text string) *metatool.Error {
	return &metatool.Error{Code: protocol.CodeInvalidParams, Message: "Invalid params: " + text}
}
