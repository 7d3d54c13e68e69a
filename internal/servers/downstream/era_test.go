package downstream

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

func TestEra(t *testing.T) {
	const modern = protocol.Revision20260728
	probed := func(steps string) string { return `{"on":{"server/discover":[` + steps + `]}}` }
	for _, test := range []struct {
		name, spec string
		want       protocol.Revision
		took       time.Duration
		wantErr    string
	}{
		{name: "modern", spec: `{"era":"modern"}`, want: modern},
		{name: "both", spec: `{"era":"both"}`, want: "2025-11-25"},
		{name: "legacy", spec: `{}`, want: "2025-11-25"},
		{name: "ignores the probe", spec: probed(`{"answered":true}`), want: "2025-11-25", took: probeTime},
		{name: "invalid request", spec: probed(`{"error":{"code":-32600,"message":"x"}}`), want: "2025-11-25"},
		{name: "not initialized", spec: probed(`{"error":{"code":-32002,"message":"x"}}`), want: "2025-11-25"},
		{name: "any error", spec: probed(`{"error":{"code":0,"message":""}}`), want: "2025-11-25"},
		{name: "an error of the modern era", spec: probed(`{"error":{"code":-32022,"message":"x"}}`), want: "2025-11-25"},
		{name: "an error without an id", spec: probed(`{"send":{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}},{"answered":true}`), want: "2025-11-25"},
		{name: "an answer that is none", spec: probed(`{"send":{"jsonrpc":"2.0","id":"${id}","result":{},"error":{}}},{"answered":true}`), want: "2025-11-25"},
		{name: "a result of its own", spec: probed(`{"result":{}}`), want: "2025-11-25"},
		{
			name: "a version error with legacy revisions", want: "2025-06-18",
			spec: `{"versions":["2025-06-18"],"on":{"server/discover":[{"error":{"code":-32022,"message":"x","data":{"supported":["2027-01-01","2025-06-18"]}}}]}}`,
		},
		{name: "a version error without one in common", spec: probed(`{"error":{"code":-32022,"message":"x","data":{"supported":["2027-01-01"]}}}`), wantErr: "2027-01-01"},
		{name: "discovered to be legacy", spec: probed(`{"result":{"supportedVersions":["2025-11-25"],"capabilities":{}}}`), want: "2025-11-25"},
		{name: "discovered to be of the future", spec: probed(`{"result":{"supportedVersions":["2027-01-01"],"capabilities":{}}}`), wantErr: "2027-01-01"},
		{
			name: "modern, and accepts initialize for its own revision", want: modern,
			spec: `{"era":"modern","on":{"initialize":[{"result":{"protocolVersion":"2026-07-28","capabilities":{}}}]}}`,
		},
		{name: "exits", spec: probed(`{"exit":3}`), wantErr: ErrOutputClosed.Error()},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				session, _, err := dial(t, test.spec, Options{})
				if took := time.Since(began); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
				switch {
				case test.wantErr != "":
					if err == nil || !strings.Contains(err.Error(), test.wantErr) {
						t.Errorf("error %v does not hold %q", err, test.wantErr)
					}
				case err != nil:
					t.Error(err)
				case session.Revision() != test.want || session.Modern() != (test.want == modern):
					t.Errorf("speaks %s, want %s", session.Revision(), test.want)
				}
			})
		})
	}
}

func TestWantedEra(t *testing.T) {
	for spec, want := range map[string]struct {
		revision protocol.Revision
		eras     Eras
	}{
		`{"era":"both"}`:                {protocol.Revision20260728, BothEras},
		`{"era":"modern"}`:              {protocol.Revision20260728, ErasUnknown}, // initialize was not tried
		`{"on":{"server/discover":[]}}`: {"2025-11-25", OnlyLegacy},
		`{"on":{"server/discover":[{"error":{"code":-32603,"message":"x"}}]}}`: {"2025-11-25", ErasUnknown},
		`{"on":{"server/discover":[{"answered":true}]}}`:                       {"2025-11-25", ErasUnknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			session, _, err := dial(t, spec, Options{Modern: true})
			if err != nil {
				t.Fatal(err)
			}
			if session.Revision() != want.revision || session.Eras() != want.eras {
				t.Errorf("%s: speaks %s, eras %d, want %v", spec, session.Revision(), session.Eras(), want)
			}
		})
	}
}

