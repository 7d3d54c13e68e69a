package relay

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// record is the state of the client's session: enough to restore it on a new connection, and to
// answer the requests in flight when a connection breaks. It is safe for concurrent use.
type record struct {
	mu      sync.Mutex
	current *link // the link for the client's messages; nil without one

	initialize  []byte // the client's request; nil before it
	initializer string // key of its id until it is answered
	initialized []byte // the client's notification; nil before it
	level       []byte // the last logging/setLevel
	subscribed  []subscription
	listChanges []string // notifications that make the client list again
	opened      []string
	lastAsked   uint64
	lastOurs    uint64

	requests  map[string]request  // of the client, unanswered
	questions map[string]struct{} // of the workbench, unanswered; by id as written
}

// request is a request of the client in flight.
type request struct {
	link *link
	id   []byte // as the client wrote it
	sent bool   // it was written to the link, or will be
	// again is the whole request if it can be repeated: a listening request has no side effects.
	again []byte
	// listChanges are notifications about the lists that it listens to, which may have changed.
	listChanges [][]byte
}

// subscription is a resource that the client subscribed to.
type subscription struct {
	uri     string
	request []byte
}

// Limits of the recorded state. Anything beyond them is not restored.
const (
	maxSubscriptions = 10_000   // subscriptions that are restored; further ones are lost with the workbench
	maxQuestions     = 10_000   // open questions that are withdrawn; further ones stay open
	maxOpened        = 10_000   // opened toolboxes that are restored; further ones have to be opened again
	maxAgain         = 64 << 10 // size of a message that is kept to be sent again; a longer one is not restored
)

func newRecord() record {
	return record{requests: make(map[string]request), questions: make(map[string]struct{})}
}

// resumeState returns the state that the next workbench needs.
func (c *record) resumeState(broken int) Resume {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Resume{Opened: slices.Clone(c.opened), LastAsked: c.lastAsked, Broken: broken}
}

// recordSending records a frame of the client before it is sent on the link, and returns the keys of its requests. If that
// link is not the current one, ok is false, and the frame must be sent on another.
func (c *record) recordSending(l *link, frame wire.Frame) (requests []string, ok bool) {
	frames := []wire.Frame{frame}
	if frame.IsBatch() {
		frames = elements(frame)
	}
	messages := make([]wire.Message, len(frames))
	for i := range frames {
		messages[i], _ = wire.Parse(frames[i]) // the workbench reports the mistake
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != l {
		return nil, false
	}
	for i, message := range messages {
		if key := c.trackRequest(l, frames[i], message); key != "" {
			requests = append(requests, key)
		}
	}
	return requests, true
}

// recordSent records that requests were written to the link, and returns the ids of those that will not be answered because
// it broke meanwhile.
func (c *record) recordSent(l *link, requests []string) (lost [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range requests {
		entry, ok := c.requests[key]
		switch {
		case !ok: // already answered
		case c.current != l && entry.again == nil:
			lost = append(lost, entry.id)
			delete(c.requests, key)
		default:
			entry.sent = true
			c.requests[key] = entry
		}
	}
	return lost
}

// removeUnsent removes requests that could not be written to the link. It reports whether to send them on another one:
// messages that establish the session are sent there anyway.
func (c *record) removeUnsent(requests []string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := false
	for _, key := range requests {
		if entry, ok := c.requests[key]; ok && entry.again == nil {
			again = true
			delete(c.requests, key)
		}
	}
	return again
}

// elements returns the messages of a batch as separate frames.
func elements(frame wire.Frame) (frames []wire.Frame) {
	whole, err := wire.ParseValue(bytes.Clone(frame.Bytes()))
	if err != nil {
		return nil
	}
	for element := range whole.Elements() {
		frames = append(frames, wire.NewFrame(bytes.Clone(element.Bytes())))
	}
	return frames
}

// trackRequest records a request and returns its key; "" if it needs no answer. It is called with mu held.
func (c *record) trackRequest(l *link, frame wire.Frame, message wire.Message) (noted string) {
	method := string(message.Method)
	switch {
	case message.IsResponse():
		delete(c.questions, string(message.ID.Bytes()))
		return ""
	case message.IsNotification():
		switch method {
		case protocol.NotifyInitialized:
			c.initialized = line(frame)
		case protocol.NotifyCancelled: // which is not answered then
			delete(c.requests, idKey(message.Params.Member("requestId")))
		}
		return ""
	}
	key := idKey(message.ID)
	entry := request{link: l, id: bytes.Clone(message.ID.Bytes())}
	switch method {
	case protocol.MethodInitialize:
		c.initialize, c.initializer, c.initialized = line(frame), key, nil
		return ""
	case protocol.MethodListen:
		if len(frame.Bytes()) <= maxAgain {
			entry.again, entry.listChanges = line(frame), listChanges(message)
		}
	case protocol.MethodSetLevel:
		c.level = line(frame)
	case protocol.MethodSubscribe, protocol.MethodUnsubscribe:
		c.subscribe(method, frame, message.Params)
	}
	c.requests[key] = entry
	return key
}

// listChanges returns the notifications that make a listening client list again.
func listChanges(listen wire.Message) (messages [][]byte) {
	params := append([]byte(`{"_meta":{"`+protocol.MetaSubscriptionID+`":`), listen.ID.Bytes()...)
	params = append(params, "}}"...)
	for _, list := range []struct{ wish, method string }{
		{"toolsListChanged", protocol.NotifyToolsList},
		{"resourcesListChanged", protocol.NotifyResourcesList},
		{"promptsListChanged", protocol.NotifyPromptsList},
	} {
		if string(listen.Params.Member("notifications").Member(list.wish).Bytes()) == "true" {
			messages = append(messages, wire.Notification(list.method, params))
		}
	}
	return messages
}

// subscribe is called with mu held.
func (c *record) subscribe(method string, frame wire.Frame, params wire.Payload) {
	uri, ok := params.Member("uri").Text()
	if !ok {
		return
	}
	c.subscribed = slices.DeleteFunc(c.subscribed, func(s subscription) bool { return s.uri == uri })
	if method == protocol.MethodSubscribe && len(c.subscribed) < maxSubscriptions {
		c.subscribed = append(c.subscribed, subscription{uri, line(frame)})
	}
}

// recordReceived records a frame of the workbench. It reports whether the frame is for the client.
func (c *record) recordReceived(l *link, frame wire.Frame) bool {
	if frame.Bytes()[0] == '#' { // an unknown mark is not for the client, either
		if toolbox, ok := ParseMark(frame.Bytes()); ok {
			c.open(toolbox)
		}
		l.ended = l.ended || string(frame.Bytes()) == strings.TrimSpace(Farewell)
		return false
	}
	if frame.IsBatch() {
		for _, one := range elements(frame) {
			c.recordReceived(l, one)
		}
		return true
	}
	id, kind := response(frame)
	switch kind {
	case isResponse:
		if isOwnID(id) {
			return false
		}
		if c.recordAnswer(id) {
			c.recordAnnounced(frame)
		}
	case isRequest:
		c.recordQuestion(id)
	case isOther:
		c.recordWithdrawal(frame)
	}
	return true
}

func (c *record) open(toolbox string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.opened) < maxOpened && !slices.Contains(c.opened, toolbox) {
		c.opened = append(c.opened, toolbox)
	}
}

// recordQuestion records a question of the workbench.
func (c *record) recordQuestion(id []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if number, err := strconv.ParseUint(string(id), 10, 64); err == nil {
		c.lastAsked = max(c.lastAsked, number)
	}
	if len(c.questions) < maxQuestions {
		c.questions[string(id)] = struct{}{}
	}
}

// withdrawal starts a notification that a question needs no answer any more. Only those have to be parsed.
var withdrawal = []byte(`{"jsonrpc":"2.0","method":"` + protocol.NotifyCancelled + `"`)

func (c *record) recordWithdrawal(frame wire.Frame) {
	if !bytes.HasPrefix(frame.Bytes(), withdrawal) {
		return
	}
	if message, err := wire.Parse(frame); err == nil {
		c.mu.Lock()
		delete(c.questions, string(message.Params.Member("requestId").Bytes()))
		c.mu.Unlock()
	}
}

// recordAnswer records the response to a client's request. It reports whether that request was initialize.
func (c *record) recordAnswer(id []byte) bool {
	key := idKey(wire.Raw(id))
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.requests, key)
	begins := c.initializer != "" && c.initializer == key
	if begins {
		c.initializer = ""
	}
	return begins
}

