package front

import (
	"cmp"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
)

// account is whom the use of shared limits by a client over HTTP is charged to: a token, or without
// tokens an address. Limits are for each account first, and then for all, so that nobody is refused
// for what others use.
type account string

// accountOf returns the account of a request: its owner, or else its address.
func accountOf(owner, remote string) account {
	return account(cmp.Or(owner, "address "+httpauth.NetworkOf(remote).String()))
}

// quota limits what each account uses of something. The zero value allows nothing.
type quota struct {
	most int64 // of one account

	mu   sync.Mutex
	used map[account]int64
}

// reserve reports whether there was room. Release what was reserved.
func (q *quota) reserve(of account, n int64) bool { return q.reserveUpTo(of, n, q.most) }

// reserveUpTo is reserve with another limit.
func (q *quota) reserveUpTo(of account, n, most int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used[of]+n > most {
		return false
	}
	if q.used == nil {
		q.used = make(map[account]int64)
	}
	q.used[of] += n
	return true
}

// release returns what was reserved.
func (q *quota) release(of account, n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used[of] -= n; q.used[of] == 0 {
		delete(q.used, of)
	}
}
