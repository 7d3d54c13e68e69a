package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
)

// Stop stops everything that New and clients started, in reverse order, in bounded time. Further
// calls return the result of the first.
func (a *App) Stop(ctx context.Context) error {
	a.stopping.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, stopTime)
		defer cancel()
		var errs []error
		for i := len(a.stops) - 1; i >= 0; i-- {
			if err := a.stops[i].stop(ctx); err != nil {
				errs = append(errs, fmt.Errorf("could not stop the %s: %w", a.stops[i].name, err))
			}
		}
		a.stopErr = errors.Join(errs...)
	})
	return a.stopErr
}

// closeLogins lets refreshes finish, as far as there is time: their tokens are lost otherwise.
func closeLogins(ctx context.Context, logins *oauth.Manager) error {
	done := make(chan struct{})
	go func() { // ends with the refreshes, which are bounded
		logins.Close()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
