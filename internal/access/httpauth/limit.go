package httpauth

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	wrongRate    = rate.Limit(1) // per second
	wrongBurst   = 10
	maxAddresses = 4096        // addresses whose wrong tokens are counted separately; others share one count
	sweepEvery   = time.Second // between two removals of inactive addresses
)

// limiter counts wrong tokens by remote address. The table is bounded: when it is full, new addresses share one count.
// That locks nobody out, since valid tokens are not counted.
type limiter struct {
	mu     sync.Mutex // guards the following fields
	counts map[netip.Prefix]*rate.Limiter
	shared *rate.Limiter
	swept  time.Time
}

func newLimiter() *limiter {
	return &limiter{counts: map[netip.Prefix]*rate.Limiter{}, shared: rate.NewLimiter(wrongRate, wrongBurst)}
}

// allow counts one wrong token, and returns false if there were too many.
func (l *limiter) allow(remote string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count(NetworkOf(remote)).Allow()
}

func (l *limiter) count(from netip.Prefix) *rate.Limiter {
	if count := l.counts[from]; count != nil {
		return count
	}
	if len(l.counts) >= maxAddresses && time.Since(l.swept) >= sweepEvery {
		l.swept = time.Now()
		for address, count := range l.counts {
			if count.Tokens() >= wrongBurst { // back at its initial state
				delete(l.counts, address)
			}
		}
	}
	if len(l.counts) >= maxAddresses {
		return l.shared
	}
	count := rate.NewLimiter(wrongRate, wrongBurst)
	l.counts[from] = count
	return count
}

// NetworkOf returns the part of a remote address that a client cannot choose freely: for IPv6, the network. Invalid
// addresses count as one.
func NetworkOf(remote string) netip.Prefix {
	address, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	addr := address.Addr().Unmap().WithZone("")
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	prefix, _ := addr.Prefix(bits) // fails only for too many bits
	return prefix
}
