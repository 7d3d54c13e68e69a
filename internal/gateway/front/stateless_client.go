package front

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// statelessClient is a client of the modern era. There are no sessions in it, so that requests count
// as one client's if they are from the same one and declare the same. What the client
// should not have to wait for twice is kept for a while: its party, with sessions below,
// and calls that wait for its answers.
type statelessClient struct {
	*session
	idleClock // of requests, and of calls that outlast them

	key           string
	caller        string // who it is, whatever it declares
	answers       bool   // it can be asked something
	subscriptions *subscriptions

	unmarked bool // see isUnmarked
}

// statelessClients are those of one endpoint.
type statelessClients struct {
	server *Server
	limit  int
	origin Origin
	own    bool // they are the user's own, as over stdio

	mu        sync.Mutex
	byKey     map[string]*statelessClient
	byAccount map[account]int // how many there are
	ended     bool
}

// maxStdioClients is for a client over stdio, which may declare something else each time.
const maxStdioClients = 16

func newStatelessClients(server *Server, limit int) *statelessClients {
	return &statelessClients{server: server, limit: limit, byKey: make(map[string]*statelessClient), byAccount: make(map[account]int)}
}

// enter returns the guest that a request is from; leave it when the request has ended.
// There is none if there are too many.
func (g *statelessClients) enter(owner string, of account, audience Audience, t requestMeta) *statelessClient {
	caller := callerName(owner, audience)
	var space [512]byte
	key := appendClientKey(space[:0], caller, t)
	g.mu.Lock()
	client, known := g.byKey[string(key)]
	var spared *statelessClient
	if !known && !g.ended {
		room := true
		if hasShare := !g.own && g.byAccount[of] >= max(g.limit/accountShare, 1); hasShare || len(g.byKey) >= g.limit {
			spared = g.spare(of, hasShare)
			room = spared != nil
		}
		if room {
			client = newStatelessClient(g, owner, of, audience, string(key), t)
			g.byKey[client.key] = client
			g.byAccount[of]++
		}
	}
	if client != nil {
		client.hold()
	}
	g.mu.Unlock()
	if spared != nil {
		spared.close(errSessionEnded)
	}
	return client
}

// spare takes out an idle guest to make room for one of an account, of that account alone if it has its share. Called
// with mu held.
func (g *statelessClients) spare(of account, hasShare bool) (spared *statelessClient) {
	var best spare
	for _, candidate := range g.byKey {
		idle, isIdle := candidate.idleFor()
		if !isIdle || hasShare && candidate.account != of {
			continue
		}
		if s := (spare{g.byAccount[candidate.account], idle}); spared == nil || s.before(best) {
			spared, best = candidate, s
		}
	}
	if spared != nil {
		g.delete(spared)
	}
	return spared
}

// delete is called with mu held.
func (g *statelessClients) delete(client *statelessClient) {
	delete(g.byKey, client.key)
	if g.byAccount[client.account]--; g.byAccount[client.account] == 0 {
		delete(g.byAccount, client.account)
	}
}

// sweep forgets guests that have not been heard of for longer than the limit.
func (g *statelessClients) sweep(limit time.Duration) {
	g.mu.Lock()
	var gone []*statelessClient
	for _, client := range g.byKey {
		if idle, isIdle := client.idleFor(); isIdle && idle > limit {
			g.delete(client)
			gone = append(gone, client)
		}
	}
	g.mu.Unlock()
	for _, client := range gone {
		client.Party().Rest() // it had its time: nothing lingers for the next one
		client.close(errSessionEnded)
	}
}

// cancel cancels the request that a notification names, of whichever guest.
func (g *statelessClients) cancel(params wire.Payload) {
	for _, client := range g.all() {
		client.cancel(params)
	}
}

func (g *statelessClients) all() []*statelessClient {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Values(g.byKey))
}

// end lets the requests of all guests finish, and then forgets them; gone says that nobody
// takes answers any more.
func (g *statelessClients) end(gone <-chan struct{}) {
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	var ending sync.WaitGroup
	for _, client := range g.all() {
		ending.Go(func() {
			client.subscriptions.close()
			client.server.parking.abandonAll(client) // while servers can still be told
			client.end(gone)
			client.server.remove(client.session)
			client.server.parking.abandonAll(client)
		})
	}
	ending.Wait()
}

func callerName(owner string, audience Audience) string {
	if owner == "" && audience.Only == "" && audience.Toolboxes == nil {
		return `"" ""` // as below, without being put together for each request
	}
	name := strconv.Quote(owner) + " " + strconv.Quote(audience.Only)
	if audience.Toolboxes == nil {
		return name
	}
	for _, toolbox := range audience.Toolboxes {
		name += " " + strconv.Quote(toolbox)
	}
	return name + "."
}

func appendClientKey(key []byte, caller string, t requestMeta) []byte {
	key = append(append(key, caller...), '\n')
	key = append(append(key, t.capabilities.Bytes()...), '\n')
	key = append(key, t.info.Bytes()...)
	if t.mark != "" {
		key = append(append(key, '\n'), t.mark...)
	}
	return key
}

func newStatelessClient(g *statelessClients, owner string, of account, audience Audience, key string, t requestMeta) *statelessClient {
	client := &statelessClient{session: newSession(g.server, audience), key: key, caller: callerName(owner, audience)}
	client.account = of
	client.subscriptions = newSubscriptions(client)
	s := client.session
	s.modern, s.own, s.origin, s.foreign, s.person = true, client.subscriptions, g.origin, !g.own, owner
	s.hops = t.mark
	client.unmarked = s.isUnmarked(t.info)
	s.agree(protocol.Revision20260728, bytes.Clone(t.capabilities.Bytes()))
	client.answers = answersAny(s.capabilities)
	g.server.add(s)
	s.join(s.capabilities.Bytes())
	return client
}

// close forgets the client at once.
func (c *statelessClient) close(cause error) {
	c.abandon(cause)
	c.server.remove(c.session)
}
