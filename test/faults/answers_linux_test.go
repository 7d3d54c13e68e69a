package faults

import (
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
)

// answerFault is an answer that is wrong, or that a careless relay would spoil.
type answerFault struct {
	row, tool string
	check     func(b *bench, a rig.Answer)
	traits    []trait
}

// isNamed wants an error with the server's name and one of the words.
func isNamed(words ...string) func(*bench, rig.Answer) {
	return func(b *bench, a rig.Answer) {
		b.t.Helper()
		b.named(a, "rogue", words...)
	}
}

// isText wants a success with that text.
func isText(text string) func(*bench, rig.Answer) {
	return func(b *bench, a rig.Answer) {
		b.t.Helper()
		if a.IsError || a.Text != text {
			b.t.Errorf("answered %.1000s", a.Line)
		}
	}
}

// isBounded takes any answer that is not enormous; that it is well formed was checked.
func isBounded(limit int) func(*bench, rig.Answer) {
	return func(b *bench, a rig.Answer) {
		b.t.Helper()
		if len(a.Line) > limit {
			b.t.Errorf("%d bytes reached the client", len(a.Line))
		}
	}
}

var answerFaults = []answerFault{
	{"31 only an unknown id", "unknown-id", isNamed("timeout", "timed out", "did not answer", "no answer"), nil},
	{"32 stray answers, then the right one", "strays", isText("right"), []trait{sample}},
	{"33 the answer three times", "thrice", isText("once"), nil},
	{"34 100000 levels of nesting", "deep", isBounded(1 << 20), nil},
	{"35 half an answer, then death", "half", isNamed(exited, "code 3", "cannot be used"), []trait{sample}},
	{"36 invalid UTF-8", "not-utf8", isBounded(1 << 20), nil},
	{"37 8 MiB error message", "huge-error", isBounded(1<<20 - 1), nil},
	{"38 50 MiB answer on one line", "50MiB", func(b *bench, a rig.Answer) {
		if a.IsError {
			b.named(a, "rogue")
		} else if len(a.Text) != 50<<20 {
			b.t.Errorf("%d bytes of 50 MiB arrived", len(a.Text))
		}
	}, nil},
	{"40 5 MB of text", "5MB", isText(strings.Repeat("five\n", 1000000)), nil},
	{"40 unusual but legal", "odd", func(b *bench, a rig.Answer) {
		if string(a.Result) != rig.Odd {
			b.t.Errorf("sent\n%s\narrived as\n%s", rig.Odd, a.Result)
		}
	}, []trait{sample}},
	{"41 JSON-RPC error", "rpc-error", isNamed("the wheel came off"), nil},
	{"41 isError result", "is-error", func(b *bench, a rig.Answer) {
		if !a.IsError || a.Text != "the road is closed" {
			b.t.Errorf("answered %.1000s", a.Line)
		}
	}, nil},
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, fault := range answerFaults {
		row(t, fault.row, func(t *testing.T, p pairing) {
			// Megabytes take their time on a busy machine: with the race detector, the client
			// of this test needs more than 10 s to decode 50 MiB.
			top := patientTimeouts
			if fault.tool == "unknown-id" { // waits for the timeout
				top = shortTimeouts
			}
			b := startWith(t, p, rig.Options{Top: top, Boxes: map[string]box{"dev": {"rogue": {Role: "answers"}, "good": {Role: "good"}}}})
			b.open(promptly)
			fault.check(b, b.use("rogue", fault.tool, 65*time.Second))
			b.works("good", "echo", sibling)
			b.recovers("rogue")
		}, fault.traits...)
	}
	row(t, "39 answer without end", func(t *testing.T, p pairing) {
		b := start(t, p, box{"rogue": {Role: "answers"}, "good": {Role: "good"}})
		b.endless()
	})
	row(t, "39 answer without end, and usable again", func(t *testing.T, p pairing) {
		b := start(t, p, box{"rogue": {Role: "answers"}, "good": {Role: "good"}})
		b.endless()
		b.recovers("rogue")
	})
}

// endless gets an answer without end, while and after which others are served.
func (b *bench) endless() {
	b.t.Helper()
	b.open(promptly)
	endless := b.Use("dev", "rogue", "endless", "{}")
	for range 20 {
		b.works("good", "echo", sibling)
	}
	b.named(b.wait(endless, 20*time.Second), "rogue")
	b.works("good", "echo", sibling)
}
