package front

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/call"
	"github.com/mcp-workbench/mcp-workbench/internal/passage"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// listens are the subscriptions of a modern client: requests that stay in flight, each for
// the notifications that it names. A client is told nothing unasked but by them.
type listens struct {
	guest *guest

	mu     sync.Mutex
	all    map[*listening]struct{}
	uris   map[string]int // how many listens have each
	closed bool
}

// listening is one subscription.
type listening struct {
	of      *listens
	request *inquiry
	tell    func(message []byte) bool

	// Guarded by listens.mu:
	wants wishes
	begun bool     // it was acknowledged; nothing may be sent before
	early [][]byte // what came before that
	over  bool
}

// wishes are what a subscription is for.
type wishes struct {
	tools, prompts, resources bool
	uris                      []string
}

// Limits of subscriptions.
const (
	maxListens     = 1000 // of one client
	maxListenURIs  = 1000 // of one subscription
	maxEarly       = 100
	maxSubscribing = 8 // at once, for one subscription
)

func newListens(client *guest) *listens {
	return &listens{guest: client, all: make(map[*listening]struct{}), uris: make(map[string]int)}
}

// begin begins a subscription. What it is for is agreed on later, since servers may have to
// be asked.
func (s *listens) begin(r *inquiry, params wire.Payload) {
	wants, problem := readWishes(params.Member("notifications"))
	if problem != "" {
		r.refuse(invalidParams(problem))
		return
	}
	l := &listening{of: s, request: r, tell: unasked(r.to)}
	s.mu.Lock()
	taken := !s.closed && len(s.all) < maxListens
	if taken {
		s.all[l] = struct{}{}
	}
	s.mu.Unlock()
	if !taken {
		r.refuse(&refusal{code: protocol.CodeInternalError, message: "There are too many subscriptions, or the workbench is shutting down"})
		return
	}
	ctx, cancel := context.WithTimeout(s.guest.life, introductionTime)
	r.onCancel(func(error) {
		cancel()
		l.end()
	})
	s.guest.requests.Go(func() { // ends with ctx
		defer cancel()
		l.acknowledge(s.agree(ctx, l, wants))
	})
}

// unasked returns how a sender takes what must not block.
func unasked(to sender) func(message []byte) bool {
	if direct, ok := to.(listener); ok {
		return direct.tell
	}
	return func(message []byte) bool { return to.notify(message) == nil }
}

func readWishes(filter wire.Payload) (w wishes, problem string) {
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
		case "resourceSubscriptions":
			w.uris = nil
			for element := range value.Elements() {
				uri, ok := element.Text()
				if !ok {
					return w, "'resourceSubscriptions' must be an array of URIs"
				}
				w.uris = append(w.uris, uri)
			}
		}
	}
	if len(w.uris) > maxListenURIs {
		return w, "'resourceSubscriptions' has too many URIs; listen for them with several requests"
	}
	return w, ""
}

// agree finds out what of the wishes can be fulfilled, and has servers tell it.
func (s *listens) agree(ctx context.Context, l *listening, wants wishes) wishes {
	found := make(chan []byte, 1)
	s.guest.passage.Load().Capabilities(ctx, s.guest, func(ours []byte) { found <- ours })
	ours := wire.Raw(<-found) // comes at the latest when ctx ends
	can := func(area, what string) bool { return string(ours.Member(area).Member(what).Bytes()) == "true" }
	agreed := wishes{
		tools:     wants.tools && can("tools", "listChanged"),
		prompts:   wants.prompts && can("prompts", "listChanged"),
		resources: wants.resources && can("resources", "listChanged"),
	}
	if !can("resources", "subscribe") {
		return agreed
	}
	subscribed := make([]bool, len(wants.uris))
	slots := make(chan struct{}, maxSubscribing)
	var group sync.WaitGroup
	for i, uri := range wants.uris {
		slots <- struct{}{}
		group.Go(func() {
			subscribed[i] = s.subscribe(ctx, l, uri)
			<-slots
		})
	}
	group.Wait()
	for i, uri := range wants.uris {
		if subscribed[i] {
			agreed.uris = append(agreed.uris, uri)
		}
	}
	return agreed
}

// subscribe has the server of a resource tell its updates.
func (s *listens) subscribe(ctx context.Context, l *listening, uri string) bool {
	s.mu.Lock()
	if l.over {
		s.mu.Unlock()
		return false
	}
	s.uris[uri]++
	l.wants.uris = append(l.wants.uris, uri)
	s.mu.Unlock()
	err := s.send(ctx, protocol.MethodSubscribe, uri)
	s.mu.Lock()
	if err != nil {
		l.forget(uri)
	}
	late := err == nil && l.over && s.uris[uri] == 0
	s.mu.Unlock()
	if late { // the end of the listening may have been told before its beginning
		s.unsubscribe(uri)
	}
	return err == nil && !late
}

