package era

import (
	"bytes"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Notices are the notifications that a modern client wants before the response to a request.
type Notices struct {
	ProgressToken []byte // raw JSON; empty: no progress
	Severity      int    // of the least severe log messages; -1: none
}

// Fit returns the params of a notification as the request wants them; wanted is false if it does
// not want the notification. token is the progress token that the notification has, which an
// earlier request may have brought.
func (n Notices) Fit(method string, params, token []byte) (fitted []byte, wanted bool) {
	switch {
	case method == protocol.NotifyMessage:
		level, _ := wire.Raw(params).Member("level").Text()
		return params, n.Severity >= 0 && protocol.Severity(level) >= n.Severity
	case method != protocol.NotifyProgress || bytes.Equal(token, n.ProgressToken):
		return params, true
	case len(n.ProgressToken) == 0:
		return nil, false
	}
	whole := wire.Raw(params)
	return wire.AppendEdited(nil, whole, wire.Edit{Part: whole.Member(protocol.ProgressToken), With: n.ProgressToken}), true
}

// TagSubscription returns the params of a notification with the id of the subscription, raw JSON,
// by which a modern client gets it.
func TagSubscription(params, id []byte) []byte {
	object := wire.Raw(params)
	if object.Kind() != "object" {
		object = wire.Raw([]byte("{}"))
	}
	tag := append([]byte(`"`+protocol.MetaSubscriptionID+`":`), id...)
	meta := object.Member(metaKey)
	if meta.Kind() == "object" {
		isTag := func(key string) bool { return key == protocol.MetaSubscriptionID }
		return wire.AppendEdited(nil, object, wire.Edit{Part: meta, With: wire.AppendWithMembers(nil, meta, isTag, tag)})
	}
	isMeta := func(key string) bool { return key == metaKey }
	return wire.AppendWithMembers(nil, object, isMeta, append(append([]byte(`"`+metaKey+`":{`), tag...), '}'))
}
