package call

import (
	"sync/atomic"
	"time"
)

// phase is what a request is waiting for, or where it is. Its time is divided among the phases.
type phase uint8

const (
	inWorkbench phase = iota
	inStart           // the server is being started, or asked for log messages first
	atServer
	awaitsServer // which works on a task, or wants the request again later
	atApproval
	atLogin
	atQuestion // of the server
	phases
)

// timing divides the time of a request. A request is in the hands of one goroutine at a time, which alone moves it on.
// Without observers it stays zero.
type timing struct {
	began    time.Time
	now      phase
	shown    uint32    // now, written and read atomically, for those who look from outside
	since    time.Time // when the phase began
	spent    [phases]time.Duration
	sent     time.Time // when it was first sent
	answered time.Time // when the server's last response came
	trace    *Trace    // that gets the phases, too; nil if the request is not traced
}

// begin starts the clock.
func (t *timing) begin() {
	t.began = time.Now()
	t.since = t.began
}

// enter moves the request to the next phase.
func (t *timing) enter(next phase) {
	if t.began.IsZero() {
		return
	}
	now := time.Now()
	if next == atServer && t.sent.IsZero() {
		t.sent = now
	}
	t.spent[t.now] += now.Sub(t.since)
	t.now, t.since = next, now
	atomic.StoreUint32(&t.shown, uint32(next))
	if t.trace != nil {
		t.trace.enter(next, now)
	}
}

// answer takes the request back from the server, which responded.
func (t *timing) answer() {
	t.enter(inWorkbench)
	t.answered = t.since
}

// unsent takes back that a request was sent, which the session did not accept.
func (t *timing) unsent() {
	if t.now != atServer {
		return
	}
	if t.sent.Equal(t.since) {
		t.sent = time.Time{}
	}
	t.now = inWorkbench
	atomic.StoreUint32(&t.shown, uint32(inWorkbench))
	if t.trace != nil {
		t.trace.unsent()
	}
}

// waited returns the time for persons: approval, logins, and answers to the server's questions.
func (t *timing) waited() time.Duration {
	return t.spent[atApproval] + t.spent[atLogin] + t.spent[atQuestion]
}

// end stops the clock.
func (t *timing) end() (took time.Duration) {
	now := time.Now()
	t.spent[t.now] += now.Sub(t.since)
	t.since = now
	return now.Sub(t.began)
}
