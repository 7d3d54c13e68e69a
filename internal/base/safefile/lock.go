package safefile

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// ErrLocked means that another process or goroutine held the lock for the whole wait.
var ErrLocked = errors.New("another program is using it; try again")

const lockPoll = 10 * time.Millisecond // between two attempts to lock a file

// Lock locks the file at path, which it creates with mode 0600 and leaves behind. It waits for other holders for at
// most the given time. Lock a file beside the one to protect: a file that is replaced takes its lock along. The lock
// also excludes other callers in this process, and is released when the process exits.
func Lock(ctx context.Context, path string, wait time.Duration) (release func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, ErrLocked)
	defer cancel()
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR))
	locked, err := lock.TryLockContext(ctx, lockPoll)
	switch {
	case locked:
		return func() { _ = lock.Unlock() }, nil // fails only if the lock is gone
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, err
}
