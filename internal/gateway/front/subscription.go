package front

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/passthrough"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/era"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// subscriptions are those of a stateless client: requests that stay in flight, each for the
// notifications that it names. The client gets notifications only by them.
type subscriptions struct {
	session *session

	mu     sync.Mutex
	all    map[*subscription]struct{}
	topics map[downstream.Topic]int // how many subscriptions have each
	closed bool
}

// subscription is one request for notifications.
type subscription struct {
	of      *subscriptions
	request *request

	// Guarded by subscriptions.mu:
	wants          subscriptionFilter
	isAcknowledged bool       // nothing may be sent before
	early          []outgoing // what came before that
	isOver         bool
	stop           func() // frees what waits for the cancellation; may be nil
}

// subscriptionFilter is what a subscription is for.
type subscriptionFilter struct {
	tools, prompts, resources bool
	topics                    []downstream.Topic
}

// Limits of subscriptions.
const (
	maxSubscriptions    = 1000 // subscriptions of one client; a further one is refused
	maxSubscribedTopics = 1000 // and tasks, of one subscription
	maxEarly            = 100  // notifications held before a subscription is acknowledged; further ones are dropped
	maxSubscribing      = 8    // at once, for one subscription
)

func newSubscriptions(client *session) *subscriptions {
	return &subscriptions{session: client, all: make(map[*subscription]struct{}), topics: make(map[downstream.Topic]int)}
}

// add begins a subscription. What it is for is agreed on later, since servers may have to be
// asked.
func (s *subscriptions) add(r *request, params wire.Payload) {
	wants, problem := readFilter(params.Member("notifications"))
	if problem != "" {
		r.fail(invalidParams(problem))
		return
	}
	if wants.tasks() && s.session.capabilities().Member("extensions").Member(protocol.ExtensionTasks).Kind() != "object" {
		r.fail(&metatool.Error{
			Code: protocol.CodeMissingCapability, Message: "Updates of tasks are for clients that declare the extension '" + protocol.ExtensionTasks + "'",
			Data: []byte(`{"requiredCapabilities":{"extensions":{"` + protocol.ExtensionTasks + `":{}}}}`),
		})
		return
	}
	l := &subscription{of: s, request: r}
	s.mu.Lock()
	accepted := !s.closed && len(s.all) < maxSubscriptions
	if accepted {
		s.all[l] = struct{}{}
	}
	s.mu.Unlock()
	if !accepted {
		r.refuse(protocol.CodeInternalError, "There are too many subscriptions, or the workbench is shutting down")
		return
	}
	ctx := l.endWithRequest()
	agreeing, cancel := context.WithTimeout(ctx, capabilitiesTime)
	s.session.requests.unanswered.Go(func() { // ends with the context
		defer cancel()
		l.acknowledge(s.agree(agreeing, l, wants))
	})
}

// endWithRequest ends the subscription when its request is cancelled. The context ends with the
// subscription.
func (sub *subscription) endWithRequest() context.Context {
	ctx, stop := sub.request.canceller.Context()
	detach := context.AfterFunc(ctx, sub.end)
	sub.of.mu.Lock()
	defer sub.of.mu.Unlock()
	sub.stop = func() {
		detach()
		stop()
	}
	if sub.isOver {
		sub.stop()
	}
	return ctx
}

func readFilter(filter wire.Payload) (w subscriptionFilter, problem string) {
	if filter.Kind() != "object" {
		return w, "'notifications' must be an object, what to listen for"
	}
	for key, value := range filter.Members() {
		is := string(value.Bytes()) == "true"
		switch string(key) {
		case "toolsListChanged":
			w.tools = is
		case "promptsListChanged":
			w.prompts = is
		case "resourcesListChanged":
			w.resources = is
		}
	}
	if w.topics, problem = downstream.TopicsIn(filter); problem != "" {
		return w, problem
	}
	if len(w.topics) > maxSubscribedTopics {
		return w, "there are too many resources and tasks; listen for them with several requests"
	}
	return w, ""
}

// tasks reports whether the filter has tasks.
func (w subscriptionFilter) tasks() bool {
	return slices.ContainsFunc(w.topics, func(topic downstream.Topic) bool { return topic.IsTask })
}

