//go:build unix

package wire

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe takes some messages at once; what it does not take must follow in order.
func TestWriterIntoAPipe(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	w := NewWriter(out, 8<<20)
	if w.direct == nil {
		t.Error("messages are not written by the caller")
	}
	var want strings.Builder
	send := func(message string) {
		want.WriteString(message)
		if err := w.Write(t.Context(), []byte(message)); err != nil {
			t.Fatal(err)
		}
	}
	send("first\n")
	got := make([]byte, len("first\n"))
	if _, err := io.ReadFull(in, got); err != nil || string(got) != "first\n" {
		t.Fatalf("read %q, error %v", got, err)
	}
	// More than any pipe holds, in sizes that end within a message.
	for i := range 3000 {
		send(fmt.Sprintf("%d%s\n", i, strings.Repeat("x", i%1000)))
	}
	send(strings.Repeat("y", 1<<20) + "\n")
	send("last\n")
	rest := make(chan []byte, 1)
	go func() {
		data, _ := io.ReadAll(in)
		rest <- data
	}()
	closeWriter(t, w)
	out.Close()
	if string(got)+string(<-rest) != want.String() {
		t.Error("messages were lost, changed or reordered")
	}
	if w.budget.used != 0 {
		t.Errorf("%d bytes are still counted", w.budget.used)
	}
}

// While the writer's goroutine is stuck in a write, callers only queue.
func TestWriterIntoAFullPipe(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	w := NewWriter(out, 8<<20)
	large := strings.Repeat("x", 1<<20) + "\n" // more than the pipe holds
	if err := w.Write(t.Context(), []byte(large)); err != nil {
		t.Fatal(err)
	}
	for isBusy := false; !isBusy; runtime.Gosched() {
		w.mu.Lock()
		isBusy = w.busy && len(w.queue) == 0
		w.mu.Unlock()
	}
	written := make(chan error, 1)
	go func() { written <- w.Write(t.Context(), []byte("after\n")) }()
	select {
	case err := <-written:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the caller had to wait for the pipe")
	}
	closed := make(chan error, 1)
	go func() {
		closed <- w.Close(t.Context())
		out.Close()
	}()
	got, err := io.ReadAll(in)
	if err != nil || string(got) != large+"after\n" || <-closed != nil {
		t.Errorf("read %d bytes, error %v", len(got), err)
	}
}

func TestWriterIntoABrokenPipe(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	in.Close()
	w := NewWriter(out, 1<<20)
	if err := w.Write(t.Context(), []byte("{}\n")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("error %v", err)
	}
	<-w.Closed()
	if err := w.Write(t.Context(), []byte("{}\n")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("later: error %v", err)
	}
}

// A write that may block, as into a file or a blocking pipe, is never the caller's.
func TestWriterIntoWhatMayBlock(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out.Fd() // makes it blocking
	closed, err := os.Create(t.TempDir() + "/closed")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for name, dst := range map[string]*os.File{"file": file, "blocking pipe": out, "closed file": closed} {
		w := NewWriter(dst, 100)
		if w.direct != nil {
			t.Errorf("%s: messages are written by the caller", name)
		}
		if err := w.Write(t.Context(), []byte("{}\n")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		closeWriter(t, w)
		dst.Close()
	}
	if text, err := os.ReadFile(file.Name()); err != nil || string(text) != "{}\n" {
		t.Errorf("file holds %q, error %v", text, err)
	}
}
