package mcptest

import (
	"fmt"
	"time"
)

// Eventually tries again and again until there is no error, or the time is over.
func Eventually(limit time.Duration, try func() error) error {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	const shortest, longest = time.Millisecond, 10 * time.Millisecond
	for pause := shortest; ; pause = min(2*pause, longest) {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(pause):
		case <-deadline.C:
			return fmt.Errorf("after %s: %w", limit, err)
		}
	}
}
