package downstream

import (
	"errors"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file subscribes to the lists of a modern server, which notifies only subscribers of changes.

// lists are the lists that a server may have, with the filter of a subscription and the notification of a change.
var lists = []struct{ capability, filter, notice string }{
	{"tools", "toolsListChanged", protocol.NotifyToolsList},
	{"prompts", "promptsListChanged", protocol.NotifyPromptsList},
	{"resources", "resourcesListChanged", protocol.NotifyResourcesList},
}

// listChanges returns the indices of lists whose changes the server reports and the options need.
func (s *Session) listChanges(capabilities wire.Payload) (wanted []int) {
	for i, list := range lists {
		heard := s.options.OnNotification != nil
		if list.notice == protocol.NotifyToolsList {
			heard = s.options.ToolsChanged != nil
		}
		if heard && string(capabilities.Member(list.capability).Member("listChanged").Bytes()) == "true" {
			wanted = append(wanted, i)
		}
	}
	return wanted
}

// listen subscribes to changes of lists. The request stays open as long as the session, unless the server or the
// connection ends it; next is the pause before it is sent again.
func (s *Session) listen(wanted []int, next time.Duration) error {
	var filter []byte
	for _, i := range wanted {
		if len(filter) > 0 {
			filter = append(filter, ',')
		}
		filter = append(filter, `"`+lists[i].filter+`":true`...)
	}
	_, err := s.subscribe(filter, &subscription{session: s, wanted: wanted, began: time.Now(), next: next}, false)
	return err
}

// subscribe sends a request for a subscription; filter is its raw JSON.
func (s *Session) subscribe(filter []byte, sink Sink, timely bool) (id uint64, err error) {
	if id, err = s.register(sink, timely); err != nil {
		return 0, err
	}
	members := append(append([]byte(`"notifications":{`), filter...), '}')
	message := wire.AppendRequestPrefix(nil, id, protocol.MethodListen)
	message = append(message, s.params(members)...)
	s.send(outgoing{message: append(message, wire.Suffix...), id: id, method: protocol.MethodListen})
	return id, nil
}

// subscription is the sink of the subscription to list changes.
type subscription struct {
	session *Session
	wanted  []int
	began   time.Time
	next    time.Duration // the pause before it is renewed, if this one ends early
}

func (*subscription) Progress(wire.Message) {}

func (*subscription) Caller() Caller { return nil }

// Done renews the subscription and reports the lists as changed, since changes in between were missed. A server that
// refused would refuse again; its lists stay as they were last read.
func (l *subscription) Done(response wire.Message, err error) {
	s := l.session
	if isRefused(response, err) {
		s.log.Debug("the server does not report changes of its lists")
		return
	}
	if time.Since(l.began) >= lastPause {
		l.next = firstPause
	}
	s.run(func() {
		if !pause(s.life, l.next) || s.listen(l.wanted, min(2*l.next, lastPause)) != nil {
			return
		}
		for _, i := range l.wanted {
			s.handleNotification(wire.Message{Method: []byte(lists[i].notice)}, 0)
		}
	})
}

// isRefused reports whether the end of a subscription is final.
func isRefused(response wire.Message, err error) bool {
	status, _ := errors.AsType[*StatusError](err)
	return status != nil && status.Code < 500 || isLogin(err) || err == nil && !response.Error.IsAbsent()
}
