package tty

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	in, out := io.Pipe()
	lines := NewLines(in)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if text, err := lines.Read(cancelled); !errors.Is(err, context.Canceled) {
		t.Fatalf("nothing was written, and %q was read, %v", text, err)
	}
	go func() {
		_, _ = io.WriteString(out, "one\n"+strings.Repeat("x", 3*maxLine)+"\ntwo\nrest")
		_ = out.Close()
	}()
	for _, want := range []struct{ text, problem string }{
		{"one\n", ""}, // by the read that nobody waited for
		{"", "the line is longer than 65536 bytes"},
		{"two\n", ""},
		{"rest", "EOF"},
		{"", "EOF"},
	} {
		text, err := lines.Read(t.Context())
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if text != want.text || problem != want.problem {
			t.Errorf("got %.20q and %q, want %q and %q", text, problem, want.text, want.problem)
		}
	}
}
