package httpauth

import (
	"container/list"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits of the connections of one server.
const (
	maxConnections = 16_384 // connections of one server; at the limit the one without a valid token for longest is closed
	// ownDescriptors is the divisor for the share of file descriptors that connections may use. The rest is for
	// servers, files and logs.
	ownDescriptors = 2
	// addressShare is the divisor for the share of connections that one address may have. Local addresses and trusted
	// proxies have no such limit: behind a proxy all clients come from one.
	addressShare = 4
)

// connections keeps unauthorised peers from crowding out clients. A connection is busy while it carries a request that
// passed the gate. When there are too many connections, in total or from one address, the one that has not been busy
// for longest is closed. So a client with a token is served, however many others open idle connections.
type connections struct {
	most, mostOfOne int
	proxies         *Proxies // have no share of one address
	log             *slog.Logger
	logLimit        *rate.Limiter // limits the logged evictions
	handshakeLimit  *rate.Limiter // limits the logged handshakes that failed

	mu        sync.Mutex // guards the following fields
	open      map[net.Conn]*connection
	addresses map[netip.Prefix]*addressConnections
	unused    list.List // of *connection, longest unused first
}

// addressConnections are the connections of one address.
type addressConnections struct {
	count  int
	unused list.List // of *connection, longest unused first
}

type connection struct {
	conn    net.Conn
	from    netip.Prefix
	isProxy bool
	// connections.mu guards all three.
	requests  int           // unanswered requests that passed the gate
	inAll     *list.Element // in connections.unused; nil while busy
	inAddress *list.Element // in addressConnections.unused; nil while busy
}

func newConnections(most int, log *slog.Logger) *connections {
	return &connections{
		most: most, mostOfOne: max(most/addressShare, 1), log: log, logLimit: rate.NewLimiter(rate.Every(time.Second), 1),
		handshakeLimit: rate.NewLimiter(rate.Every(time.Second), 1),
		open:           make(map[net.Conn]*connection), addresses: make(map[netip.Prefix]*addressConnections),
	}
}

// GuardConnections limits the connections of an HTTP server that is not serving yet, and closes those with a request
// body that nobody reads. Handshakes that fail for a client's certificate are logged.
func GuardConnections(server *http.Server, proxies *Proxies, log *slog.Logger) {
	guardConnections(server, min(maxConnections, max(maxDescriptors()/ownDescriptors, 1)), proxies, log)
}

func guardConnections(server *http.Server, most int, proxies *Proxies, log *slog.Logger) {
	guarded := newConnections(most, log)
	guarded.proxies = proxies
	server.ConnContext = guarded.addConnection
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateClosed || state == http.StateHijacked {
			guarded.removeClosed(conn)
		}
		if state == http.StateClosed {
			guarded.reportHandshake(conn)
		}
	}
	server.Handler = boundBodies(server.Handler)
}

type connectionKey struct{}

// usage is the connection of a request, in its context.
type usage struct {
	all *connections
	one *connection
}

// addConnection adds a new connection. Its signature is that of http.Server.ConnContext.
func (c *connections) addConnection(ctx context.Context, conn net.Conn) context.Context {
	one := &connection{conn: conn, from: NetworkOf(conn.RemoteAddr().String()), isProxy: c.proxies.connects(conn.RemoteAddr().String())}
	victim := c.admit(one)
	if victim != nil {
		if c.logLimit.Allow() {
			c.log.Warn("closed an unused connection: there are too many", "remote", victim.RemoteAddr().String())
		}
		_ = victim.Close()
	}
	return context.WithValue(ctx, connectionKey{}, usage{c, one})
}

// admit adds a connection and returns the one to close for it, which is the new one itself if all others are busy; nil
// below the limit.
func (c *connections) admit(one *connection) (victim net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	address := c.addresses[one.from]
	if address == nil {
		address = &addressConnections{}
		c.addresses[one.from] = address
	}
	isShared := one.from.Addr().IsLoopback() || one.isProxy
	longest := (*list.Element)(nil)
	full := true
	switch {
	case !isShared && address.count >= c.mostOfOne:
		longest = address.unused.Front()
	case len(c.open) >= c.most:
		longest = c.unused.Front()
	default:
		full = false
	}
	c.open[one.conn] = one
	address.count++
	c.markUnused(one, address)
	if !full {
		return nil
	}
	if longest == nil {
		return one.conn
	}
	unused := longest.Value.(*connection)
	// It stops counting now: net/http reports its end later, when its goroutine notices.
	c.remove(unused)
	return unused.conn
}

// removeClosed removes a closed connection.
func (c *connections) removeClosed(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.open[conn]; one != nil {
		c.remove(one)
	}
}

// remove deletes a connection from all tables. The caller holds mu.
func (c *connections) remove(one *connection) {
	delete(c.open, one.conn)
	address := c.addresses[one.from]
	c.markBusy(one, address)
	if address.count--; address.count == 0 {
		delete(c.addresses, one.from)
	}
}

// markUnused adds a connection to the unused ones. The caller holds mu.
func (c *connections) markUnused(one *connection, address *addressConnections) {
	one.inAll = c.unused.PushBack(one)
	one.inAddress = address.unused.PushBack(one)
}

// markBusy removes a connection from the unused ones. The caller holds mu.
func (c *connections) markBusy(one *connection, address *addressConnections) {
	if one.inAll != nil {
		c.unused.Remove(one.inAll)
		address.unused.Remove(one.inAddress)
		one.inAll, one.inAddress = nil, nil
	}
}

// useConnection marks the connection of a request as busy until the returned function is called.
func useConnection(ctx context.Context) (done func()) {
	u, ok := ctx.Value(connectionKey{}).(usage)
	if !ok {
		return func() {}
	}
	u.all.count(u.one, 1)
	return func() { u.all.count(u.one, -1) }
}

// count adds to the requests of a connection, which may have been closed.
func (c *connections) count(one *connection, delta int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[one.conn] != one {
		return
	}
	address := c.addresses[one.from]
	one.requests += delta
	switch {
	case one.requests == 0:
		c.markUnused(one, address)
	case one.requests == 1 && delta > 0:
		c.markBusy(one, address)
	}
}
