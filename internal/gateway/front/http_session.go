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
	"sync/atomic"
	"time"
)

// httpSession is a session over HTTP. Its idle clock is held by HTTP requests, too.
type httpSession struct {
	*session
	id    string
	get   *stream // of messages that belong to no POST
	posts postStreams

	exchanges atomic.Int64 // POSTs that are being answered
}

// postStreams are the streams of POSTs that a client may come back for.
type postStreams struct {
	spill *spillShare

	mu       sync.Mutex
	byNumber map[uint64]*stream // those whose client has seen an event id
	last     uint64
}

// Limits of streams that clients may come back for.
const (
	resumeTime   = 2 * time.Minute // for a client to come back for a stream; then it is dropped
	maxResumable = 64              // streams of a session that can be resumed; the oldest is dropped
)

func newHTTPSession(server *Server, spill *spillShare, who sender) *httpSession {
	var id [16]byte
	rand.Read(id[:]) // never fails
	who.account = spill.account
	client := &httpSession{
		session: newSession(server, identity{sender: who, foreign: true}),
		id:      hex.EncodeToString(id[:]), get: newStream(spill, 0, nil),
		posts: postStreams{spill: spill, byNumber: make(map[uint64]*stream)},
	}
	client.notifier = client.get
	client.use(who.credential)
	return client
}

func (c *httpSession) registryKey() string { return c.id }

// enter holds the idle clock. What runs for the client alone may have been stopped.
func (c *httpSession) enter() {
	c.idle.hold()
	if profile := c.Profile(); profile != nil {
		profile.MarkPresent()
	}
}

// rest stops what runs for the client alone if it has been idle for the limit.
func (c *httpSession) rest(limit time.Duration) {
	c.idle.whenIdle(limit, func() {
		if profile := c.Profile(); profile != nil {
			profile.MarkAway()
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
			if old := p.byNumber[number]; !old.attached() {
				old.drop()
				delete(p.byNumber, number)
				break
			}
		}
	}
	p.byNumber[st.number] = st
}

// sweep drops the streams that no client has come back for.
func (p *postStreams) sweep(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for number, st := range p.byNumber {
		switch {
		case st.attached():
			st.unattachedSince = time.Time{}
		case st.unattachedSince.IsZero():
			st.unattachedSince = now
		case now.Sub(st.unattachedSince) > resumeTime:
			st.drop()
			delete(p.byNumber, number)
		}
	}
}

// isUnread reports whether a client that has gone may come back for messages.
func (p *postStreams) isUnread() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, st := range p.byNumber {
		if st.isUnread() {
			return true
		}
	}
	return false
}

// isDeserted reports whether the client of a stream has gone, and has not come back.
func (p *postStreams) isDeserted(st *stream) bool {
	p.mu.Lock()
	_, mayComeBack := p.byNumber[st.number]
	p.mu.Unlock()
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.gone || mayComeBack && st.lost == nil // at first it is neither kept nor attached
}

// dropAll drops all streams.
func (p *postStreams) dropAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, st := range p.byNumber {
		st.drop()
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
	st, ok := c.posts.byNumber[number]
	if !ok {
		return nil, 0, errUnknownEvent
	}
	return st, sequence, nil
}

// keepSession is how long an idle session is not ended to make room for another account's.
const keepSession = time.Minute
