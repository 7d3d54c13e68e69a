package metatool

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Limits of the kept results. The oldest is dropped first.
const (
	keptResults = 32 // of one client
	keptBytes   = 64 << 20
	keptInAll   = 256 << 20        // bytes of all clients
	keptTime    = 30 * time.Minute // that a large result is kept
)

// ResultStore keeps results that are too large to be sent whole. It is safe for concurrent use.
type ResultStore struct {
	bytes, inAll int // the limits

	mu    sync.Mutex
	kept  []keptResult // the oldest first
	last  uint64       // number of the last handle
	timer *time.Timer  // drops what is too old; nil while nothing is kept
}

type keptResult struct {
	owner  *Results
	handle string
	value  wire.Payload
	until  time.Time
}

// NewResultStore returns an empty store.
func NewResultStore() *ResultStore { return &ResultStore{bytes: keptBytes, inAll: keptInAll} }

// Results are the kept results of one client's session. No other session can read them.
type Results struct {
	store  *ResultStore
	closed bool // guarded by the store
}

// Session returns the results of a new session. Close them when it ends.
func (s *ResultStore) Session() *Results { return &Results{store: s} }

// Close drops all results of the session, and keeps no further ones.
func (r *Results) Close() {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	r.closed = true
	r.store.dropIf(func(k keptResult) bool { return k.owner == r })
}

// keep stores a copy of a result, and returns its handle; ok is false if it is too large.
func (r *Results) keep(result wire.Payload) (handle string, ok bool) {
	s := r.store
	if len(result.Bytes()) > s.bytes {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.closed {
		return "", false
	}
	s.last++
	handle = "r" + strconv.FormatUint(s.last, 10)
	s.kept = append(s.kept, keptResult{r, handle, wire.Raw(slices.Clone(result.Bytes())), time.Now().Add(keptTime)})
	s.makeRoom(r)
	s.scheduleExpiry()
	return handle, true
}

// makeRoom drops the oldest results of the owner, and then of all owners, until the rest is within the limits.
func (s *ResultStore) makeRoom(owner *Results) {
	count, own, all := 0, 0, 0
	for i := len(s.kept) - 1; i >= 0; i-- { // the newest first
		k := &s.kept[i]
		size := len(k.value.Bytes())
		if k.owner == owner {
			count++
			own += size
		}
		all += size
		if k.owner == owner && (count > keptResults || own > s.bytes) || all > s.inAll {
			s.kept = slices.Delete(s.kept, i, i+1)
			all -= size
		}
	}
}

// dropIf drops results. mu must be held.
func (s *ResultStore) dropIf(which func(keptResult) bool) {
	s.kept = slices.DeleteFunc(s.kept, which)
	s.scheduleExpiry()
}

// scheduleExpiry schedules the expiry of the oldest result. mu must be held.
func (s *ResultStore) scheduleExpiry() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if len(s.kept) > 0 {
		s.timer = time.AfterFunc(time.Until(s.kept[0].until), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			now := time.Now()
			s.dropIf(func(k keptResult) bool { return !k.until.After(now) })
		})
	}
}

// find returns the result of a handle, and all handles of the session.
func (r *Results) find(handle string) (result wire.Payload, handles []string) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	for _, k := range r.store.kept {
		if k.owner != r {
			continue
		}
		handles = append(handles, k.handle)
		if k.handle == handle {
			result = k.value
		}
	}
	return result, handles
}
