// Package era converts messages between the two eras of the protocol, where a client is of one era
// and a server of the other.
//
// Functions that lower convert to the legacy era, which begins with initialize; those that raise
// convert to the modern era, revision 2026-07-28. A message that needs no change is returned as it
// is. Changes are made to a copy: buffers that came in are not written to.
package era

import (
	"bytes"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const metaKey = "_meta"

// LowerParams returns the params of a modern client's request for a legacy server.
func LowerParams(params wire.Payload) wire.Payload {
	return without(params, isInput, protocol.IsHopByHop)
}

// WithoutAnswers returns the params of a modern client's request without the answers and the state that it brings.
func WithoutAnswers(params wire.Payload) wire.Payload {
	return without(params, isInput, func(string) bool { return false })
}

// LowerMeta returns the _meta of a modern client's request for a legacy server; absent if it would
// be empty.
func LowerMeta(meta wire.Payload) wire.Payload {
	if !has(meta, protocol.IsHopByHop) {
		return meta
	}
	lowered := wire.Raw(wire.AppendWithMembers(nil, meta, protocol.IsHopByHop, nil))
	if isEmpty(lowered) {
		return wire.Payload{}
	}
	return lowered
}

// LowerMembers is LowerParams for members without braces, in raw JSON, none of which is _meta.
func LowerMembers(members []byte) []byte {
	if len(members) == 0 {
		return nil
	}
	whole := object(members)
	if !has(whole, isInput) {
		return members
	}
	lowered := wire.AppendWithMembers(nil, whole, isInput, nil)
	return lowered[1 : len(lowered)-1]
}

// object makes an object of raw members.
func object(members []byte) wire.Payload {
	return wire.Raw(append(append([]byte("{"), members...), '}'))
}

// BringsState reports whether members of params, in raw JSON and without braces, have the state of
// an earlier response.
func BringsState(members []byte) bool {
	return len(members) > 0 && has(object(members), isState)
}

func isState(key string) bool { return key == protocol.RequestState }

// isInput reports whether a member of the params is for a request that was suspended.
func isInput(key string) bool {
	return key == protocol.InputResponses || isState(key)
}

// RaiseResult returns a legacy server's result of a method for a modern client; serverInfo is the
// server's own, and may be absent.
func RaiseResult(method string, result, serverInfo wire.Payload) wire.Payload {
	if result.Kind() != "object" {
		return result
	}
	var kind, ttl, scope, meta wire.Payload
	for key, value := range result.Members() {
		switch string(key) {
		case protocol.ResultType:
			kind = value
		case protocol.TTL:
			ttl = value
		case protocol.CacheScope:
			scope = value
		case metaKey:
			meta = value
		}
	}
	extra := make([]byte, 0, 256)
	if kind.IsAbsent() {
		extra = wire.AppendMember(extra, protocol.ResultType, protocol.ResultComplete)
	}
	if protocol.FindMethod(method).Cacheable {
		// A legacy server does not say whom its result is for, nor for how long.
		if ttl.IsAbsent() {
			extra = append(comma(extra), `"`+protocol.TTL+`":0`...)
		}
		if scope.IsAbsent() {
			extra = wire.AppendMember(extra, protocol.CacheScope, "private")
		}
	}
	if serverInfo.Kind() == "object" {
		switch {
		case meta.IsAbsent():
			extra = append(comma(extra), `"`+metaKey+`":{`...)
			extra = append(appendInfo(extra, serverInfo), '}')
		case meta.Kind() == "object" && meta.Member(protocol.MetaServerInfo).IsAbsent():
			info := appendInfo(nil, serverInfo)
			edit := wire.Edit{Part: meta, With: wire.AppendWithMembers(nil, meta, nil, info)}
			result = wire.Raw(wire.AppendEdited(make([]byte, 0, len(result.Bytes())+len(info)+1), result, edit))
		}
	}
	if len(extra) == 0 {
		return result
	}
	return wire.Raw(wire.AppendWithMembers(make([]byte, 0, len(result.Bytes())+len(extra)+2), result, nil, extra))
}

func appendInfo(members []byte, serverInfo wire.Payload) []byte {
	return append(append(members, `"`+protocol.MetaServerInfo+`":`...), serverInfo.Bytes()...)
}

// LowerResult returns a modern server's complete result of a method for a legacy client.
func LowerResult(method string, result wire.Payload) wire.Payload {
	cacheable := protocol.FindMethod(method).Cacheable
	return without(result, func(key string) bool {
		return key == protocol.ResultType || cacheable && (key == protocol.TTL || key == protocol.CacheScope)
	}, ofServer)
}

// ofServer reports whether a key in the _meta of a server's message is for one hop only.
func ofServer(key string) bool {
	return key == protocol.MetaServerInfo || key == protocol.MetaSubscriptionID
}

// RaiseError returns a legacy server's error for a modern client: the modern era has no code of its
// own for resources that do not exist.
func RaiseError(rpcError wire.Payload) wire.Payload {
	return recode(rpcError, protocol.CodeResourceNotFound, protocol.CodeInvalidParams)
}

// LowerError returns a modern server's error for a legacy client. The error of a resource that does
// not exist is recognized by its data, which name the resource.
func LowerError(method string, rpcError wire.Payload) wire.Payload {
	if method != protocol.MethodResourcesRead || rpcError.Member("data").Member("uri").IsAbsent() {
		return rpcError
	}
	return recode(rpcError, protocol.CodeInvalidParams, protocol.CodeResourceNotFound)
}

func recode(rpcError wire.Payload, from, to int) wire.Payload {
	code := rpcError.Member("code")
	if string(code.Bytes()) != strconv.Itoa(from) {
		return rpcError
	}
	return wire.Raw(wire.AppendEdited(nil, rpcError, wire.Edit{Part: code, With: strconv.AppendInt(nil, int64(to), 10)}))
}

// LowerQuestion returns the params of a modern server's question for a legacy client, where a page
// to open has an id: that of the question.
func LowerQuestion(method string, params wire.Payload, id string) wire.Payload {
	if !opensPage(method, params) || !params.Member(elicitationID).IsAbsent() {
		return params
	}
	return wire.Raw(wire.AppendWithMembers(nil, params, nil, wire.AppendMember(nil, elicitationID, id)))
}

// RaiseQuestion returns the params of a legacy server's question for a modern client. They are
// never absent: some clients fail on a question without params, although it is valid.
func RaiseQuestion(method string, params wire.Payload) wire.Payload {
	if params.IsAbsent() {
		return wire.Raw([]byte("{}"))
	}
	if !opensPage(method, params) {
		return params
	}
	return without(params, func(key string) bool { return key == elicitationID }, func(string) bool { return false })
}

const elicitationID = "elicitationId"

func opensPage(method string, params wire.Payload) bool {
	mode, _ := params.Member("mode").Text()
	return method == protocol.MethodElicitation && mode == "url"
}

// without returns an object without some of its members and of those of its _meta, and without
// _meta if that is empty then.
func without(object wire.Payload, drop, dropMeta func(key string) bool) wire.Payload {
	meta := object.Member(metaKey)
	if has(meta, dropMeta) {
		lowered := wire.AppendWithMembers(nil, meta, dropMeta, nil)
		if isEmpty(wire.Raw(lowered)) {
			return wire.Raw(wire.AppendWithMembers(make([]byte, 0, len(object.Bytes())), object,
				func(key string) bool { return key == metaKey || drop(key) }, nil))
		}
		object = wire.Raw(wire.AppendEdited(make([]byte, 0, len(object.Bytes())), object, wire.Edit{Part: meta, With: lowered}))
	}
	if !has(object, drop) {
		return object
	}
	return wire.Raw(wire.AppendWithMembers(make([]byte, 0, len(object.Bytes())), object, drop, nil))
}

// has reports whether an object has a member whose key matches.
func has(object wire.Payload, is func(key string) bool) bool {
	for key := range object.Members() {
		if is(string(key)) {
			return true
		}
	}
	return false
}

func isEmpty(object wire.Payload) bool {
	return len(bytes.TrimSpace(bytes.Trim(object.Bytes(), "{}"))) == 0
}

func comma(members []byte) []byte {
	if len(members) > 0 {
		return append(members, ',')
	}
	return members
}
