package front

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// accountShare is the part of all clients that one account may have, as a divisor.
const accountShare = 2

// registry holds the clients of one endpoint by key. When it is full, an idle client is evicted:
// one of the same account if that has its share, otherwise one of the account that has most.
type registry[C registered] struct {
	limit   int
	isOwn   bool          // all clients are the user's own: accounts have no shares
	keepFor time.Duration // how long an idle client is not evicted for another account
	// ownLimit returns how many clients one account may have, if that is less than its share; 0: its share. May be nil.
	ownLimit func() int

	mu        sync.Mutex
	byKey     map[string]C
	byAccount map[account]int // how many there are
	closed    bool            // no more clients are added
}

// registered is a client in a registry.
type registered interface {
	comparable
	state() *session
	registryKey() string
}

func newRegistry[C registered](limit int, keepFor time.Duration) registry[C] {
	return registry[C]{limit: limit, keepFor: keepFor, byKey: make(map[string]C), byAccount: make(map[account]int)}
}

// enter returns the client with the key, which is made if there is none, and holds its idle clock.
// It returns nil if the limit is reached. The caller drops the one that was evicted, if any.
func (r *registry[C]) enter(key []byte, of account, newClient func() C) (client, evicted C) {
	r.mu.Lock()
	defer r.mu.Unlock()
	client, known := r.byKey[string(key)]
	if !known && !r.closed {
		hasShare := !r.isOwn && r.byAccount[of] >= r.share()
		var none C
		if hasShare || len(r.byKey) >= r.limit {
			if evicted = r.evict(of, hasShare); evicted == none {
				return none, none
			}
		}
		client = newClient()
		r.byKey[string(key)] = client
		r.byAccount[of]++
		known = true
	}
	if known {
		client.state().idle.hold()
	}
	return client, evicted
}

// share returns how many clients one account may have.
func (r *registry[C]) share() int {
	share := max(r.limit/accountShare, 1)
	if r.ownLimit != nil {
		if own := r.ownLimit(); own > 0 {
			share = min(share, own)
		}
	}
	return share
}

// isAtLimit reports whether an account has as many clients as ownLimit allows.
func (r *registry[C]) isAtLimit(of account) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ownLimit == nil {
		return false
	}
	own := r.ownLimit()
	return own > 0 && r.byAccount[of] >= own
}

// evict removes the idle client that makes room for one of the account: of that account alone if
// it has its share. Called with mu held.
func (r *registry[C]) evict(of account, hasShare bool) (evicted C) {
	var none C
	var most int
	var longest time.Duration
	for _, candidate := range r.byKey {
		owner := candidate.state().account
		idle, isIdle := candidate.state().idle.idleFor()
		if !isIdle || owner != of && (hasShare || idle < r.keepFor) {
			continue
		}
		if n := r.byAccount[owner]; evicted == none || n > most || n == most && idle > longest {
			evicted, most, longest = candidate, n, idle
		}
	}
	if evicted != none {
		r.delete(evicted)
	}
	return evicted
}

// delete is called with mu held.
func (r *registry[C]) delete(client C) {
	key, of := client.registryKey(), client.state().account
	if r.byKey[key] != client {
		return
	}
	delete(r.byKey, key)
	if r.byAccount[of]--; r.byAccount[of] == 0 {
		delete(r.byAccount, of)
	}
}

func (r *registry[C]) remove(client C) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delete(client)
}

// removeIdle removes and returns the idle clients that are due.
func (r *registry[C]) removeIdle(isDue func(client C, idle time.Duration) bool) (removed []C) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, client := range r.byKey {
		if idle, isIdle := client.state().idle.idleFor(); isIdle && isDue(client, idle) {
			r.delete(client)
			removed = append(removed, client)
		}
	}
	return removed
}

func (r *registry[C]) find(key string) (client C, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	client, ok = r.byKey[key]
	return client, ok
}

func (r *registry[C]) all() []C {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.byKey))
}

// close has no more clients added.
func (r *registry[C]) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}