// A server that refuses the revision that it wants is asked once more.
func TestProbeIsRepeated(t *testing.T) {
	refusal := `{"jsonrpc":"2.0","id":"discover","error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"]}}}`
	for _, test := range []struct {
		answers []string
		want    protocol.Revision
	}{
		{[]string{refusal, discovered}, protocol.Revision20260728},
		{[]string{refusal, refusal, ready}, "2025-11-25"},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := -1
			session, err := converse(t, Options{Modern: true}, func(string) string {
				n++
				if n < len(test.answers) {
					return test.answers[n]
				}
				return ""
			})
			if err != nil || session.Revision() != test.want {
				t.Errorf("it does not speak %s: %v", test.want, err)
			}
		})
	}
}

// A slow server of both eras that answers both questions is addressed in the legacy era, on
// which initialize has settled it.
func TestWantedEraOfSlowServers(t *testing.T) {
	both := strings.Replace(discovered, `["2026-07-28"]`, `["2026-07-28","2025-11-25"]`, 1)
	for _, test := range []struct {
		name, answers string
		modern        bool
		want          protocol.Revision
		settled       bool
	}{
		{"legacy", both + "\n" + ready, false, "2025-11-25", false},
		{"legacy, though it does not list it", discovered + "\n" + ready, false, "2025-11-25", false},
		{"modern wanted", both + "\n" + ready, true, "2025-11-25", false},
		{"modern wanted, and settled on it", both + "\n" + refused, true, protocol.Revision20260728, false},
		{"legacy, but settled", both + "\n" + refused, false, "", true},
		{"legacy, but settled, the other way round", refused + "\n" + both, false, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				session, err := converse(t, Options{Modern: test.modern}, func(line string) string {
					if strings.Contains(line, `"initialize"`) {
						return test.answers
					}
					return ""
				})
				if opening, blamed := errors.AsType[*OpeningError](err); test.settled && (!blamed || opening.Eras != BothEras || opening.Instead != InitializeOnly) {
					t.Errorf("error is %#v", err)
				}
				if !test.settled && (err != nil || session.Revision() != test.want) {
					t.Errorf("speaks another revision, or %v", err)
				}
			})
		})
	}
}

// A fresh process of it can be spoken to in the legacy era.
func TestServerOfBothErasThatTheProbeSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, err := dial(t, `{"era":"both","on":{"initialize":[{"error":{"code":-32600,"message":"x"}}]}}`, Options{})
		if probe, blamed := errors.AsType[*OpeningError](err); !blamed || !probe.Ended {
			t.Errorf("the error is %v, want one that blames the probe", err)
		}
		session, _, err := dial(t, `{"era":"both"}`, Options{Opening: InitializeOnly})
		if err != nil || session.Modern() {
			t.Errorf("with initialize first the session is not a legacy one: %v", err)
		}
	})
}

const (
	discovered = `{"jsonrpc":"2.0","id":"discover","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`
	refused    = `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no initialize"}}`
)

func TestInitializeFirst(t *testing.T) {
	for spec, want := range map[string]protocol.Revision{
		`{"on":{"server/discover":[{"exit":3}]}}`: "2025-11-25",
		`{"era":"both"}`:   "2025-11-25",
		`{"era":"modern"}`: protocol.Revision20260728,
		`{"on":{"initialize":[{"error":{"code":-1,"message":"no licence"}}]}}`: "",
	} {
		session, _, err := dial(t, spec, Options{Opening: InitializeOnly})
		switch {
		case want == "":
			if err == nil || !strings.Contains(err.Error(), "no licence") {
				t.Errorf("%s: error is %v", spec, err)
			}
		case err != nil:
			t.Errorf("%s: %v", spec, err)
		case session.Revision() != want:
			t.Errorf("%s: speaks %s, want %s", spec, session.Revision(), want)
		}
	}
}
