//go:build unix

package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
)

// pipeWriter returns a writer into a pipe, and the pipe's other end.
func pipeWriter(t *testing.T) (*Writer, *os.File) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter(out, 1<<20)
	t.Cleanup(func() {
		in.Close() // first: what is still to be written must not wait for a reader
		if err := w.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Errorf("Close: %v", err)
		}
		<-w.Closed()
		out.Close()
	})
	return w, in
}

// heldBytes returns how much the writer holds.
func heldBytes(w *Writer) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.held)
}

// unended is a reader whose source gives the lines at once, and then no end.
func unended(t *testing.T, lines string) *Reader {
	t.Helper()
	in, out := io.Pipe()
	go func() { _, _ = io.WriteString(out, lines) }()
	t.Cleanup(func() { in.Close() })
	r := NewReader(in, 0)
	r.Gather = true
	return r
}

func TestBurstIsWrittenTogether(t *testing.T) {
	for _, test := range []struct {
		name   string
		lines  string
		gather bool
		want   []int // bytes that are held after each message
	}{
		{"one alone", "1\n", true, []int{0}},
		{"several", "1\n2\n3\n", true, []int{2, 4, 6}},
		{"a beginning of the next", "1\n2\n3", true, []int{2, 4, 0}},
		{"readers that do not gather", "1\n2\n3\n", false, []int{0, 0, 0}},
		{"blank lines", "1\n\n\n2\n", true, []int{2, 4}},
		{"more than is held, of the first less", strings.Repeat(strings.Repeat("x", 299)+"\n", 9), true, []int{300, 300, 600, 900, 1200, 1500, 1800, 300, 600}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, in := pipeWriter(t)
			r := NewReader(strings.NewReader(test.lines), 0)
			r.Gather = test.gather
			var want []byte
			for i, held := range test.want {
				frame, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				// The guard would make it a race with the clock what is held.
				if r.burst.guard != nil {
					r.burst.guard.Stop()
				}
				message := append(frame.Bytes(), '\n')
				want = append(want, message...)
				if !w.TryWrite(message) {
					t.Fatal("a message was not taken")
				}
				if got := heldBytes(w); got != held {
					t.Errorf("%d bytes are held after message %d, want %d", got, i+1, held)
				}
			}
			if _, err := r.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("at the end: %v", err)
			}
			got := make([]byte, len(want))
			if _, err := io.ReadFull(in, got); err != nil || string(got) != string(want) {
				t.Errorf("written were %q, error %v, want %q", got, err, want)
			}
			if n := bursts.open.Load(); n != 0 {
				t.Errorf("%d bursts are still open", n)
			}
		})
	}
}

// A reader that does not get on must not keep others from what was sent.
func TestBurstOfAStuckReaderEnds(t *testing.T) {
	w, in := pipeWriter(t)
	r := unended(t, "1\n2\n")
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	w.TryWrite([]byte("answer\n"))
	got := make([]byte, len("answer\n"))
	if _, err := io.ReadFull(in, got); err != nil || string(got) != "answer\n" {
		t.Errorf("read %q, error %v", got, err)
	}
}

// The guard that was set for a burst before this one looks after it, too.
func TestBurstAfterAnotherEnds(t *testing.T) {
	w, in := pipeWriter(t)
	var b burst
	b.begin()
	b.end()
	b.begin()
	w.TryWrite([]byte("answer\n"))
	got := make([]byte, len("answer\n"))
	if _, err := io.ReadFull(in, got); err != nil || string(got) != "answer\n" {
		t.Errorf("read %q, error %v", got, err)
	}
}

// What is there to be read at once belongs to the burst.
func TestBurstGoesOnWhileThereIsMore(t *testing.T) {
	w, in := pipeWriter(t)
	source, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	defer out.Close()
	r := NewReader(source, 0)
	r.Gather = true
	for i, lines := range []string{"1\n2\n", "3\n"} {
		if _, err := io.WriteString(out, lines); err != nil {
			t.Fatal(err)
		}
		for range strings.Count(lines, "\n") {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			r.burst.guard.Stop() // it would make it a race with the clock what is held
			w.TryWrite([]byte("x"))
		}
		if got, want := heldBytes(w), 2+i; got != want {
			t.Errorf("%d bytes are held after %q, want %d", got, lines, want)
		}
	}
	out.Close() // so that the last read does not wait
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	got := make([]byte, 3)
	if _, err := io.ReadFull(in, got); err != nil || string(got) != "xxx" {
		t.Errorf("read %q, error %v", got, err)
	}
}

func TestCloseSendsWhatIsHeld(t *testing.T) {
	w, in := pipeWriter(t)
	r := unended(t, "1\n2\n")
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	r.burst.guard.Stop()
	defer r.burst.end()
	w.TryWrite([]byte("answer\n"))
	closeWriter(t, w)
	got := make([]byte, len("answer\n"))
	if _, err := io.ReadFull(in, got); err != nil || string(got) != "answer\n" {
		t.Errorf("read %q, error %v", got, err)
	}
}

// Messages of all sizes, held or not, into a pipe that is often full.
func TestBurstsKeepOrder(t *testing.T) {
	w, in := pipeWriter(t)
	const senders, each = 4, 400
	var running sync.WaitGroup
	for sender := range senders {
		var lines strings.Builder
		for i := range each {
			size := []int{10, 300, 3000, holdSize - 10, 2 * holdSize}[(i+sender)%5]
			fmt.Fprintf(&lines, "%d %d %s\n", sender, i, strings.Repeat("x", size))
		}
		running.Go(func() {
			r := NewReader(strings.NewReader(lines.String()), 0)
			r.Gather = true
			for {
				frame, err := r.Next()
				if err != nil {
					return
				}
				if err := w.Write(t.Context(), append(frame.Bytes(), '\n')); err != nil {
					t.Error(err)
				}
			}
		})
	}
	answers := bufio.NewReader(in)
	var next [senders]int
	for range senders * each {
		line, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var sender, i int
		if _, err := fmt.Sscanf(line, "%d %d ", &sender, &i); err != nil || i != next[sender] {
			t.Fatalf("line %.40q: %v, want number %d", line, err, next[sender])
		}
		next[sender]++
	}
	running.Wait()
	closeWriter(t, w)
	if w.budget.used != 0 {
		t.Errorf("%d bytes are still counted", w.budget.used)
	}
}
