package audit

import (
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Refusals of requests are limited, so that strangers cannot fill the disk.
const (
	refusalsAtOnce = 20          // refused requests that are recorded one by one; of further ones their number
	refusalTime    = time.Minute // until one more is recorded by itself, and between two lines with a number
)

// Refusals records HTTP requests that were refused before they reached a toolbox.
type Refusals struct {
	log   *Log
	mu    sync.Mutex
	limit *rate.Limiter
	rest  refusal // the last of those that were not recorded one by one
	count int64   // how many these are
}

// refusal is a request that was refused.
type refusal struct{ remote, caller, reason string }

// NewRefusals makes a recorder of refused requests.
func NewRefusals(l *Log) *Refusals {
	r := &Refusals{log: l, limit: rate.NewLimiter(rate.Every(refusalTime), refusalsAtOnce)}
	l.summarize(r.flush)
	return r
}

// Add records a request that was refused, with the address of the client and who sent it, as rules of the policy name them, if
// that is known. The reason is the workbench's own text.
func (r *Refusals) Add(remote, caller, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := refusal{remote, caller, reason}
	if !r.limit.Allow() {
		r.rest = next
		r.count++
		return
	}
	_ = r.log.add(item{body: next.fields()}) // what is lost is counted
}

// flush returns a line with the number of the requests that were not recorded one by one; nil without any.
func (r *Refusals) flush() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == 0 {
		return nil
	}
	f := r.rest.fields().number("count", r.count)
	r.rest, r.count = refusal{}, 0
	return f
}

func (r refusal) fields() fields {
	f := newFields(eventToken, "refused")
	if token, ok := strings.CutPrefix(r.caller, config.CallerToken); ok {
		f = f.text("token", token)
	} else {
		f = f.text("caller", r.caller)
	}
	return f.text("reason", r.reason).address(r.remote)
}

// address adds the address of a client.
func (f fields) address(remote string) fields {
	if at, err := netip.ParseAddrPort(remote); err == nil {
		f = f.text("client.address", at.Addr().Unmap().String())
		if at.Port() == 0 { // a proxy passed the request on
			return f
		}
		return f.number("client.port", int64(at.Port()))
	}
	return f
}
