package front

import (
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
)

const (
	tooManyPause = time.Second // between two lines in the log about the limits of one account
	maxTooMany   = 4096        // accounts whose lines are counted separately; further ones have none for that long
)

// tooManyLog says in the log who has reached a limit of their own, and not each time. The zero value is ready.
type tooManyLog struct {
	mu     sync.Mutex // guards the following field
	logged map[account]time.Time
}

// isDue reports whether there is a line about the account.
func (l *tooManyLog) isDue(of account) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if last, ok := l.logged[of]; ok && now.Sub(last) < tooManyPause {
		return false
	}
	if len(l.logged) >= maxTooMany {
		for other, last := range l.logged {
			if now.Sub(last) >= tooManyPause {
				delete(l.logged, other)
			}
		}
		if len(l.logged) >= maxTooMany {
			return false
		}
	}
	if l.logged == nil {
		l.logged = make(map[account]time.Time)
	}
	l.logged[of] = now
	return true
}

// logTooMany logs that somebody was refused by a limit of their own, a key of http.limits.
func (s *Server) logTooMany(who *sender, limit string, most int) {
	if s.tooMany.isDue(who.account) {
		s.options.Log.Info("refused a request beyond a limit", "caller", who.shownCaller(), "limit", "http.limits."+limit, "most", most)
	}
}

// shownCaller returns who it is for the log.
func (s *sender) shownCaller() string { return hidden.Show(s.audience.Caller) }
