package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// gate is a dst whose writes block until they are let through, one by one.
type gate struct {
	let chan error // what each write returns; closed: nil from then on

	mu     sync.Mutex
	writes [][]byte
}

func newGate() *gate { return &gate{let: make(chan error)} }

func (g *gate) Write(p []byte) (int, error) {
	if err := <-g.let; err != nil {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writes = append(g.writes, bytes.Clone(p))
	return len(p), nil
}

// sizes lists the writes by their length.
func (g *gate) sizes() (sizes []int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, write := range g.writes {
		sizes = append(sizes, len(write))
	}
	return sizes
}

func (g *gate) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return string(bytes.Join(g.writes, nil))
}

// start sends a message in a goroutine of its own and waits until that is over or waits.
func start(ctx context.Context, w *Writer, message string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- w.Write(ctx, []byte(message)) }()
	synctest.Wait()
	return done
}

func closeWriter(t *testing.T, w *Writer) {
	t.Helper()
	if err := w.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestWriterKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		close(g.let)
		w := NewWriter(g, 1<<20)
		var want strings.Builder
		for i := range 2000 {
			message := fmt.Sprintf("%d%s\n", i, strings.Repeat("x", i%700))
			want.WriteString(message)
			if i%5 == 0 && i < 1000 {
				if !w.TryWrite([]byte(message)) {
					t.Fatalf("message %d was not taken", i)
				}
			} else if err := w.Write(t.Context(), []byte(message)); err != nil {
				t.Fatal(err)
			}
		}
		closeWriter(t, w)
		if g.text() != want.String() {
			t.Error("messages were lost, changed or reordered")
		}
	})
}

func TestWriterFromManyGoroutines(t *testing.T) {
	g := newGate()
	close(g.let)
	w := NewWriter(g, 500)
	var senders sync.WaitGroup
	for sender := range 8 {
		senders.Go(func() {
			for i := range 200 {
				if err := w.Write(t.Context(), fmt.Appendf(nil, "%d %d\n", sender, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	senders.Wait()
	closeWriter(t, w)
	next := make([]int, 8)
	for line := range strings.Lines(g.text()) {
		var sender, i int
		if _, err := fmt.Sscanf(line, "%d %d\n", &sender, &i); err != nil || i != next[sender] {
			t.Fatalf("line %q: %v, want number %d", line, err, next[sender])
		}
		next[sender]++
	}
	if slices.ContainsFunc(next, func(n int) bool { return n != 200 }) {
		t.Errorf("lines per sender: %v", next)
	}
}

func TestGather(t *testing.T) {
	const half, full = batchSize / 2, batchSize
	for _, test := range []struct {
		name     string
		messages []int
		want     []int // the writes
	}{
		{"one", []int{5}, []int{5}},
		{"small ones", []int{5, 6, 7}, []int{18}},
		{"as much as fits", []int{half, half, 1}, []int{full, 1}},
		{"just too much", []int{half, half + 1, 1}, []int{half, half + 2}},
		{"large ones", []int{full, full + 1, 3 * full}, []int{full, full + 1, 3 * full}},
		{"a large one between small ones", []int{1, 2, full, 3, 4}, []int{3, full, 7}},
		{"a large one first", []int{full, 3, 4}, []int{full, 7}},
		{"nothing in one", []int{0, 3, 0}, []int{3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var messages []parcel
			var all []byte
			for i, n := range test.messages {
				messages = append(messages, parcel{message: bytes.Repeat([]byte{byte('a' + i)}, n)})
				all = append(all, messages[i].message...)
			}
			var sizes []int
			var joined, next, scratch []byte
			for len(messages) > 0 {
				first := messages[0].message
				var n int
				next, n, scratch = gather(messages, scratch)
				messages = messages[n:]
				sizes = append(sizes, len(next))
				joined = append(joined, next...)
				if len(next) > batchSize && &next[0] != &first[0] {
					t.Error("a large message was copied")
				}
			}
			if !slices.Equal(sizes, test.want) || !bytes.Equal(joined, all) {
				t.Errorf("writes of %v bytes, want %v; same text: %t", sizes, test.want, bytes.Equal(joined, all))
			}
		})
	}
}

func TestWriterSendsWhatWaitsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := NewWriter(g, 1<<20)
		expect(t, "first", start(t.Context(), w, "first\n"), "ok")
		for range 10 {
			expect(t, "queued", start(t.Context(), w, "small\n"), "ok")
		}
		expect(t, "large", start(t.Context(), w, strings.Repeat("x", batchSize)), "ok")
		close(g.let)
		closeWriter(t, w)
		if want := []int{6, 60, batchSize}; !slices.Equal(g.sizes(), want) {
			t.Errorf("writes of %v bytes, want %v", g.sizes(), want)
		}
	})
}

func TestWriterBackpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := NewWriter(g, 10)
		expect(t, "first, being written", start(t.Context(), w, "123456\n"), "ok")
		expect(t, "second, queued", start(t.Context(), w, "89\n"), "ok")
		third := start(t.Context(), w, "x\n")
		expect(t, "third", third, "waits")
		if w.TryWrite([]byte("y\n")) {
			t.Error("TryWrite took a message without room")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if err := w.Write(ctx, []byte("never\n")); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("error %v after %v", err, time.Since(began))
		}
		g.let <- nil
		expect(t, "third with room", third, "ok")
		if !w.TryWrite([]byte("z\n")) {
			t.Error("TryWrite refused a message with room")
		}
		close(g.let)
		closeWriter(t, w)
		if got, want := g.text(), "123456\n89\nx\nz\n"; got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
	})
}

