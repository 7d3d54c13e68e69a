package credentials

import (
	"sync"
	"time"
)

// listAge is how old the list of files may be that the stamps of people's logins are made of. There may be thousands of people
// and files, and each login in use is looked at once a second.
const listAge = time.Second

// listing remembers which files there are. What this store adds is there at once, what another process adds within listAge. A
// file that is changed or removed is noticed at once: stamps look at each file.
type listing struct {
	store *Store

	mu       sync.Mutex
	since    time.Time
	byPrefix map[string][]string // nil: not known
}

// of returns the names of the files of logins that begin with a prefix.
func (l *listing) of(prefix string) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byPrefix == nil || time.Since(l.since) >= listAge {
		names, err := l.store.list("")
		if err != nil {
			return nil, err
		}
		l.byPrefix, l.since = make(map[string][]string), time.Now()
		for _, name := range names {
			l.byPrefix[name[:2*hashBytes+1]] = append(l.byPrefix[name[:2*hashBytes+1]], name)
		}
	}
	return l.byPrefix[prefix], nil
}

// forget is called when there is another file.
func (l *listing) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byPrefix = nil
}
