package front

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestFormOfAnAnswer(t *testing.T) {
	both, onlyJSON, onlyStream := accepts{json: true, stream: true}, accepts{json: true}, accepts{stream: true}
	const soon, late, never = streamAfter / 2, streamAfter * 2, time.Duration(-1)
	for _, test := range []struct {
		name     string
		accepted accepts
		notified bool          // a message comes before the answer
		answered time.Duration // when the answer comes
		want     answerForm
		after    time.Duration // when the form is known
	}{
		{"soon and alone", both, false, soon, alone, soon},
		{"late", both, false, late, streamed, streamAfter},
		{"behind a message", both, true, soon, streamed, 0},
		{"never", both, false, never, streamed, streamAfter},
		{"without streams, late", onlyJSON, false, late, alone, late},
		{"without streams, behind a message", onlyJSON, true, late, alone, late},
		{"without JSON", onlyStream, false, soon, streamed, soon},
		{"without both", accepts{}, false, soon, bodyless, soon},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStream(newSpillBuffer().of(""), 1, []byte("7"))
				if test.notified {
					if err := st.notify(outgoing{method: "a/message"}); err != nil {
						t.Fatal(err)
					}
				}
				if test.answered != never {
					defer time.AfterFunc(test.answered, func() { st.respond(resultTo([]byte("7"), []byte("{}"))) }).Stop()
				}
				begin := time.Now()
				got, answer := st.form(t.Context(), test.accepted)
				if after := time.Since(begin); got != test.want || after != test.after {
					t.Errorf("form %d after %v, want %d after %v", got, after, test.want, test.after)
				}
				if got == alone && string(answer.bytes) != `{"jsonrpc":"2.0","id":7,"result":{}}`+"\n" {
					t.Errorf("the answer is %q", answer.bytes)
				}
			})
		})
	}
}

func TestFormOfAnAnswerThatNobodyWaitsFor(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, _ := newStream(newSpillBuffer().of(""), 1, nil).form(ctx, accepts{json: true}); got != abandoned {
		t.Errorf("form %d, want %d", got, abandoned)
	}
}

// deadlineWriter is a connection whose client reads nothing.
type deadlineWriter struct {
	http.ResponseWriter
	deadline time.Time
}

func (d *deadlineWriter) SetWriteDeadline(at time.Time) error { d.deadline = at; return nil }

func (d *deadlineWriter) Write([]byte) (int, error) {
	<-time.After(time.Until(d.deadline))
	return 0, os.ErrDeadlineExceeded
}

func TestStreamThatNobodyReadsIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		out := newOutput(&deadlineWriter{ResponseWriter: httptest.NewRecorder()})
		if out.event(1, event{sequence: 1, message: unaccounted(make([]byte, 1<<20))}) {
			t.Error("the client counts as there")
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}
