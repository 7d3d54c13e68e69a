package app

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPatience(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name    string
		known   bool
		answers map[time.Duration]error // of servers, by when; nil: it is up
		want    time.Duration           // when the rest is given up; 0: never
	}{
		{name: "others are known", known: true, want: UnseenPatience},
		{name: "one answered in time", answers: map[time.Duration]error{time.Second: nil}, want: UnseenPatience},
		{name: "the first one is slow", answers: map[time.Duration]error{time.Second: broken, time.Minute: nil}, want: time.Minute},
		{name: "nothing is known", answers: map[time.Duration]error{time.Second: broken}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started := time.Now()
				ctx, patience := NewPatience(t.Context(), test.known)
				defer patience.End()
				for after, answer := range test.answers {
					time.AfterFunc(after, func() {
						if got := patience.Judge(answer); !errors.Is(got, answer) {
							t.Errorf("after %s: %v instead of %v", after, got, answer)
						}
					})
				}
				within, stop := context.WithTimeout(ctx, time.Hour)
				defer stop()
				<-within.Done()
				if test.want == 0 {
					if ctx.Err() != nil {
						t.Error("it was given up")
					}
					return
				}
				if took := time.Since(started); took != test.want {
					t.Errorf("given up after %s instead of %s", took, test.want)
				}
				if got := patience.Judge(ctx.Err()); !errors.Is(got, ErrNotAwaited) {
					t.Errorf("the reason is %v", got)
				}
				if got := patience.Judge(broken); !errors.Is(got, broken) {
					t.Errorf("the reason of one that failed is %v", got)
				}
			})
		})
	}
}