// recordAnnounced records the notifications announced to the client.
func (c *record) recordAnnounced(frame wire.Frame) {
	message, err := wire.Parse(frame)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if message.Result.IsAbsent() {
		c.initialize = nil // refused: there is no session
		return
	}
	c.listChanges = nil
	capabilities := message.Result.Member("capabilities")
	for _, area := range []struct{ name, method string }{
		{"tools", protocol.NotifyToolsList}, {"resources", protocol.NotifyResourcesList}, {"prompts", protocol.NotifyPromptsList},
	} {
		if string(capabilities.Member(area.name).Member("listChanged").Bytes()) == "true" {
			c.listChanges = append(c.listChanges, area.method)
		}
	}
}

// removeLost removes and returns the requests sent on a link that will not be answered, and the questions whose answers nobody awaits.
func (c *record) removeLost(l *link) (requests, questions [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = nil
	for key, entry := range c.requests {
		// A request that is being written belongs to its writer.
		if entry.link == l && entry.sent && entry.again == nil {
			requests = append(requests, entry.id)
			delete(c.requests, key)
		}
	}
	for id := range c.questions {
		questions = append(questions, []byte(id))
	}
	clear(c.questions)
	return requests, questions
}

// plan is how to restore a session on a new connection.
type plan struct {
	initialize  []byte   // answered to the relay; nil without such a handshake
	then        [][]byte // sent after that
	listChanges [][]byte // sent to the client
}

// plan plans the session on a link, and assigns the repeated requests to it.
func (c *record) plan(l *link) (p plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = l
	for key, entry := range c.requests {
		if entry.again != nil {
			entry.link, entry.sent = l, true
			c.requests[key] = entry
			p.then = append(p.then, bytes.Clone(entry.again))
			p.listChanges = append(p.listChanges, entry.listChanges...)
		}
	}
	switch {
	case c.initialize == nil:
		return p
	case c.initializer != "": // the client awaits the response
		p.then = append(p.then, bytes.Clone(c.initialize))
	default:
		p.initialize = c.ownRequest(c.initialize)
		for _, method := range c.listChanges {
			p.listChanges = append(p.listChanges, wire.Notification(method, nil))
		}
	}
	if c.initialized != nil {
		p.then = append(p.then, bytes.Clone(c.initialized))
	}
	if c.level != nil {
		p.then = append(p.then, c.ownRequest(c.level))
	}
	for _, s := range c.subscribed {
		p.then = append(p.then, c.ownRequest(s.request))
	}
	return p
}

// ownRequest returns a client's request with an id of the relay. Called with mu held.
func (c *record) ownRequest(request []byte) []byte {
	value := wire.Raw(bytes.Clone(bytes.TrimSuffix(request, []byte("\n"))))
	c.lastOurs++
	id := strconv.AppendUint([]byte(ourPrefix), c.lastOurs, 10)
	return append(wire.AppendEdited(nil, value, wire.Edit{Part: value.Member("id"), With: append(id, '"')}), '\n')
}
