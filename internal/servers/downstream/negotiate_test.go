package downstream

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const (
	connectTime = 30 * time.Second
	lateTime    = 16 * time.Second // between two looks at the silence
)

// A server that is slow gets both requests. An error to one of them decides nothing while the
// other is unanswered.
func TestEraOfSlowServers(t *testing.T) {
	const modern = protocol.Revision20260728
	for _, test := range []struct {
		name              string
		options           Options
		initialize, probe string // what it sends when it gets that request
		late              string // what it sends after lateTime
		want              protocol.Revision
		took              time.Duration
	}{
		{name: "modern, refuses initialize, answers late", initialize: refused, late: discovered, want: modern, took: lateTime},
		{name: "the same for a modern client", options: Options{Modern: true}, initialize: refused, late: discovered, want: modern, took: lateTime},
		{name: "the same with initialize first", options: Options{Opening: InitializeFirst}, initialize: refused, late: discovered, want: modern, took: lateTime},
		{name: "the same with initialize only", options: Options{Opening: InitializeOnly}, initialize: refused, late: discovered, want: modern, took: lateTime},
		{name: "modern, answers both late", late: discovered + "\n" + refused, want: modern, took: lateTime},
		{name: "modern, answers both late, initialize first", late: refused + "\n" + discovered, want: modern, took: lateTime},
		{name: "known to be modern", options: Options{Opening: ProbeOnly}, late: discovered, want: modern, took: lateTime},
		{name: "modern, ignores initialize", probe: discovered, want: modern, took: probeTime},
		{name: "the same with initialize first", options: Options{Opening: InitializeFirst}, probe: discovered, want: modern, took: connectTime * 2 / 3},
		{name: "legacy, answers both together", initialize: noProbe + "\n" + ready, want: "2025-11-25", took: probeTime},
		{name: "legacy, answers late", late: noProbe + "\n" + ready, want: "2025-11-25", took: lateTime},
		{name: "the same with initialize first", options: Options{Opening: InitializeFirst}, probe: discovered, late: ready, want: "2025-11-25", took: lateTime},
		{name: "of both eras, answers late", late: discovered + "\n" + ready, want: "2025-11-25", took: lateTime},
		{name: "refuses both", initialize: refused + "\n" + noProbe, took: probeTime},
		{name: "refuses the probe first", initialize: noProbe + "\n" + refused, took: probeTime},
		{name: "refuses initialize, ignores the probe", initialize: refused, took: connectTime},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				session, err := connectSlow(t, test.options, map[string]string{`"initialize"`: test.initialize, `"server/discover"`: test.probe}, test.late)
				if took := time.Since(began); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
				switch {
				case test.want == "":
					if err == nil || !strings.Contains(err.Error(), "no initialize") {
						t.Errorf("error is %v, want the refusal", err)
					}
				case err != nil:
					t.Error(err)
				default:
					synctest.Wait() // for the late answer
					if session.Revision() != test.want || session.Err() != nil {
						t.Errorf("speaks %s, want %s; %v", session.Revision(), test.want, session.Err())
					}
				}
			})
		})
	}
}

// connectSlow connects to a server that answers each method as told, if at all, and sends
// something after lateTime.
func connectSlow(t *testing.T, options Options, answers map[string]string, late string) (*Session, error) {
	serverIn, stdin := io.Pipe()
	stdout, serverOut := io.Pipe()
	if late != "" {
		time.AfterFunc(lateTime, func() { _, _ = io.WriteString(serverOut, late+"\n") })
	}
	go func() {
		defer serverOut.Close()
		reader := wire.NewReader(serverIn, 0)
		for {
			frame, err := reader.Next()
			if err != nil {
				return
			}
			for method, answer := range answers {
				if answer != "" && strings.Contains(string(frame.Bytes()), method) {
					_, _ = io.WriteString(serverOut, answer+"\n")
				}
			}
		}
	}()
	options.Stdin, options.Stdout = stdin, stdout
	ctx, cancel := context.WithTimeout(t.Context(), connectTime)
	defer cancel()
	session, err := Connect(ctx, options)
	if err == nil {
		t.Cleanup(session.Close)
	}
	return session, err
}

