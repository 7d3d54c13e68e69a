// Package era changes messages on their way between a client of one era of the protocol
// and a server of the other.
//
// "Lower" is towards the legacy era, which begins with initialize, and "raise" towards the
// modern one, revision 2026-07-28. What needs no change is returned as it is. All that is
// changed is a copy: the buffers of what came are not written to.
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
	return without(params, isInput, protocol.OfOneHop)
}

// LowerMeta returns the _meta of a modern client's request for a legacy server; absent if
// nothing is left of it.
func LowerMeta(meta wire.Payload) wire.Payload {
	if !has(meta, protocol.OfOneHop) {
		return meta
	}
	lowered := wire.Raw(wire.AppendWithMembers(nil, meta, protocol.OfOneHop, nil))
	if isEmpty(lowered) {
		return wire.Payload{}
	}
	return lowered
}

// LowerMembers is LowerParams for the raw text of members without braces, none of which is
// _meta.
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

// BringsState reports whether members of params, raw and without braces, bring back a state
// that an earlier answer gave.
func BringsState(members []byte) bool {
	return len(members) > 0 && has(object(members), isState)
}

func isState(key string) bool { return key == protocol.RequestState }

// isInput reports whether a member of the params belongs to a request that is sent again.
func isInput(key string) bool {
	return key == protocol.InputResponses || isState(key)
}

// RaiseResult returns a legacy server's result of a method for a modern client; serverInfo
// is what the server said of itself at the start, and may be absent.
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
		// Nothing is known of what a legacy server's result depends on.
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

// ofServer reports whether a key in the _meta of what a server sends belongs to one hop.
func ofServer(key string) bool {
	return key == protocol.MetaServerInfo || key == protocol.MetaSubscriptionID
}

// RaiseError returns a legacy server's error for a modern client: there is no code of its
// own any more for resources that do not exist.
func RaiseError(rpcError wire.Payload) wire.Payload {
	return recode(rpcError, protocol.CodeResourceNotFound, protocol.CodeInvalidParams)
}

// LowerError returns a modern server's error for a legacy client. Among invalid params, a
// resource that does not exist is known by the data that names it.
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

// LowerQuestion returns the params of a modern server's question for a legacy client, where
// a page that is to be opened has an id: that of the question.
func LowerQuestion(method string, params wire.Payload, id string) wire.Payload {
	if !opensPage(method, params) || !params.Member(elicitationID).IsAbsent() {
		return params
	}
	return wire.Raw(wire.AppendWithMembers(nil, params, nil, wire.AppendMember(nil, elicitationID, id)))
}

// RaiseQuestion returns the params of a legacy server's question for a modern client. They
// are always there: some clients fail if a question has none, although it may.
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

// without returns an object without some of its members, and without some of those of its
// _meta, which goes as well if it is empty then.
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

// has reports whether an object has a member of that kind.
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
