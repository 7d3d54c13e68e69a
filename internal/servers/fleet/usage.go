package fleet

import (
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
)

// usageAge is how old the last look at what a server uses may be, so that it still says something of a call that ends.
const usageAge = 10 * time.Second

// Usage is what the processes of a server used at the last look at them. It is immutable, so that calls can share one.
type Usage struct {
	Memory int64   // resident, in bytes
	CPU    float64 // of one processor, since the look before, or since the start: 1 is all of one

	at   time.Time
	seen process.Usage
}

// note keeps what an instance uses.
func (in *instance) note(use process.Usage) {
	if use.Memory == 0 { // it has just ended, and what was seen last says more
		return
	}
	var earlier process.Usage
	if last := in.usage.Load(); last != nil {
		earlier = last.seen
	}
	in.usage.Store(&Usage{Memory: use.Memory, CPU: use.Share(earlier), at: time.Now(), seen: use})
}

// Usage returns what the server's processes used, if that was seen not long before a time; nil otherwise. It costs nothing: the
// looks are in the background.
func (l *Lease) Usage(now time.Time) *Usage {
	use := l.instance.usage.Load()
	if use == nil || now.Sub(use.at) > usageAge {
		return nil
	}
	return use
}

// wasUsed reports whether an instance is in use, or was since it was asked last. Only the memory guard asks.
func (in *instance) wasUsed() bool {
	lent := in.lent.Load()
	isUsed := lent != in.lentBefore || in.leases.Load() > 0
	in.lentBefore = lent
	return isUsed
}
