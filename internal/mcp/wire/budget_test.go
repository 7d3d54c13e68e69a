package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

// acquire asks for bytes in a goroutine of its own and waits until that is over or
// waits as well.
func acquire(ctx context.Context, b *budget, n int) <-chan error {
	done := make(chan error, 1)
	go func() { done <- b.acquire(ctx, n) }()
	synctest.Wait()
	return done
}

// outcome says how an acquire ended: "waits", "ok" or its error.
func outcome(done <-chan error) string {
	synctest.Wait()
	select {
	case err := <-done:
		if err != nil {
			return err.Error()
		}
		return "ok"
	default:
		return "waits"
	}
}

func expect(t *testing.T, what string, done <-chan error, want string) {
	t.Helper()
	if got := outcome(done); got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func TestBudgetTryAcquire(t *testing.T) {
	for _, test := range []struct {
		name string
		held []int
		n    int
		want bool
	}{
		{"nothing held", nil, 10, true},
		{"fits", []int{40, 50}, 9, true},
		{"fits exactly", []int{40, 50}, 10, true},
		{"one too many", []int{40, 50}, 11, false},
		{"nothing wanted", []int{100}, 0, true},
		{"larger than the budget, alone", nil, 1000, true},
		{"larger than the budget, not alone", []int{1}, 1000, false},
		{"beside one larger than the budget", []int{1000}, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBudget(100)
			for _, n := range test.held {
				if !b.tryAcquire(n) {
					t.Fatalf("could not take %d", n)
				}
			}
			if got := b.tryAcquire(test.n); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestBudgetWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		expect(t, "first", acquire(t.Context(), b, 60), "ok")
		second := acquire(t.Context(), b, 60)
		expect(t, "second", second, "waits")
		b.release(10)
		expect(t, "second with 50 free", second, "waits")
		b.release(10)
		expect(t, "second with 60 free", second, "ok")
		if b.tryAcquire(1) {
			t.Error("the bytes of the second were not counted")
		}
		b.release(40)
		b.release(60)
		if !b.tryAcquire(100) {
			t.Error("not everything was given back")
		}
	})
}

func TestBudgetLetsAnOversizedMessageThroughAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		expect(t, "small", acquire(t.Context(), b, 1), "ok")
		large := acquire(t.Context(), b, 5000)
		expect(t, "large beside it", large, "waits")
		after := acquire(t.Context(), b, 1)
		b.release(1)
		expect(t, "large alone", large, "ok")
		expect(t, "small beside the large one", after, "waits")
		b.release(5000)
		expect(t, "small afterwards", after, "ok")
	})
}

func TestBudgetIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		b.tryAcquire(100)
		sizes := []int{30, 90, 10, 20}
		waiting := make(map[int]<-chan error)
		for _, n := range sizes {
			waiting[n] = acquire(t.Context(), b, n)
		}
		for _, step := range []struct {
			release int
			served  []int
		}{
			{1, nil},
			{99, []int{30}}, // 90 does not fit beside it, and nobody passes it
			{30, []int{90, 10}},
			{90, []int{20}},
		} {
			b.release(step.release)
			var served []int
			for _, n := range sizes {
				if outcome(waiting[n]) == "ok" {
					served = append(served, n)
				}
			}
			if !slices.Equal(served, step.served) {
				t.Errorf("after releasing %d: served %v, want %v", step.release, served, step.served)
			}
		}
	})
}

// A large message must come through although small ones keep coming.
func TestBudgetDoesNotStarveLargeMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		b.tryAcquire(10)
		large := acquire(t.Context(), b, 95)
		if b.tryAcquire(10) {
			t.Error("one that does not wait passed one that does")
		}
		small := acquire(t.Context(), b, 10)
		expect(t, "small", small, "waits")
		b.release(10)
		expect(t, "large", large, "ok")
		expect(t, "small", small, "waits")
		b.release(95)
		expect(t, "small", small, "ok")
	})
}

func TestBudgetGivesUpWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		b.tryAcquire(50)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		large := acquire(ctx, b, 90)
		small := acquire(t.Context(), b, 20)
		last := acquire(t.Context(), b, 40)
		expect(t, "small behind large", small, "waits")
		cancel()
		expect(t, "large", large, context.Canceled.Error())
		expect(t, "small, which is next now", small, "ok")
		expect(t, "last", last, "waits")
		b.release(20)
		expect(t, "last", last, "ok")
		if !b.tryAcquire(10) || b.tryAcquire(1) {
			t.Error("the one that gave up still counts")
		}
	})
}

func TestBudgetRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		b.tryAcquire(100)
		var waiting []<-chan error
		for range 3 {
			waiting = append(waiting, acquire(t.Context(), b, 50))
		}
		b.refuse(errBroken)
		b.refuse(errors.New("a later reason"))
		for i, done := range waiting {
			expect(t, fmt.Sprintf("waiter %d", i), done, errBroken.Error())
		}
		b.release(100)
		expect(t, "later one", acquire(t.Context(), b, 1), errBroken.Error())
		if b.tryAcquire(1) {
			t.Error("TryAcquire took bytes of a budget that refuses")
		}
	})
}

// The turn of a waiter may come in the moment in which it gives up: then it either has
// its bytes or left them to others.
func TestBudgetTurnAndEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 200 {
			b := newBudget(100)
			b.tryAcquire(100)
			ctx, cancel := context.WithCancel(t.Context())
			done := acquire(ctx, b, 100)
			cancel()
			b.release(100) // perhaps before the waiter knows
			err := <-done
			synctest.Wait()
			if taken := !b.tryAcquire(100); taken != (err == nil) {
				t.Fatalf("error %v, but bytes taken: %t", err, taken)
			}
		}
	})
}
