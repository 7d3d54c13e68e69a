package clients

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// This file is what is expected of every client.

// shortVariable leaves out the clients that are large and much like another.
const shortVariable = "CLIENTS_SHORT"

// result is a row of the table.
type result struct {
	title, version string
	over           string // stdio or HTTP
	era            string
	remark         string
}

// judge checks what every client has to reach, whatever it is.
func (r *result) judge(b *bench, said string) {
	t := b.t
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Log(b.explain())
		}
	}()
	b.showsSum(said)
	all := sessions(t, b.bin)
	if len(all) == 0 && r.over == "stdio" {
		t.Error("the client did not start the workbench")
	}
	for _, s := range all {
		r.era = s.era()
		s.allAnswered(t)
	}
	if spoken := b.revision.Load(); spoken != nil {
		r.era = *spoken
	}
	if !slices.ContainsFunc(b.log("calculator"), func(line string) bool {
		return strings.HasPrefix(line, "recv ") && strings.Contains(line, `"arguments":{"a":20,"b":22}`)
	}) {
		t.Errorf("the calculator was not called as the model wanted: %s", b.log("calculator"))
	}
	if n := b.starts("calculator"); n != 1 {
		t.Errorf("the calculator was started %d times", n)
	}
	for _, unused := range []string{"notes", "stuck"} {
		if n := b.starts(unused); n != 0 {
			t.Errorf("the server %s was started %d times, and nobody needed it", unused, n)
		}
	}
	if asked := b.outside.all(); len(asked) > 0 {
		t.Logf("asked of other machines, and refused: %s", strings.Join(asked, " "))
	}
}

// allAnswered checks that the client waited for nothing: each of its requests has an answer in the
// recording, although one server never gives any.
func (s session) allAnswered(t *testing.T) {
	t.Helper()
	for _, request := range s.requests() {
		if request.Method == "subscriptions/listen" { // stays open by design
			continue
		}
		answer, ok := s.answer(request)
		if !ok {
			t.Errorf("%s was never answered", request.Method)
		} else if len(answer.Error) > 0 && request.Method != "server/discover" {
			t.Errorf("%s was answered with %s", request.Method, answer.Error)
		}
	}
}

// showsSum checks that what the client said has the tool's result.
func (b *bench) showsSum(said string) {
	b.t.Helper()
	if !strings.Contains(said, sum) {
		b.t.Errorf("the client did not show the tool's result:\n%s", said)
	}
}

// speaks checks the revision of a pinned client: what falls back to an older one has met a
// problem that it does not tell.
func (r *result) speaks(t *testing.T, era string) {
	t.Helper()
	if os.Getenv(modeVariable) != "newest" && r.era != era {
		t.Errorf("the client speaks revision %s, and not %s as it should", r.era, era)
	}
}