// agree returns the part of a filter that servers offer, and subscribes to it.
func (s *subscriptions) agree(ctx context.Context, sub *subscription, wants subscriptionFilter) subscriptionFilter {
	ours := wire.Raw(s.session.forwarder.Load().KnownCapabilities(s.session))
	can := func(area, what string) bool { return string(ours.Member(area).Member(what).Bytes()) == "true" }
	agreed := subscriptionFilter{
		tools:     wants.tools && can("tools", "listChanged"),
		prompts:   wants.prompts && can("prompts", "listChanged"),
		resources: wants.resources && can("resources", "listChanged"),
	}
	if !can("resources", "subscribe") {
		wants.topics = slices.DeleteFunc(wants.topics, func(topic downstream.Topic) bool { return !topic.IsTask })
	}
	subscribed := make([]bool, len(wants.topics))
	slots := make(chan struct{}, maxSubscribing)
	var group sync.WaitGroup
	for i, topic := range wants.topics {
		slots <- struct{}{}
		group.Go(func() {
			subscribed[i] = s.subscribe(ctx, sub, topic)
			<-slots
		})
	}
	group.Wait()
	for i, topic := range wants.topics {
		if subscribed[i] {
			agreed.topics = append(agreed.topics, topic)
		}
	}
	return agreed
}

// subscribe subscribes to a topic at its server.
func (s *subscriptions) subscribe(ctx context.Context, sub *subscription, topic downstream.Topic) bool {
	s.mu.Lock()
	if sub.isOver {
		s.mu.Unlock()
		return false
	}
	s.topics[topic]++
	sub.wants.topics = append(sub.wants.topics, topic)
	s.mu.Unlock()
	err := s.requestUpdates(ctx, topic)
	s.mu.Lock()
	if err != nil {
		sub.removeTopic(topic)
	}
	late := err == nil && sub.isOver && s.topics[topic] == 0
	s.mu.Unlock()
	if late { // the server may have got the end of the subscription before its beginning
		s.unsubscribe(topic)
	}
	return err == nil && !late
}

// unsubscribe ends the updates of a topic; nobody waits for the answer.
func (s *subscriptions) unsubscribe(topic downstream.Topic) {
	method, params := topic.Unsubscribe()
	s.session.forwarder.Load().Subscribe(passthrough.Request{
		Method: method, Params: wire.Raw(params), Session: s.session, Canceller: &call.Canceller{}, Replier: make(replies, 1),
	})
}

// removeTopic removes a topic from a subscription. Called with mu held.
func (sub *subscription) removeTopic(topic downstream.Topic) {
	i := slices.Index(sub.wants.topics, topic)
	if i < 0 {
		return
	}
	sub.wants.topics = slices.Delete(sub.wants.topics, i, i+1)
	if sub.of.topics[topic]--; sub.of.topics[topic] == 0 {
		delete(sub.of.topics, topic)
	}
}

var errRefused = errors.New("the server refused the subscription")

// requestUpdates asks the server of a topic, and waits for the answer.
func (s *subscriptions) requestUpdates(ctx context.Context, topic downstream.Topic) error {
	var canceller call.Canceller
	answered := make(replies, 1)
	method, params := topic.Subscribe()
	s.session.forwarder.Load().Subscribe(passthrough.Request{
		Method: method, Params: wire.Raw(params), Session: s.session, Canceller: &canceller, Replier: answered,
	})
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		canceller.Cancel(context.Cause(ctx))
		return <-answered // comes at once: the request was cancelled
	}
}

// replies receives how a request ended whose result does not matter.
type replies chan error

// Reply implements call.Replier.
func (r replies) Reply(outcome call.Outcome, err error) {
	if err == nil && !outcome.Error.IsAbsent() {
		err = errRefused
	}
	r <- err
}

