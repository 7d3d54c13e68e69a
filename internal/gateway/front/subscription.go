package front

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/passthrough"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// subscriptions are the subscriptions of a modern client: requests that stay in flight, each for
// the notifications that it names. A client is told nothing unasked but by them.
type subscriptions struct {
	statelessClient *statelessClient

	mu     sync.Mutex
	all    map[*subscription]struct{}
	topics map[downstream.Topic]int // how many listens have each
	closed bool
}

// subscription is one subscription.
type subscription struct {
	of      *subscriptions
	request *statelessRequest
	tell    func(message []byte) bool

	// Guarded by listens.mu:
	wants subscriptionFilter
	begun bool     // it was acknowledged; nothing may be sent before
	early [][]byte // what came before that
	over  bool
}

// subscriptionFilter are what a subscription is for.
type subscriptionFilter struct {
	tools, prompts, resources bool
	topics                    []downstream.Topic
}

// Limits of subscriptions.
const (
	maxSubscriptions    = 1000 // of one client
	maxSubscribedTopics = 1000 // and tasks, of one subscription
	maxEarly            = 100
	maxSubscribing      = 8 // at once, for one subscription
)

func newSubscriptions(client *statelessClient) *subscriptions {
	return &subscriptions{statelessClient: client, all: make(map[*subscription]struct{}), topics: make(map[downstream.Topic]int)}
}

// begin begins a subscription. What it is for is agreed on later, since servers may have to
// be asked.
func (s *subscriptions) begin(r *statelessRequest, params wire.Payload) {
	wants, problem := readFilter(params.Member("notifications"))
	if problem != "" {
		r.refuse(invalidParams(problem))
		return
	}
	if wants.tasks() && s.statelessClient.capabilities.Member("extensions").Member(protocol.ExtensionTasks).Kind() != "object" {
		r.refuse(&refusal{
			code: protocol.CodeMissingCapability, message: "Updates of tasks are for clients that declare the extension '" + protocol.ExtensionTasks + "'",
			data: []byte(`{"requiredCapabilities":{"extensions":{"` + protocol.ExtensionTasks + `":{}}}}`),
		})
		return
	}
	l := &subscription{of: s, request: r, tell: unasked(r.to)}
	s.mu.Lock()
	taken := !s.closed && len(s.all) < maxSubscriptions
	if taken {
		s.all[l] = struct{}{}
	}
	s.mu.Unlock()
	if !taken {
		r.refuse(&refusal{code: protocol.CodeInternalError, message: "There are too many subscriptions, or the workbench is shutting down"})
		return
	}
	ctx, cancel := context.WithTimeout(s.statelessClient.life, capabilitiesTime)
	r.await(stopping(func() {
		cancel()
		l.end()
	}))
	s.statelessClient.requests.Go(func() { // ends with ctx
		defer cancel()
		l.acknowledge(s.agree(ctx, l, wants))
	})
}

