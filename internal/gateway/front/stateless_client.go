package front

import (
	"bytes"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/era"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// statelessClient is a client of the modern era, which has no sessions: requests count as one
// client's if the caller and what it declares are the same. What it should not have to wait for
// twice is kept for a while: its sessions with servers, and requests that wait for its answers.
type statelessClient struct {
	*session
	key           string
	caller        string // who it is, whatever it declares
	askable       bool   // it declares that it can be asked something
	unmarked      bool   // see session.isUnmarked
	subscriptions *subscriptions
	isUsed        atomic.Bool // see isListed
}

// statelessClients are those of one endpoint.
type statelessClients struct {
	registry[*statelessClient]
	server *Server
	origin Origin
	limits func() config.PersonLimits // of the senders over HTTP
}

// maxStdioClients is for a client over stdio, which may declare something else each time.
const maxStdioClients = 16

func newStatelessClients(server *Server, limit int) *statelessClients {
	return &statelessClients{registry: newRegistry[*statelessClient](limit, 0), server: server}
}

// enter returns the client that a request is from, with its idle clock held for the request; nil
// if the limit is reached.
func (c *statelessClients) enter(who sender, meta requestMeta) *statelessClient {
	caller := callerName(who.person, who.audience)
	var space [512]byte
	key := appendClientKey(space[:0], caller, meta)
	client, evicted := c.registry.enter(key, who.account, func() *statelessClient {
		return c.newClient(identity{sender: who, limits: c.limits, origin: c.origin, foreign: !c.isOwn, distant: meta.distant}, string(key), meta)
	})
	if evicted != nil {
		evicted.drop()
	}
	if client != nil {
		client.use(who.credential)
	}
	return client
}

// sweep drops clients that have been idle for longer than the limit, and idle ones that may not go on.
func (c *statelessClients) sweep(limit time.Duration, isValid validity) {
	for _, client := range c.removeIdle(func(client *statelessClient, idle time.Duration) bool {
		return idle > limit || !client.mayGoOn(isValid)
	}) {
		client.Profile().MarkAway() // it had its time: nothing is kept for the next one
		client.drop()
	}
}

// cancelNamed cancels the request that a cancellation names, of whichever client.
func (c *statelessClients) cancelNamed(params wire.Payload) {
	for _, client := range c.all() {
		client.cancelNamed(params)
	}
}

// finish lets the requests of all clients finish, and then drops the clients; gone is closed when
// nobody reads responses any more.
func (c *statelessClients) finish(gone <-chan struct{}, limit time.Duration) {
	c.close()
	var finishing sync.WaitGroup
	for _, client := range c.all() {
		finishing.Go(func() {
			client.subscriptions.close()
			c.server.suspended.abandonAll(client.session) // while servers can still be told
			client.finish(gone, limit)
			c.server.remove(client.session)
			c.server.suspended.abandonAll(client.session)
		})
	}
	finishing.Wait()
}

func callerName(owner string, audience Audience) string {
	if owner == "" && audience.Only == "" && audience.Toolboxes == nil {
		return `"" ""` // as below, without being built for each request
	}
	name := strconv.Quote(owner) + " " + strconv.Quote(audience.Only) + " " + strconv.Quote(audience.Caller)
	if audience.Toolboxes == nil {
		return name
	}
	for _, toolbox := range audience.Toolboxes {
		name += " " + strconv.Quote(toolbox)
	}
	return name + "."
}

func appendClientKey(key []byte, caller string, meta requestMeta) []byte {
	key = append(append(key, caller...), '\n')
	key = append(append(key, meta.capabilities.Bytes()...), '\n')
	key = append(key, meta.info.Bytes()...)
	if meta.mark != "" {
		key = append(append(key, '\n'), meta.mark...)
	}
	if meta.distant {
		key = append(key, "\ndistant"...)
	}
	return key
}

// newClient makes a client whose state is always open to it, and which is sent nothing but
// responses and what it subscribes to.
func (c *statelessClients) newClient(who identity, key string, meta requestMeta) *statelessClient {
	s := newSession(c.server, who)
	client := &statelessClient{session: s, key: key, caller: callerName(who.person, who.audience), askable: declaresQuestions(meta.capabilities)}
	client.subscriptions = newSubscriptions(s)
	client.isUsed.Store(c.isOwn) // one that has the pipe is there
	s.stateless, s.notifier, s.results = client, client.subscriptions, nil
	s.opened.all, s.news.bySubscription = true, true
	s.questions.close()
	s.setHops(meta.mark)
	client.unmarked = s.isUnmarked(meta.info)
	capabilities := bytes.Clone(meta.capabilities.Bytes())
	s.declare(protocol.Revision20260728, capabilities)
	c.server.add(s)
	s.joinFleet(capabilities, meta.info)
	return client
}

// isListed reports whether people are shown the client. One that only asked which revisions there are has most likely gone on in a
// session, or has gone: over HTTP nobody says which.
func (c *statelessClient) isListed() bool { return c == nil || c.isUsed.Load() }

func (c *statelessClient) registryKey() string { return c.key }

// declaresQuestions reports whether a client declares that it can be asked anything at all.
func declaresQuestions(capabilities wire.Payload) bool {
	for key := range capabilities.Members() {
		switch string(key) {
		case "elicitation", "sampling", "roots":
			return true
		}
	}
	return false
}

// drop ends the client at once.
func (c *statelessClient) drop() {
	c.abandon(errSessionEnded)
	c.server.remove(c.session)
}

// newRequest makes a request of the client, which enter returned for it.
func (c *statelessClient) newRequest(to replyPath, key string, meta requestMeta) *request {
	notices := era.NewNotices(meta.token.Bytes(), meta.severity())
	return &request{session: c.session, reply: reply{to: to, key: key, notices: notices}, resumes: c.server.suspended.isOurs(meta.state)}
}

// prepare answers requests that only the modern era has, and those that continue another one; it
// reports whether it did.
func (c *statelessClient) prepare(r *request, message *wire.Message) (done bool) {
	if r.method != protocol.MethodDiscover {
		c.isUsed.Store(true)
	}
	switch method := protocol.FindMethod(r.method); {
	case r.method == protocol.MethodDiscover:
		c.discover(r)
	case r.method == protocol.MethodListen:
		c.subscriptions.add(r, message.Params)
	case method.Removed:
		r.fail(unknownMethod(r.method))
	case method.MayAsk && r.resumes:
		r.resume(message)
	default:
		if c.askable && method.MayAsk {
			r.suspension.binding = bind(c.caller, r.method, message.Params) // now: the call uses up the params
		}
		return false
	}
	return true
}
