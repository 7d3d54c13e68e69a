package daemon

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// A limit that comes while it serves holds from then on, also for the time that passed.
func TestNewIdle(t *testing.T) {
	for _, test := range []struct {
		name    string
		comes   time.Duration // after the start
		limit   time.Duration
		leaves  time.Duration // when the client does that came first; 0: there is none
		ends    time.Duration
		renewed bool // it comes twice
	}{
		{name: "shorter", comes: 10 * time.Minute, limit: 20 * time.Minute, ends: 20 * time.Minute},
		{name: "over already", comes: 10 * time.Minute, limit: time.Minute, ends: 10 * time.Minute},
		{name: "longer", comes: 50 * time.Minute, limit: 2 * time.Hour, ends: 2 * time.Hour},
		{name: "while a client is there", comes: time.Minute, limit: 5 * time.Minute, leaves: 3 * time.Hour, ends: 3*time.Hour + 5*time.Minute},
		{name: "after a client left", comes: 3*time.Hour + time.Minute, limit: 5 * time.Minute, leaves: 3 * time.Hour, ends: 3*time.Hour + 5*time.Minute},
		{name: "twice", comes: 10 * time.Minute, limit: 20 * time.Minute, ends: 20 * time.Minute, renewed: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limits := make(chan time.Duration, 1)
				s := &server{
					options: ServeOptions{Idle: time.Hour, NewIdle: limits, Log: slog.New(slog.DiscardHandler)},
					changed: make(chan struct{}, 1),
				}
				began, ended := time.Now(), make(chan error)
				go func() { ended <- s.wait(context.Background(), nil) }()
				if test.leaves > 0 {
					s.addClient()
					time.AfterFunc(test.leaves, s.removeClient)
				}
				time.AfterFunc(test.comes, func() { limits <- test.limit })
				if test.renewed {
					time.AfterFunc(test.comes+time.Minute, func() { limits <- test.limit })
				}
				if err := <-ended; err != nil || time.Since(began) != test.ends {
					t.Errorf("it ended after %s: %v", time.Since(began), err)
				}
			})
		})
	}
}
