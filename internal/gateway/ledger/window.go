package ledger

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const (
	// maxEntries is how many entries a window has. Calls of a limit with more are counted together if they are close
	// to each other, and are free again with the last of them: later by at most 1/256 of the window's time.
	maxEntries = 256
	// maxWindows is how many windows are kept; beyond it, the policy with the most of them loses those with the oldest
	// calls, so that a project with many limits cannot reset those of the user.
	maxWindows = 500
)

// windows are the counts of all rules and callers, by their keys.
type windows map[string]*window

// window is the calls of one rule and caller.
type window struct {
	Length  time.Duration `json:"window"`
	File    string        `json:"file"`  // identifies the file of the rule, and does not show it
	Entries []entry       `json:"calls"` // the oldest first
}

// entry is calls that are counted together. The times are nanoseconds since 1970.
type entry struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
	Calls int   `json:"n"`
}

// refresh drops the calls that are over. A call from the future, from before the clock was set back, counts as one of
// now: so it is never free early, and not blocked for longer than the window's time either. It reports whether there was
// one; that must be written, since otherwise it would be one of now the next time too.
func (all windows) refresh(now time.Time) (hasMoved bool) {
	at := now.UnixNano()
	for key, w := range all {
		kept := w.Entries[:0]
		for _, e := range w.Entries {
			if e.Last > at {
				e.Last, hasMoved = at, true
			}
			e.First = min(e.First, e.Last)
			if at-e.Last < int64(w.Length) {
				kept = append(kept, e)
			}
		}
		if w.Entries = kept; len(kept) == 0 {
			delete(all, key)
		}
	}
	return hasMoved
}

// state returns how many calls count, and after which time one more is within the limit; 0 if it is now. A nil window has
// no calls.
func (w *window) state(limit *config.PolicyLimit, now time.Time) (calls int, again time.Duration) {
	if w == nil {
		return 0, 0
	}
	for _, e := range w.Entries {
		calls += e.Calls
	}
	remaining := calls
	for _, e := range w.Entries {
		if remaining < limit.Calls {
			break
		}
		remaining -= e.Calls
		again = max(time.Duration(e.Last+int64(w.Length)-now.UnixNano()), 1)
	}
	return calls, again
}

// add counts a call.
func (all windows) add(key string, rule *config.PolicyRule, now time.Time) {
	w, limit := all[key], rule.Limit
	if w == nil {
		w = &window{Length: limit.Window, File: hash([]byte(rule.File))}
		all[key] = w
	}
	at := now.UnixNano()
	if n := len(w.Entries); n > 0 && limit.Calls > maxEntries || n >= maxEntries {
		if newest := &w.Entries[n-1]; at-newest.First < int64(w.Length)/maxEntries || n > maxEntries {
			newest.Last = at
			newest.Calls++
			return
		}
	}
	w.Entries = append(w.Entries, entry{at, at, 1})
}

// bound drops windows if there are too many.
func (all windows) bound() {
	if len(all) <= maxWindows {
		return
	}
	newest := func(key string) int64 { return all[key].Entries[len(all[key].Entries)-1].Last }
	byFile := make(map[string][]string) // the keys, those with the oldest calls first
	for _, key := range slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Compare(newest(a), newest(b)) }) {
		byFile[all[key].File] = append(byFile[all[key].File], key)
	}
	for len(all) > maxWindows {
		largest := ""
		for file, keys := range byFile {
			if len(keys) > len(byFile[largest]) {
				largest = file
			}
		}
		delete(all, byFile[largest][0])
		byFile[largest] = byFile[largest][1:]
	}
}
