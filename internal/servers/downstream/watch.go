package downstream

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file subscribes to updates of resources and tasks of a modern server: clients subscribe one by one, as in the
// legacy era, and the server gets one long request for several topics.

// Limits of the open subscription requests. Over HTTP each is a connection.
const (
	maxRemoteWatches = 4   // open subscription requests to a remote server; a further one replaces all of them
	maxLocalWatches  = 500 // open subscription requests to a process; a further one replaces all of them
)

// acknowledgeTime bounds the wait for a server to acknowledge a subscription request; then the clients that wait are
// refused.
const acknowledgeTime = 10 * time.Second

// watches are the subscription requests. At most one of them is not acknowledged yet; new subscriptions wait for it.
type watches struct {
	mu      sync.Mutex
	wanted  map[Topic]bool // topics that clients subscribed to
	uris    int            // how many of these are resources
	covered map[Topic]*watch
	open    map[*watch]struct{} // acknowledged requests
	next    *watch              // the unacknowledged request, or nil
	queue   []subscriber
}

// subscriber is a client's request that waits for a subscription.
type subscriber struct {
	id    uint64
	topic Topic
}

// watch is one subscription request, and the sink of its messages.
type watch struct {
	session *Session
	id      uint64
	topics  []Topic
	waiting []subscriber
	merges  bool // it replaces all others
	began   time.Time
	pause   time.Duration // before it is renewed, if it ends early
	overdue *time.Timer   // fires when the acknowledgement is overdue
}

func (*watch) Progress(wire.Message) {}

func (*watch) Caller() Caller { return nil }

// handleSubscription handles a request to subscribe to one topic or to unsubscribe, which the modern era does not have,
// and reports whether it was one. Requests take effect in order; another goroutine answers them later.
func (s *Session) handleSubscription(id uint64, request Forward) bool {
	topic, begins, ok := TopicOf(request.Method, wire.Raw(wire.AppendEdited(nil, request.Params, request.Edits...)))
	if !ok {
		return false
	}
	answer := func() {
		s.complete(id, refusalOf(protocol.CodeInvalidParams, "Invalid params: '"+topic.key()+"' must be a string, and not empty"), nil)
	}
	switch {
	case topic.ID != "" && begins:
		answer = s.addSubscription(subscriber{id, topic})
	case topic.ID != "":
		s.removeSubscription(topic)
		answer = func() { s.complete(id, emptyResult, nil) }
	}
	if answer != nil {
		s.run(answer)
	}
	return true
}

// emptyResult is an empty result.
var emptyResult = wire.Message{Result: wire.Raw([]byte("{}"))}

// complete answers a request without the server.
func (s *Session) complete(id uint64, response wire.Message, err error) {
	if p, ok := s.remove(id); ok {
		p.sink.Done(response, err)
	}
}

// addSubscription subscribes for a client. It returns a function that answers the client, unless the server's answer is needed.
func (s *Session) addSubscription(client subscriber) (answer func()) {
	w := &s.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wanted == nil {
		w.wanted, w.covered, w.open = make(map[Topic]bool), make(map[Topic]*watch), make(map[*watch]struct{})
	}
	if !w.wanted[client.topic] && !client.topic.IsTask {
		w.uris++
	}
	w.wanted[client.topic] = true
	if w.covered[client.topic] != nil {
		return func() { s.complete(client.id, emptyResult, nil) }
	}
	w.queue = append(w.queue, client)
	if failed, err := s.watchNext(firstPause); err != nil {
		return func() { s.completeAll(failed, wire.Message{}, err) }
	}
	return nil
}

// removeSubscription ends a subscription. Over HTTP, a request without remaining topics is cancelled. For a process an open request
// costs nothing, and some servers would take the cancellation for the end of all subscriptions.
func (s *Session) removeSubscription(topic Topic) {
	w := &s.watches
	w.mu.Lock()
	if w.wanted[topic] && !topic.IsTask {
		w.uris--
	}
	delete(w.wanted, topic)
	of := w.covered[topic]
	useless := of != nil && s.options.Remote != nil && !slices.ContainsFunc(of.topics, func(topic Topic) bool { return w.wanted[topic] })
	if useless {
		w.removeWatch(of)
	}
	w.mu.Unlock()
	if useless {
		s.cancel(of.id, nil)
	}
}

// removeWatch removes a request. The caller holds mu.
func (w *watches) removeWatch(of *watch) {
	delete(w.open, of)
	for _, topic := range of.topics {
		if w.covered[topic] == of {
			delete(w.covered, topic)
		}
	}
}

// watchNext sends the next subscription request, if one is needed and none is unacknowledged. If sending fails, it
// returns the clients that wait, and the reason. The caller holds mu.
func (s *Session) watchNext(pause time.Duration) (failed []subscriber, err error) {
	w := &s.watches
	if w.next != nil || len(w.queue) == 0 {
		return nil, nil
	}
	next := &watch{session: s, waiting: w.queue, began: time.Now(), pause: pause}
	w.queue = nil
	limit := maxLocalWatches
	if s.options.Remote != nil {
		limit = maxRemoteWatches
	}
	next.merges = len(w.open) >= limit
	for _, client := range next.waiting {
		if !slices.Contains(next.topics, client.topic) {
			next.topics = append(next.topics, client.topic)
		}
	}
	if next.merges {
		for topic := range w.covered {
			if w.wanted[topic] {
				next.topics = append(next.topics, topic)
			}
		}
	}
	if next.id, err = s.subscribe(FilterOf(next.topics), next, true); err != nil {
		return next.waiting, err
	}
	w.next = next
	next.overdue = time.AfterFunc(acknowledgeTime, next.giveUp)
	return nil, nil
}

