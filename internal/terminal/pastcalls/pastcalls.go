// Package pastcalls shows the calls that workbenches remember, or wrote to files before they ended.
package pastcalls

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Query selects calls.
type Query struct {
	Errors bool          // only those that failed
	Slow   time.Duration // only those that took that long, or longer
	Limit  int           // only the last ones
	PID    int           // only those of this workbench; 0: all
	Folder string        // of the files
}

func (q *Query) wants(one *history.Record) bool {
	return (!q.Errors || one.IsError()) && one.Took >= q.Slow.Seconds() && (q.PID == 0 || one.PID == q.PID)
}

// Calls are those that were found, the oldest first.
type Calls struct {
	Records []history.Record
	HasAny  bool // there are calls, whether they are wanted or not
	// next is where each workbench goes on.
	next map[history.Owner]uint64
	at   time.Time // when it was looked for them
}

// Find returns the last calls of running workbenches, and of those that wrote files. What could not be read is in the
// error; the rest is returned anyway.
func (q *Query) Find(ctx context.Context, running []*control.Client) (*Calls, error) {
	calls := &Calls{next: make(map[history.Owner]uint64), at: time.Now()}
	var errs []error
	oldest := make(map[history.Owner]uint64) // that a running workbench still remembers; older ones may be in its files
	for _, workbench := range running {
		owner := ownerOf(workbench)
		first := ^uint64(0)
		err := workbench.History(ctx, 0, false, func(one history.Record) {
			first, calls.next[owner] = min(first, one.Seq), one.Seq
			calls.HasAny = calls.HasAny || q.PID == 0 || one.PID == q.PID
			if q.wants(&one) {
				calls.Records = append(calls.Records, one)
			}
		})
		oldest[owner] = first
		if err != nil {
			errs = append(errs, fmt.Errorf("the workbench with process id %d does not tell its calls: %w", owner.PID, err))
		}
	}
	stored, err := history.ReadStored(q.Folder, q.Limit, func(owner history.Owner, one *history.Record) bool {
		first, isRunning := oldest[owner]
		calls.HasAny = calls.HasAny || q.PID == 0 || one.PID == q.PID
		if !isRunning {
			calls.next[owner] = max(calls.next[owner], one.Seq)
		}
		return q.wants(one) && (!isRunning || one.Seq < first)
	})
	if err != nil {
		errs = append(errs, fmt.Errorf("the files of ended workbenches cannot be read: %w", err))
	}
	calls.Records = history.Newest(append(calls.Records, stored...), q.Limit)
	return calls, errors.Join(errs...)
}

func ownerOf(workbench *control.Client) history.Owner {
	return history.Owner{PID: workbench.Status.PID, Started: workbench.Status.Started.UnixMilli()}
}