// unsubscribe ends what subscribe began; nobody waits for the answer.
func (s *listens) unsubscribe(uri string) {
	params := append(wire.AppendMember([]byte("{"), "uri", uri), '}')
	s.guest.passage.Load().Handle(passage.Request{
		Method: protocol.MethodUnsubscribe, Params: wire.Raw(params), Session: s.guest, Ticket: &call.Ticket{}, Replier: make(replies, 1),
	})
}

// forget takes a URI out of a subscription. Called with mu held.
func (l *listening) forget(uri string) {
	for i, known := range l.wants.uris {
		if known == uri {
			l.wants.uris = append(l.wants.uris[:i], l.wants.uris[i+1:]...)
			if l.of.uris[uri]--; l.of.uris[uri] == 0 {
				delete(l.of.uris, uri)
			}
			return
		}
	}
}

var errRefused = errors.New("the server refused the subscription")

// send asks the server of a resource, and waits for the answer.
func (s *listens) send(ctx context.Context, method, uri string) error {
	var ticket call.Ticket
	answered := make(replies, 1)
	params := append(wire.AppendMember([]byte("{"), "uri", uri), '}')
	s.guest.passage.Load().Handle(passage.Request{
		Method: method, Params: wire.Raw(params), Session: s.guest, Ticket: &ticket, Replier: answered,
	})
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		ticket.Cancel(context.Cause(ctx))
		return <-answered // comes at once: the ticket was cancelled
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
func (l *listening) acknowledge(agreed wishes) {
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
	for i, uri := range agreed.uris {
		if i == 0 {
			params = append(comma(params), `"resourceSubscriptions":[`...)
		} else {
			params = append(params, ',')
		}
		params = wire.AppendString(params, uri)
		if i == len(agreed.uris)-1 {
			params = append(params, ']')
		}
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
func (l *listening) meta() []byte {
	return append(append([]byte(`{"`+protocol.MetaSubscriptionID+`":`), l.request.id...), '}')
}

// tell implements listener: a notification goes to the subscriptions that are for it.
func (s *listens) tell(message []byte) bool {
	parsed, err := wire.Parse(wire.NewFrame(bytes.Clone(message)))
	if err != nil {
		return false
	}
	method := string(parsed.Method)
	uri, _ := parsed.Params.Member("uri").Text()
	told := true
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.all {
		if !l.isFor(method, uri) {
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
func (l *listening) isFor(method, uri string) bool {
	switch method {
	case protocol.NotifyToolsList:
		return l.wants.tools
	case protocol.NotifyPromptsList:
		return l.wants.prompts
	case protocol.NotifyResourcesList:
		return l.wants.resources
	case protocol.NotifyResourceUpdated:
		if l.of.uris[uri] == 0 {
			return len(l.wants.uris) > 0
		}
		for _, known := range l.wants.uris {
			if known == uri {
				return true
			}
		}
	}
	return false
}

// tag says by which subscription a notification comes.
func (l *listening) tag(message wire.Message) []byte {
	params := message.Params
	if params.Kind() != "object" {
		params = wire.Raw([]byte("{}"))
	}
	isOurs := func(key string) bool { return key == protocol.MetaSubscriptionID }
	own := l.meta()
	meta := wire.AppendWithMembers([]byte(`"_meta":`), params.Member("_meta"), isOurs, own[1:len(own)-1])
	return wire.Notification(string(message.Method),
		wire.AppendWithMembers(nil, params, func(key string) bool { return key == "_meta" }, meta))
}

// end ends the subscription with its result, which says that it was not lost.
func (l *listening) end() {
	s := l.of
	s.mu.Lock()
	if l.over {
		s.mu.Unlock()
		return
	}
	l.over = true
	delete(s.all, l)
	var last []string // that nobody else has
	for len(l.wants.uris) > 0 {
		uri := l.wants.uris[0]
		l.forget(uri)
		if s.uris[uri] == 0 {
			last = append(last, uri)
		}
	}
	s.mu.Unlock()
	for _, uri := range last {
		s.unsubscribe(uri)
	}
	result := wire.AppendMember([]byte("{"), protocol.ResultType, protocol.ResultComplete)
	result = append(append(result, `,"_meta":`...), l.meta()...)
	l.request.finish(wire.Result(l.request.id, append(result, '}')))
}

// close ends all subscriptions; there are no more.
func (s *listens) close() {
	s.mu.Lock()
	s.closed = true
	var all []*listening
	for l := range s.all {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all {
		l.end()
	}
}