// giveUp ends a request that the server does not acknowledge: its waiting clients are refused, and newer subscriptions
// go into the next request.
func (of *watch) giveUp() {
	s, w := of.session, &of.session.watches
	w.mu.Lock()
	if w.next != of {
		w.mu.Unlock()
		return
	}
	w.next = nil
	waiting := of.waiting
	of.waiting = nil
	failed, err := s.watchNext(firstPause)
	w.mu.Unlock()
	s.cancel(of.id, nil)
	s.completeAll(waiting, refusalOf(protocol.CodeInternalError,
		fmt.Sprintf("The server did not acknowledge the subscription within %s", acknowledgeTime)), nil)
	s.completeAll(failed, wire.Message{}, err)
}

// acknowledged handles the acknowledgement of a subscription request.
func (s *Session) acknowledged(params wire.Payload) {
	w := &s.watches
	w.mu.Lock()
	of := w.next
	if of == nil || rawID(params.Member("_meta").Member(protocol.MetaSubscriptionID).Bytes()) != of.id {
		w.mu.Unlock()
		return
	}
	agreed := make(map[Topic]bool)
	told, _ := TopicsIn(params.Member("notifications"))
	for _, topic := range told {
		agreed[topic] = true
	}
	of.topics = slices.DeleteFunc(of.topics, func(topic Topic) bool { return !agreed[topic] })
	of.overdue.Stop()
	w.next = nil
	var replaced []*watch
	if of.merges {
		for other := range w.open {
			replaced = append(replaced, other)
			w.removeWatch(other)
		}
	}
	w.open[of] = struct{}{}
	for _, topic := range of.topics {
		w.covered[topic] = of
	}
	waiting := of.waiting
	of.waiting = nil
	failed, err := s.watchNext(firstPause)
	w.mu.Unlock()
	s.disableTimeout(of.id)
	for _, other := range replaced {
		s.cancel(other.id, nil)
	}
	for _, client := range waiting {
		response := emptyResult
		if !agreed[client.topic] {
			response = refusalOf(protocol.CodeInvalidParams, fmt.Sprintf("The server does not tell updates of '%.1000s'", client.topic.ID))
		}
		s.complete(client.id, response, nil)
	}
	s.completeAll(failed, wire.Message{}, err)
}

func (s *Session) completeAll(clients []subscriber, response wire.Message, err error) {
	for _, client := range clients {
		s.complete(client.id, response, err)
	}
}

// Done handles the end of a subscription request. An acknowledged one is renewed, and its resources are reported as
// updated, since updates in between were missed. The state of a task is known only to the server; its clients can ask.
func (of *watch) Done(response wire.Message, err error) {
	s, w := of.session, &of.session.watches
	w.mu.Lock()
	_, wasOpen := w.open[of]
	if w.next == of {
		of.overdue.Stop()
		w.next = nil
	}
	w.removeWatch(of)
	failed, problem := s.watchNext(firstPause)
	w.mu.Unlock()
	s.completeAll(failed, wire.Message{}, problem)
	if err == nil && response.Error.IsAbsent() {
		response = refusalOf(protocol.CodeInvalidParams, "The server does not tell updates of resources or tasks")
	}
	s.completeAll(of.waiting, response, err)
	if !wasOpen || isRefused(wire.Message{}, err) {
		return
	}
	if time.Since(of.began) >= lastPause {
		of.pause = firstPause
	}
	s.run(func() {
		if pause(s.life, of.pause) {
			s.rewatch(of)
		}
	})
}

// rewatch renews the subscriptions of a request that has ended.
func (s *Session) rewatch(ended *watch) {
	w := &s.watches
	w.mu.Lock()
	var lost []Topic
	for _, topic := range ended.topics {
		if w.wanted[topic] && w.covered[topic] == nil {
			lost = append(lost, topic)
			w.queue = append(w.queue, subscriber{topic: topic})
		}
	}
	failed, err := s.watchNext(min(2*ended.pause, lastPause))
	w.mu.Unlock()
	s.completeAll(failed, wire.Message{}, err)
	for _, topic := range lost {
		if !topic.IsTask {
			s.handleNotification(wire.Message{Method: []byte(protocol.NotifyResourceUpdated), Params: wire.Raw(topic.params())}, 0)
		}
	}
}

// isWanted reports whether a client subscribed to an updated resource, or to one that it may be part of.
func (s *Session) isWanted(params wire.Payload) bool {
	uri, _ := params.Member("uri").Text()
	w := &s.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	topic := Topic{ID: uri}
	return w.uris > 0 && (w.wanted[topic] || w.covered[topic] == nil)
}
