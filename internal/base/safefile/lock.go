package safefile

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrLocked says that somebody else held the lock for as long as was waited.
var ErrLocked = errors.New("another program is using it; try again")

const poll = 10 * time.Millisecond

// Lock takes the lock at path, which is made for this user only if it does not exist and
// stays afterwards. It waits for others at most for the time given. The lock is best a file
// beside the one it guards: one that is replaced takes its lock along. It also holds
// between two callers of one process, and ends with the process at the latest.
func Lock(ctx context.Context, path string, wait time.Duration) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, ErrLocked)
	defer cancel()
	// A blocking request could not be given up, so it is made again and again.
	again := time.NewTicker(poll)
	defer again.Stop()
	for {
		locked, err := tryLock(file)
		if locked {
			return func() { unlock(file) }, nil
		}
		if err != nil {
			file.Close()
			return nil, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			file.Close()
			return nil, context.Cause(ctx)
		}
	}
}
