package front

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// httpSession is a session over HTTP. Its idle clock is held by HTTP requests, too.
type httpSession struct {
	*session
	id    string
	owner string  // the id of the token that began it
	get   *stream // of messages that belong to no POST
	posts postStreams
}

// postStreams are the streams of POSTs that a client may come back for.
type postStreams struct {
	spill *spillShare

	mu       sync.Mutex
	byNumber map[uint64]*resumable // those whose client has seen an event id
	last     uint64
}

// resumable is a stream that a client may come back for.
type resumable struct {
	stream *stream
	since  time.Time // no connection has been there for it; zero while one is
}

// Limits of streams that clients may come back for.
const (
	resumeTime   = 2 * time.Minute
	maxResumable = 64 // in a session
)

func newHTTPSession(server *Server, spill *spillShare, owner string, audience Audience) *httpSession {
	var id [16]byte
	rand.Read(id[:]) // never fails
	client := &httpSession{
		session: newSession(server, identity{audience: audience, account: spill.account, foreign: true, person: owner}),
		id:      hex.EncodeToString(id[:]), owner: owner, get: newStream(spill, 0, nil),
		posts: postStreams{spill: spill, byNumber: make(map[uint64]*resumable)},
	}
	client.notifier = client.get
	return client
}

// enter holds the idle clock. What runs for the client alone may have been stopped.
func (c *httpSession) enter() {
	c.idle.hold()
	if party := c.Party(); party != nil {
		party.Return()
	}
}

// rest stops what runs for the client alone if it has been idle for the limit.
func (c *httpSession) rest(limit time.Duration) {
	c.idle.whenIdle(limit, func() {
		if party := c.Party(); party != nil {
			party.Rest()
		}
	})
}

// add makes the stream of a POST that answers the request with the id.
func (p *postStreams) add(request []byte) *stream {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	return newStream(p.spill, p.last, request)
}

// keep lets the client come back for a stream, whose event ids it is about to see. If there are
// many, the oldest one without a connection is dropped.
func (p *postStreams) keep(st *stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byNumber) >= maxResumable {
		for _, number := range slices.Sorted(maps.Keys(p.byNumber)) {
			if r := p.byNumber[number]; !r.stream.attached() {
				r.stream.drop()
				delete(p.byNumber, number)
				break
			}
		}
	}
	p.byNumber[st.number] = &resumable{stream: st}
}

// sweep drops the streams that no client has come back for.
func (p *postStreams) sweep(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for number, r := range p.byNumber {
		switch {
		case r.stream.attached():
			r.since = time.Time{}
		case r.since.IsZero():
			r.since = now
		case now.Sub(r.since) > resumeTime:
			r.stream.drop()
			delete(p.byNumber, number)
		}
	}
}

// dropAll drops all streams.
func (p *postStreams) dropAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.byNumber {
		r.stream.drop()
	}
	clear(p.byNumber)
}

var errUnknownEvent = errors.New("no stream of this session has sent the event that Last-Event-ID names, or it is too long ago")

// findStream returns the stream that an event id belongs to, and where in it that event stands.
func (c *httpSession) findStream(eventID string) (st *stream, sequence uint64, err error) {
	left, right, _ := strings.Cut(eventID, "-")
	number, err1 := strconv.ParseUint(left, 10, 64)
	sequence, err2 := strconv.ParseUint(right, 10, 64)
	if err1 != nil || err2 != nil {
		return nil, 0, errUnknownEvent
	}
	if number == 0 {
		return c.get, sequence, nil
	}
	c.posts.mu.Lock()
	defer c.posts.mu.Unlock()
	r, ok := c.posts.byNumber[number]
	if !ok {
		return nil, 0, errUnknownEvent
	}
	return r.stream, sequence, nil
}

// sessionRegistry holds the sessions of clients over HTTP.
type sessionRegistry struct {
	limit int

	mu        sync.Mutex
	byID      map[string]*httpSession
	byAccount map[account]int // how many there are
}

func newSessionRegistry(limit int) sessionRegistry {
	return sessionRegistry{limit: limit, byID: make(map[string]*httpSession), byAccount: make(map[account]int)}
}

const (
	// spareAfter is after how long without a sign of its client a session may be ended to
	// make room for another.
	spareAfter = time.Minute
	// accountShare is the part of all sessions, or clients, that one account may have, as a divisor.
	accountShare = 2
)

// add takes a session in; ended is one that had to make room, if any. It fails if there is
// no room and no session to spare.
func (r *sessionRegistry) add(client *httpSession) (ended *httpSession, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := client.account
	hasShare := r.byAccount[of] >= max(r.limit/accountShare, 1)
	if hasShare || len(r.byID) >= r.limit {
		var best spare
		for _, candidate := range r.byID {
			owner := candidate.account
			idle, isIdle := candidate.idle.idleFor()
			if !isIdle || hasShare && owner != of || owner != of && idle < spareAfter {
				continue
			}
			if s := (spare{r.byAccount[owner], idle}); ended == nil || s.before(best) {
				ended, best = candidate, s
			}
		}
		if ended == nil {
			return nil, false
		}
		r.delete(ended)
	}
	r.byID[client.id] = client
	r.byAccount[of]++
	return ended, true
}

// spare is what decides who makes room for another: an account that has its share makes room of its own; when all is taken, the
// one that has most does. Of its sessions, the one that has been idle for longest goes.
type spare struct {
	ofAccount int // how many the account has
	idle      time.Duration
}

func (s spare) before(other spare) bool {
	if s.ofAccount != other.ofAccount {
		return s.ofAccount > other.ofAccount
	}
	return s.idle > other.idle
}

// delete is called with mu held.
func (r *sessionRegistry) delete(client *httpSession) {
	if _, ok := r.byID[client.id]; !ok {
		return
	}
	delete(r.byID, client.id)
	of := client.account
	if r.byAccount[of]--; r.byAccount[of] == 0 {
		delete(r.byAccount, of)
	}
}

func (r *sessionRegistry) remove(client *httpSession) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delete(client)
}

func (r *sessionRegistry) find(id string) (*httpSession, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	client, ok := r.byID[id]
	return client, ok
}

func (r *sessionRegistry) all() []*httpSession {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.byID))
}
