package httpauth

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
)

const (
	refusalPause = time.Second // between two warnings about refusals for one reason
	maxReasons   = 128         // reasons whose warnings are counted separately; others share one count
)

// refusalLog decides which refusals are warnings: one a second for each reason, so that one that anybody can cause, as often
// as they like, does not hide the others.
type refusalLog struct {
	mu      sync.Mutex // guards the following field
	reasons map[string]*refusalCount
}

// refusalCount is about the refusals for one reason.
type refusalCount struct {
	warned time.Time
	more   int // refusals since then
}

// note counts a refusal. It reports whether it is a warning, and how many were none since the one before.
func (l *refusalLog) note(reason string) (more int, isWarning bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	count := l.count(reason, now)
	if !count.warned.IsZero() && now.Sub(count.warned) < refusalPause {
		count.more++
		return 0, false
	}
	more = count.more
	*count = refusalCount{warned: now}
	return more, true
}

func (l *refusalLog) count(reason string, now time.Time) *refusalCount {
	if l.reasons == nil {
		l.reasons = map[string]*refusalCount{}
	}
	if count := l.reasons[reason]; count != nil {
		return count
	}
	if len(l.reasons) >= maxReasons {
		for other, count := range l.reasons {
			if other != "" && count.more == 0 && now.Sub(count.warned) >= refusalPause {
				delete(l.reasons, other)
			}
		}
	}
	if len(l.reasons) >= maxReasons {
		reason = "" // of the others
		if count := l.reasons[reason]; count != nil {
			return count
		}
	}
	count := &refusalCount{}
	l.reasons[reason] = count
	return count
}

// logRefusal logs why a request is refused, and whose it is if that is known.
func (g *Gate) logRefusal(request *http.Request, who Identity, r *refusal) {
	level, more := slog.LevelDebug, 0
	if !r.isInvitation {
		var isWarning bool
		if more, isWarning = g.refusals.note(r.reason); isWarning {
			level = slog.LevelWarn
		}
	}
	if !g.log.Enabled(context.Background(), level) {
		return
	}
	about := []any{"reason", r.reason, "status", r.status}
	if who.Kind != Anonymous && who.Name != "" {
		about = append(about, "caller", hidden.Show(who.Caller()))
	}
	about = append(about, "remote", shownAddress(request.RemoteAddr), "host", shown(request.Host), "origin", shown(request.Header.Get("Origin")))
	if more > 0 {
		about = append(about, "more", more)
	}
	g.log.Log(request.Context(), level, "refused a request", about...)
}
