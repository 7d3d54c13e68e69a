package diff

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// route is a way through the workbench to the fake.
type route struct {
	name    string
	pending map[string]string
	dial    func(t *testing.T) link
}

// localFake configures this test binary as the fake server.
func localFake(era era) map[string]any {
	return map[string]any{"command": mcptest.Self(), "args": mcptest.RoleArgs(string(era))}
}

var serve = []string{"serve", "--listen", "127.0.0.1:0", "--no-auth"}

var routes = []route{
	{"stdio above, stdio below", pending, func(t *testing.T) link {
		return dialStdio(t, workbenchCommand(t, localFake(legacyEra)))
	}},
	{"stdio above, HTTP below", pendingOverHTTP, func(t *testing.T) link {
		return dialStdio(t, workbenchCommand(t, map[string]any{"url": serveHTTP(t, legacyEra)}))
	}},
	{"stdio above, SSE below", pendingOverHTTP, func(t *testing.T) link {
		return dialStdio(t, workbenchCommand(t, map[string]any{"url": serveSSE(t), "transport": "sse"}))
	}},
	{"HTTP above, stdio below", pending, func(t *testing.T) link {
		return dialWorkbench(t, workbenchCommand(t, localFake(legacyEra), serve...))
	}},
	{"HTTP above, HTTP below", pendingOverHTTP, func(t *testing.T) link {
		return dialWorkbench(t, workbenchCommand(t, map[string]any{"url": serveHTTP(t, legacyEra)}, serve...))
	}},
}

func directFake(t *testing.T, era era) link {
	t.Helper()
	return dialStdio(t, exec.Command(mcptest.Self(), mcptest.RoleArgs(string(era))...))
}

func TestASessionIsTheSameThroughTheWorkbench(t *testing.T) {
	steps, want := directly(t, newest)
	for _, r := range routes {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			compare(t, steps, want, session(t, r.dial(t), oddIDs, steps, shorter(r.pending)), r.pending)
		})
	}
}

// directly runs the script against the fake alone.
func directly(t *testing.T, revision string) (steps []step, got map[string]exchange) {
	t.Helper()
	steps = script(revision)
	got = session(t, directFake(t, legacyEra), oddIDs, steps, func(step) time.Duration { return patience })
	if left, ok := got[unexpected]; ok {
		t.Fatalf("the server alone sends more than the script knows:\n%s", left.describe())
	}
	return steps, got
}

// Older revisions know less, but what they do not know passes all the same.
func TestASessionIsTheSameInOlderRevisions(t *testing.T) {
	for _, revision := range []string{"2025-06-18", "2025-03-26", "2024-11-05"} {
		steps, want := directly(t, revision)
		for _, r := range []route{routes[0], routes[len(routes)-1]} {
			t.Run(revision+", "+r.name, func(t *testing.T) {
				t.Parallel()
				compare(t, steps, want, session(t, r.dial(t), oddIDs, steps, shorter(r.pending)), r.pending)
			})
		}
	}
}

// shorter does not wait long for what is known not to come.
func shorter(pending map[string]string) func(step) time.Duration {
	return func(s step) time.Duration {
		if pending[s.name] != "" {
			return settle
		}
		return patience
	}
}

// compare reports every step that differs.
func compare(t *testing.T, steps []step, want, got map[string]exchange, pending map[string]string) {
	t.Helper()
	for _, s := range slices.Concat(steps, []step{{name: unexpected}}) {
		difference := differ(want[s.name].describe(), got[s.name].describe())
		reason, isPending := pending[s.name]
		switch {
		case difference == "" && isPending:
			t.Logf("'%s' does not differ here; it is pending because: %s", s.name, reason)
		case difference != "" && isPending && testing.Verbose():
			t.Logf("pending, '%s' (%s):\n%s", s.name, reason, difference)
		case difference != "" && !isPending:
			t.Errorf("'%s' differs:\n%s", s.name, difference)
		}
	}
}

// shown is how much of a long line is shown before and behind the place where it differs.
const shown = 200

// differ shows two texts line by line, as far as they differ; "" if they do not.
func differ(want, got string) string {
	if want == got {
		return ""
	}
	var out strings.Builder
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(wants), len(gots)) {
		var a, b string
		if i < len(wants) {
			a = wants[i]
		}
		if i < len(gots) {
			b = gots[i]
		}
		if a == b {
			continue
		}
		at := 0
		for at < min(len(a), len(b)) && a[at] == b[at] {
			at++
		}
		fmt.Fprintf(&out, "  direct:  %s\n  through: %s\n", around(a, at), around(b, at))
	}
	return out.String()
}

func around(text string, at int) string {
	if text == "" {
		return "(nothing)"
	}
	from, to := max(0, at-shown), min(len(text), at+shown)
	part := text[from:to]
	if from > 0 {
		part = "…" + part
	}
	if to < len(text) {
		part += "…"
	}
	return part
}
