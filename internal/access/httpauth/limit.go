package httpauth

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	wrongRate    = rate.Limit(1) // a second
	wrongBurst   = 10
	maxAddresses = 4096        // addresses whose wrong tokens are counted apart; others share one count
	sweepEvery   = time.Second // between two looks for addresses to forget
)

// limiter counts wrong tokens by the address they came from. The table is bounded: when
// it is full, newcomers share one count. That shuts nobody out, since a right token
// is not counted.
type limiter struct {
	mu     sync.Mutex // guards what follows
	counts map[netip.Prefix]*rate.Limiter
	shared *rate.Limiter
	swept  time.Time
}

func newLimiter() *limiter {
	return &limiter{counts: map[netip.Prefix]*rate.Limiter{}, shared: rate.NewLimiter(wrongRate, wrongBurst)}
}

// allow counts one wrong token and says whether that was not too many.
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
			if count.Tokens() >= wrongBurst { // as good as new
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

// NetworkOf is the part of a remote address that one client cannot choose freely: of IPv6, that is
// the network. What is no address counts as one.
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
	prefix, _ := addr.Prefix(bits) // fails only for more bits than there are
	return prefix
}