// A server that has not read the first request is about to start: it is not sent another one.
func TestUnreadRequestIsWaitedFor(t *testing.T) {
	for _, opening := range []Opening{ProbeFirst, InitializeFirst} {
		synctest.Test(t, func(t *testing.T) {
			serverIn, stdin := io.Pipe()
			stdout, serverOut := io.Pipe()
			var requests []string
			go func() {
				defer serverOut.Close()
				<-time.After(lateTime)
				reader := wire.NewReader(serverIn, 0)
				for {
					frame, err := reader.Next()
					if err != nil {
						return
					}
					requests = append(requests, string(frame.Bytes()))
					switch line := string(frame.Bytes()); {
					case strings.Contains(line, `"server/discover"`):
						_, _ = io.WriteString(serverOut, discovered+"\n")
					case strings.Contains(line, `"initialize"`):
						_, _ = io.WriteString(serverOut, ready+"\n")
					}
				}
			}()
			began := time.Now()
			session, err := Connect(t.Context(), Options{
				Stdin: stdin, Stdout: stdout, Opening: opening, Modern: opening == ProbeFirst,
				InputTaken: func() (bool, bool) { return time.Since(began) >= lateTime, true },
			})
			if err != nil {
				t.Fatal(err)
			}
			session.Close()
			synctest.Wait()
			for _, request := range requests[1:] {
				if strings.Contains(request, `"server/discover"`) || strings.Contains(request, `"initialize"`) {
					t.Errorf("opening %d: the server was sent %q", opening, requests)
				}
			}
		})
	}
}

// Who ends at a request is to be begun with the other one.
func TestOpeningIsBlamed(t *testing.T) {
	taken := func() (bool, bool) { return true, true }
	for _, test := range []struct {
		name    string
		opening Opening
		answers map[string]string
		want    OpeningError
		blamed  bool
	}{
		{name: "ends at the probe", answers: map[string]string{"server/discover": "\x00"}, want: OpeningError{Ended: true, Alone: true, Instead: InitializeOnly}, blamed: true},
		{name: "ends at initialize", opening: InitializeFirst, answers: map[string]string{"initialize": "\x00"}, want: OpeningError{Ended: true, Alone: true, Instead: ProbeOnly}, blamed: true},
		{name: "modern, and ends at initialize", answers: map[string]string{"server/discover": discovered, "initialize": "\x00"}, want: OpeningError{Ended: true, Alone: true, Instead: ProbeOnly}, blamed: true},
		{name: "ends when it has both", answers: map[string]string{"initialize": "\x00"}, want: OpeningError{Ended: true, Instead: InitializeOnly}, blamed: true},
		{name: "legacy, and ends at initialize", answers: map[string]string{"server/discover": noProbe, "initialize": "\x00"}},
		{name: "refuses initialize, and ends at the probe", opening: InitializeFirst, answers: map[string]string{"server/discover": "\x00", "initialize": refused}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := converse(t, Options{Opening: test.opening, InputTaken: taken}, func(line string) string {
					for method, answer := range test.answers {
						if strings.Contains(line, `"`+method+`"`) {
							return answer
						}
					}
					return ""
				})
				opening, blamed := errors.AsType[*OpeningError](err)
				if err == nil || blamed != test.blamed {
					t.Fatalf("error is %#v", err)
				}
				if !blamed {
					return
				}
				got := *opening
				got.Err = nil
				if got != test.want {
					t.Errorf("got %+v, want %+v", got, test.want)
				}
			})
		})
	}
}

func TestShortTimeIsSharedByBothQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
		defer cancel()
		serverIn, stdin := io.Pipe()
		stdout, serverOut := io.Pipe()
		go silentServer(serverIn, serverOut, "", func(string) {})
		session, err := Connect(ctx, Options{Stdin: stdin, Stdout: stdout})
		if err != nil {
			t.Fatal(err)
		}
		session.Close()
	})
}

func TestProbeIsBlamed(t *testing.T) {
	taken := func(taken, known bool) func() (bool, bool) {
		return func() (bool, bool) { return taken, known }
	}
	for _, test := range []struct {
		name          string
		slow          bool // ends when initialize has come, too
		taken         func() (bool, bool)
		blamed, ended bool
	}{
		{name: "read it", taken: taken(true, true), blamed: true, ended: true},
		{name: "read it late", slow: true, taken: taken(true, true), blamed: true, ended: true},
		{name: "did not read it", taken: taken(false, true)},
		{name: "unknown", taken: taken(false, false), blamed: true},
		{name: "nobody to ask", blamed: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := converse(t, Options{InputTaken: test.taken}, func(line string) string {
					if test.slow && !strings.Contains(line, `"initialize"`) {
						return ""
					}
					return "\x00"
				})
				if !errors.Is(err, ErrOutputClosed) {
					t.Errorf("error is %v", err)
				}
				probe, blamed := errors.AsType[*OpeningError](err)
				if blamed != test.blamed || blamed && probe.Ended != test.ended {
					t.Errorf("error is %#v", err)
				}
			})
		})
	}
}