// acknowledge tells the client what was agreed on, and sends what came meanwhile.
func (sub *subscription) acknowledge(agreed subscriptionFilter) {
	params := append([]byte(`{"_meta":`), sub.meta()...)
	params = append(params, `,"notifications":{`...)
	for _, wish := range []struct {
		name   string
		agreed bool
	}{{"toolsListChanged", agreed.tools}, {"promptsListChanged", agreed.prompts}, {"resourcesListChanged", agreed.resources}} {
		if wish.agreed {
			params = append(comma(params), `"`+wish.name+`":true`...)
		}
	}
	if len(agreed.topics) > 0 {
		params = append(comma(params), downstream.FilterOf(agreed.topics)...)
	}
	sub.of.mu.Lock()
	defer sub.of.mu.Unlock()
	if sub.isOver {
		return
	}
	sub.wants.tools, sub.wants.prompts, sub.wants.resources = agreed.tools, agreed.prompts, agreed.resources
	sub.send(outgoing{method: protocol.NotifyAcknowledged, params: append(params, "}}"...)})
	sub.isAcknowledged = true
	for _, message := range sub.early {
		sub.send(message)
	}
	sub.early = nil
}

func comma(object []byte) []byte {
	if object[len(object)-1] == '{' {
		return object
	}
	return append(object, ',')
}

// meta is the _meta of all that belongs to the subscription.
func (sub *subscription) meta() []byte {
	return append(append([]byte(`{"`+protocol.MetaSubscriptionID+`":`), sub.request.reply.id...), '}')
}

// send sends a message by the path of the subscription.
func (sub *subscription) send(message outgoing) bool { return sub.request.reply.to.tryNotify(message) }

// tryNotify implements notifier: a notification goes to the subscriptions that are for it.
func (s *subscriptions) tryNotify(message outgoing) bool {
	sent := true
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.all {
		if !l.isFor(message) {
			continue
		}
		tagged := outgoing{method: message.method, params: era.TagSubscription(message.params, l.request.reply.id)}
		switch {
		case l.isAcknowledged:
			sent = l.send(tagged) && sent
		case len(l.early) < maxEarly:
			l.early = append(l.early, tagged)
		}
	}
	return sent
}

// isFor reports whether a notification is for the subscription. An update of a resource that
// nobody subscribed to is for all that subscribe to any: it may be a part of one. Called with mu
// held.
func (sub *subscription) isFor(message outgoing) bool {
	params := wire.Raw(message.params)
	switch message.method {
	case protocol.NotifyToolsList:
		return sub.wants.tools
	case protocol.NotifyPromptsList:
		return sub.wants.prompts
	case protocol.NotifyResourcesList:
		return sub.wants.resources
	case protocol.NotifyTasks:
		id, _ := params.Member("taskId").Text()
		return slices.Contains(sub.wants.topics, downstream.Topic{IsTask: true, ID: id})
	case protocol.NotifyResourceUpdated:
		uri, _ := params.Member("uri").Text()
		topic := downstream.Topic{ID: uri}
		if sub.of.topics[topic] == 0 {
			return slices.ContainsFunc(sub.wants.topics, func(other downstream.Topic) bool { return !other.IsTask })
		}
		return slices.Contains(sub.wants.topics, topic)
	}
	return false
}

// end ends the subscription with a result, which tells the client that it did not break.
func (sub *subscription) end() {
	s := sub.of
	s.mu.Lock()
	if sub.isOver {
		s.mu.Unlock()
		return
	}
	sub.isOver = true
	delete(s.all, sub)
	var last []downstream.Topic // that nobody else has
	for len(sub.wants.topics) > 0 {
		topic := sub.wants.topics[0]
		sub.removeTopic(topic)
		if s.topics[topic] == 0 {
			last = append(last, topic)
		}
	}
	stop := sub.stop
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
	for _, topic := range last {
		s.unsubscribe(topic)
	}
	result := wire.AppendMember([]byte("{"), protocol.ResultType, protocol.ResultComplete)
	result = append(append(result, `,"_meta":`...), sub.meta()...)
	sub.request.respond(metatool.Answer{Text: append(result, '}')})
}

// close ends all subscriptions; no more are accepted.
func (s *subscriptions) close() {
	s.mu.Lock()
	s.closed = true
	var all []*subscription
	for l := range s.all {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all {
		l.end()
	}
}
