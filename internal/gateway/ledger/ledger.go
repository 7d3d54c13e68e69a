// Package ledger counts calls in sliding windows, for rules of the policy that limit them. The counts are kept in one
// file, so that all workbenches of a user share them, and a restart does not reset them.
package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// fileName is the file in the state folder, and lockName the one that is locked while it is read and written.
const (
	fileName = "calls.json"
	lockName = fileName + ".lock"
)

// lockWait is how long a call waits for other workbenches that count calls; then it is refused.
const lockWait = 5 * time.Second

// Ledger counts calls. It is safe for concurrent use.
type Ledger struct {
	folder string // "": counts are kept in memory only

	mu   sync.Mutex // one call at a time; processes exclude each other with the lock of the file
	kept windows    // without a folder
}

// New makes a ledger with a file in a folder, which is created when first needed. Without a folder, it counts only the
// calls of this run.
func New(folder string) *Ledger { return &Ledger{folder: folder, kept: make(windows)} }

// Take implements policy.Ledger. If several claims are at their limits, over is one with the strictest verdict, and of
// these the one that is free last.
func (l *Ledger) Take(claims []policy.Claim) (over int, again time.Duration, err error) {
	over = -1
	err = l.change(func(all windows, now time.Time) (changed bool) {
		for i, claim := range claims {
			if claim.Approved {
				continue
			}
			_, wait := all[keyOf(claim)].state(claim.Rule.Limit, now)
			if wait == 0 {
				continue
			}
			if over < 0 || claim.Rule.Else > claims[over].Rule.Else || claim.Rule.Else == claims[over].Rule.Else && wait > again {
				over, again = i, wait
			}
		}
		if over >= 0 {
			return false
		}
		var counted []string // two equal rules are one
		for _, claim := range claims {
			if key := keyOf(claim); !slices.Contains(counted, key) {
				counted = append(counted, key)
				all.add(key, claim.Rule, now)
			}
		}
		return true
	})
	if err != nil {
		return -1, 0, err
	}
	return over, again, nil
}

// Used returns how many calls count now for a claim, and after which time one is free; 0 if one is free now.
func (l *Ledger) Used(claim policy.Claim) (calls int, again time.Duration, err error) {
	err = l.change(func(all windows, now time.Time) bool {
		calls, again = all[keyOf(claim)].state(claim.Rule.Limit, now)
		return false
	})
	return calls, again, err
}

// change calls with the counts, while nobody else changes them, and writes them if they have changed.
func (l *Ledger) change(with func(all windows, now time.Time) (changed bool)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.folder == "" {
		now := time.Now()
		l.kept.refresh(now)
		with(l.kept, now)
		l.kept.bound()
		return nil
	}
	if err := safefile.MakeFolder(l.folder); err != nil {
		return fmt.Errorf("the state folder cannot be created: %w", err)
	}
	release, err := safefile.Lock(context.Background(), filepath.Join(l.folder, lockName), lockWait)
	if err != nil {
		return fmt.Errorf("%s cannot be locked: %w", filepath.Join(l.folder, lockName), err)
	}
	defer release()
	path := filepath.Join(l.folder, fileName)
	all, err := read(path)
	if err != nil {
		return err
	}
	now := time.Now() // after the wait for the lock, so that calls are in order
	hasMoved := all.refresh(now)
	if changed := with(all, now); !changed && !hasMoved {
		return nil
	}
	all.bound()
	return write(path, all)
}

// keyOf identifies what is counted together: the rule by its content, so that it keeps its count as long as it stays the
// same, and the caller. It does not show them.
func keyOf(claim policy.Claim) string {
	rule := claim.Rule
	tools, except, callers := slices.Clone(rule.Tools), slices.Clone(rule.Except), slices.Clone(rule.Callers)
	slices.Sort(tools)
	slices.Sort(except)
	slices.Sort(callers)
	text, err := json.Marshal(struct { // texts and numbers only
		File          string
		Tools, Except []toolbox.Pattern
		Hints         config.PolicyHints
		Callers       []string
		Limit         config.PolicyLimit
		Caller        string
	}{rule.File, tools, except, rule.Hints, callers, *rule.Limit, claim.Caller})
	if err != nil {
		panic(err)
	}
	return hash(text)
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:keyBytes])
}

// keyBytes is how much of a hash identifies a window or a file.
const keyBytes = 16
