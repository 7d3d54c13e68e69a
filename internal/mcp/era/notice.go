package era

import (
	"bytes"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Notices are the notifications that a modern client wants before the response to a request. Nil
// stands for all of them, as a legacy client gets them.
type Notices struct {
	ProgressToken []byte // raw JSON; empty: no progress
	Severity      int    // of the least severe log messages; -1: none
}

// NewNotices returns those of a request with a progress token, raw JSON, and a level of log
// messages. Most requests want none, and share them.
func NewNotices(progressToken []byte, severity int) *Notices {
	if len(progressToken) == 0 && severity < 0 {
		return &none
	}
	return &Notices{ProgressToken: bytes.Clone(progressToken), Severity: severity}
}

var none = Notices{Severity: -1}

// Fit returns the params of a notification as the request wants them; wanted is false if it does
// not want the notification. The server made the notification for a request that wanted others,
// if the client has sent the request again since.
func (n *Notices) Fit(method string, params []byte, others *Notices) (fitted []byte, wanted bool) {
	switch {
	case n == nil:
		return params, true
	case method == protocol.NotifyMessage:
		level, _ := wire.Raw(params).Member("level").Text()
		return params, n.Severity >= 0 && protocol.Severity(level) >= n.Severity
	case method != protocol.NotifyProgress || n == others || bytes.Equal(others.ProgressToken, n.ProgressToken):
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
