package call

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTimeIsDivided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var timing timing
		timing.begin()
		for _, step := range []struct {
			next  phase
			after time.Duration
		}{{inStart, 1}, {inWorkbench, 20}, {atApproval, 300}, {atServer, 4_000}, {atQuestion, 50_000}, {atServer, 600_000}} {
			time.Sleep(step.after * time.Microsecond)
			timing.enter(step.next)
		}
		time.Sleep(7_000_000 * time.Microsecond)
		timing.answer()
		time.Sleep(80_000_000 * time.Microsecond)
		took := timing.end()
		want := [phases]time.Duration{inWorkbench: 80_000_301, inStart: 20, atServer: 7_050_000, atApproval: 4_000, atQuestion: 600_000}
		for i := range want {
			if want[i] *= time.Microsecond; timing.spent[i] != want[i] {
				t.Errorf("phase %d took %s, want %s", i, timing.spent[i], want[i])
			}
		}
		if took != 87_654_321*time.Microsecond {
			t.Errorf("it took %s", took)
		}
		if sent, answered := timing.sent.Sub(began), timing.answered.Sub(began); sent != 4_321*time.Microsecond || answered != 7_654_321*time.Microsecond {
			t.Errorf("sent after %s, answered after %s", sent, answered)
		}
	})
}

// A session that had ended did not get the request, and the next one may.
func TestRequestThatCouldNotBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timing timing
		timing.begin()
		timing.enter(atServer)
		timing.unsent()
		if !timing.sent.IsZero() || timing.now != inWorkbench {
			t.Errorf("got %+v", timing)
		}
		time.Sleep(time.Second)
		timing.enter(atServer)
		timing.end()
		if timing.sent.Sub(timing.began) != time.Second || timing.spent != [phases]time.Duration{inWorkbench: time.Second} {
			t.Errorf("got %+v", timing)
		}
	})
}

func TestNothingIsTimedWithoutObservers(t *testing.T) {
	var timing timing
	timing.enter(atServer)
	timing.enter(inWorkbench)
	if timing.now != inWorkbench || !timing.sent.IsZero() || !timing.since.IsZero() {
		t.Errorf("got %+v", timing)
	}
}