func TestWriterError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := NewWriter(g, 10)
		if w.Err() != nil {
			t.Errorf("error %v at the start", w.Err())
		}
		expect(t, "first", start(t.Context(), w, "12345678\n"), "ok")
		waiting := []<-chan error{start(t.Context(), w, "waits\n"), start(t.Context(), w, "as well\n")}
		g.let <- errBroken
		for _, done := range waiting {
			expect(t, "who waited", done, errBroken.Error())
		}
		<-w.Closed()
		expect(t, "later one", start(t.Context(), w, "later\n"), errBroken.Error())
		if w.TryWrite([]byte("later\n")) {
			t.Error("TryWrite took a message after an error")
		}
		closeWriter(t, w)
		if !errors.Is(w.Err(), errBroken) || g.text() != "" {
			t.Errorf("error %v, wrote %q", w.Err(), g.text())
		}
	})
}

func TestWriterCloseFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := NewWriter(g, 20)
		for _, message := range []string{"one\n", "two\n", "three\n"} {
			expect(t, message, start(t.Context(), w, message), "ok")
		}
		waiting := start(t.Context(), w, "no room for this one\n")
		expect(t, "waiting", waiting, "waits")
		closed := make(chan error, 1)
		go func() { closed <- w.Close(t.Context()) }()
		expect(t, "Close", closed, "waits")
		expect(t, "who waited", waiting, ErrClosed.Error())
		expect(t, "later one", start(t.Context(), w, "later\n"), ErrClosed.Error())
		close(g.let)
		expect(t, "Close", closed, "ok")
		closeWriter(t, w) // a second time
		if err := w.enqueue(parcel{message: []byte("had its bytes before Close\n")}); !errors.Is(err, ErrClosed) {
			t.Errorf("enqueue: %v", err)
		}
		if got, want := g.text(), "one\ntwo\nthree\n"; got != want || !errors.Is(w.Err(), ErrClosed) {
			t.Errorf("wrote %q, want %q; error %v", got, want, w.Err())
		}
	})
}

func TestWriterCloseWithoutMessages(t *testing.T) {
	g := newGate()
	w := NewWriter(g, 10)
	closeWriter(t, w)
	<-w.Closed()
	if len(g.sizes()) != 0 {
		t.Errorf("wrote %q", g.text())
	}
}

func TestWriterCloseOfAStuckWriteIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := NewWriter(g, 100)
		expect(t, "first", start(t.Context(), w, "stuck\n"), "ok")
		expect(t, "second", start(t.Context(), w, "queued\n"), "ok")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		if err := w.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 3*time.Second {
			t.Errorf("Close: %v after %v", err, time.Since(began))
		}
		select {
		case <-w.Closed():
			t.Error("the writer ended although its write is stuck")
		default:
		}
		g.let <- errBroken // dst is closed
		<-w.Closed()
		if !errors.Is(w.Err(), ErrClosed) {
			t.Errorf("error %v", w.Err())
		}
	})
}