// unasked returns how a sender takes what must not block.
func unasked(to replyPath) func(message []byte) bool {
	if direct, ok := to.(notifier); ok {
		return direct.tell
	}
	return func(message []byte) bool { return to.notify(message) == nil }
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

// tasks reports whether there are tasks among them.
func (w subscriptionFilter) tasks() bool {
	return slices.ContainsFunc(w.topics, func(topic downstream.Topic) bool { return topic.IsTask })
}

// agree finds out what of the wishes can be fulfilled, and has servers tell it.
func (s *subscriptions) agree(ctx context.Context, l *subscription, wants subscriptionFilter) subscriptionFilter {
	ours := wire.Raw(s.statelessClient.passage.Load().KnownCapabilities(s.statelessClient))
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
			subscribed[i] = s.subscribe(ctx, l, topic)
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

// subscribe has the server of a resource or task tell its updates.
func (s *subscriptions) subscribe(ctx context.Context, l *subscription, topic downstream.Topic) bool {
	s.mu.Lock()
	if l.over {
		s.mu.Unlock()
		return false
	}
	s.topics[topic]++
	l.wants.topics = append(l.wants.topics, topic)
	s.mu.Unlock()
	err := s.send(ctx, topic)
	s.mu.Lock()
	if err != nil {
		l.forget(topic)
	}
	late := err == nil && l.over && s.topics[topic] == 0
	s.mu.Unlock()
	if late { // the end of the listening may have been told before its beginning
		s.unsubscribe(topic)
	}
	return err == nil && !late
}

// unsubscribe ends what subscribe began; nobody waits for the answer.
func (s *subscriptions) unsubscribe(topic downstream.Topic) {
	method, params := topic.Unsubscribe()
	s.statelessClient.passage.Load().Subscribe(passthrough.Request{
		Method: method, Params: wire.Raw(params), Session: s.statelessClient, Canceller: &call.Canceller{}, Replier: make(replies, 1),
	})
}

// forget takes something out of a subscription. Called with mu held.
func (l *subscription) forget(topic downstream.Topic) {
	i := slices.Index(l.wants.topics, topic)
	if i < 0 {
		return
	}
	l.wants.topics = slices.Delete(l.wants.topics, i, i+1)
	if l.of.topics[topic]--; l.of.topics[topic] == 0 {
		delete(l.of.topics, topic)
	}
}

var errRefused = errors.New("the server refused the subscription")

// send asks the server of a resource or task, and waits for the answer.
func (s *subscriptions) send(ctx context.Context, topic downstream.Topic) error {
	var canceller call.Canceller
	answered := make(replies, 1)
	method, params := topic.Subscribe()
	s.statelessClient.passage.Load().Subscribe(passthrough.Request{
		Method: method, Params: wire.Raw(params), Session: s.statelessClient, Canceller: &canceller, Replier: answered,
	})
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		canceller.Cancel(context.Cause(ctx))
		return <-answered // comes at once: the canceller was cancelled
	}
}

// replies takes the end of a request whose result does not matter.
type replies chan error

// Reply implements call.Replier.
func (r replies) Reply(outcome call.Outcome, err error) {
	if err == nil && !outcome.Error.IsAbsent() {
		err = errRefused
	}
	r <- err
}

// acknowledge tells the client what was agreed on, and then what came meanwhile.
func (l *subscription) acknowledge(agreed subscriptionFilter) {
	params := append([]byte(`{"_meta":`), l.meta()...)
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
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	if l.over {
		return
	}
	l.wants.tools, l.wants.prompts, l.wants.resources = agreed.tools, agreed.prompts, agreed.resources
	l.tell(wire.Notification(protocol.NotifyAcknowledged, append(params, "}}"...)))
	l.begun = true
	for _, message := range l.early {
		l.tell(message)
	}
	l.early = nil
}

func comma(object []byte) []byte {
	if object[len(object)-1] == '{' {
		return object
	}
	return append(object, ',')
}

// meta is the _meta of all that belongs to the subscription.
func (l *subscription) meta() []byte {
	return append(append([]byte(`{"`+protocol.MetaSubscriptionID+`":`), l.request.id...), '}')
}

// tell implements listener: a notification goes to the subscriptions that are for it.
func (s *subscriptions) tell(message []byte) bool {
	parsed, err := wire.Parse(wire.NewFrame(bytes.Clone(message)))
	if err != nil {
		return false
	}
	told := true
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.all {
		if !l.isFor(parsed) {
			continue
		}
		switch tagged := l.tag(parsed); {
		case l.begun:
			told = l.tell(tagged) && told
		case len(l.early) < maxEarly:
			l.early = append(l.early, tagged)
		}
	}
	return told
}

// isFor reports whether a notification is one that the subscription is for. That a resource
// changed which nobody subscribed to is for all who did to any: it may be a part of it.
// Called with mu held.
func (l *subscription) isFor(message wire.Message) bool {
	switch string(message.Method) {
	case protocol.NotifyToolsList:
		return l.wants.tools
	case protocol.NotifyPromptsList:
		return l.wants.prompts
	case protocol.NotifyResourcesList:
		return l.wants.resources
	case protocol.NotifyTasks:
		id, _ := message.Params.Member("taskId").Text()
		return slices.Contains(l.wants.topics, downstream.Topic{IsTask: true, ID: id})
	case protocol.NotifyResourceUpdated:
		uri, _ := message.Params.Member("uri").Text()
		topic := downstream.Topic{ID: uri}
		if l.of.topics[topic] == 0 {
			return slices.ContainsFunc(l.wants.topics, func(other downstream.Topic) bool { return !other.IsTask })
		}
		return slices.Contains(l.wants.topics, topic)
	}
	return false
}

// tag says by which subscription a notification comes.
func (l *subscription) tag(message wire.Message) []byte {
	params := message.Params
	if params.Kind() != "object" {
		params = wire.Raw([]byte("{}"))
	}
	isOurs := func(key string) bool { return key == protocol.MetaSubscriptionID }
	own := l.meta()
	if meta := params.Member("_meta"); meta.Kind() == "object" {
		tagged := wire.AppendWithMembers(nil, meta, isOurs, own[1:len(own)-1])
		return wire.Notification(string(message.Method), wire.AppendEdited(nil, params, wire.Edit{Part: meta, With: tagged}))
	}
	meta := append([]byte(`"_meta":`), own...)
	return wire.Notification(string(message.Method),
		wire.AppendWithMembers(nil, params, func(key string) bool { return key == "_meta" }, meta))
}

// end ends the subscription with its result, which says that it was not lost.
func (l *subscription) end() {
	s := l.of
	s.mu.Lock()
	if l.over {
		s.mu.Unlock()
		return
	}
	l.over = true
	delete(s.all, l)
	var last []downstream.Topic // that nobody else has
	for len(l.wants.topics) > 0 {
		topic := l.wants.topics[0]
		l.forget(topic)
		if s.topics[topic] == 0 {
			last = append(last, topic)
		}
	}
	s.mu.Unlock()
	for _, topic := range last {
		s.unsubscribe(topic)
	}
	result := wire.AppendMember([]byte("{"), protocol.ResultType, protocol.ResultComplete)
	result = append(append(result, `,"_meta":`...), l.meta()...)
	l.request.finish(wire.Result(l.request.id, append(result, '}')))
}

// close ends all subscriptions; there are no more.
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
