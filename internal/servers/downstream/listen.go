package downstream

import (
	"errors"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file is about the lists of a server of the modern era, whose changes it tells only
// to those who subscribed to them.

// lists are the lists that a server may have, with what subscribes to their changes and
// tells of them.
var lists = []struct{ capability, filter, notice string }{
	{"tools", "toolsListChanged", protocol.NotifyToolsList},
	{"prompts", "promptsListChanged", protocol.NotifyPromptsList},
	{"resources", "resourcesListChanged", protocol.NotifyResourcesList},
}

// listChanges returns the changes that the server tells and somebody wants to hear of, as
// indices of lists.
func (s *Session) listChanges(capabilities wire.Payload) (wanted []int) {
	for i, list := range lists {
		heard := s.options.Noticed != nil
		if list.notice == protocol.NotifyToolsList {
			heard = s.options.ToolsChanged != nil
		}
		if heard && string(capabilities.Member(list.capability).Member("listChanged").Bytes()) == "true" {
			wanted = append(wanted, i)
		}
	}
	return wanted
}

// listen subscribes to changes of lists. The request stays in flight as long as the
// session, unless the server or the connection ends it; next is how long to wait then.
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

// subscribe sends a request for a subscription; filter is the raw text of what it is to.
func (s *Session) subscribe(filter []byte, sink Sink, timely bool) (id uint64, err error) {
	if id, err = s.register(sink, timely); err != nil {
		return 0, err
	}
	members := append(append([]byte(`"notifications":{`), filter...), '}')
	message := wire.AppendRequestPrefix(nil, id, protocol.MethodListen)
	message = append(message, s.params(members)...)
	s.transport.send(outgoing{message: append(message, wire.Suffix...), id: id, method: protocol.MethodListen})
	return id, nil
}

// subscription is the sink of the subscription to changes of lists.
type subscription struct {
	session *Session
	wanted  []int
	began   time.Time
	next    time.Duration // the pause before it is made again, if this one does not last
}

func (*subscription) Progress(wire.Message) {}

func (*subscription) Caller() Caller { return nil }

// Done subscribes once more, and takes the lists for changed: nobody told meanwhile. A
// server that refused would do so again; its lists stay as they were last read.
func (l *subscription) Done(response wire.Message, err error) {
	s := l.session
	if isRefused(response, err) {
		s.log.Debug("the server does not tell changes of its lists")
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
			s.notice(wire.Message{Method: []byte(lists[i].notice)}, 0)
		}
	})
}

// isRefused reports whether the end of a subscription says that there will never be one.
func isRefused(response wire.Message, err error) bool {
	status, _ := errors.AsType[*StatusError](err)
	return status != nil && status.Code < 500 || err == nil && !response.Error.IsAbsent()
}
