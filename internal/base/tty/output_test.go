package tty

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// An output remembers its first error, and ends what would go on writing.
func TestOutputThatCannotBeWritten(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	out := NewOutput(writer)
	ctx, stop := WhileWritable(context.Background(), out)
	defer stop()
	if _, err := fmt.Fprintln(out, "one"); err != nil || out.Err() != nil || ctx.Err() != nil {
		t.Fatalf("an output that works: %v, %v, %v", err, out.Err(), ctx.Err())
	}
	_ = reader.Close()
	for range 2 {
		if _, err := fmt.Fprintln(out, "two"); !errors.Is(err, syscall.EPIPE) || !errors.Is(out.Err(), syscall.EPIPE) {
			t.Errorf("a write without a reader: %v, kept %v", err, out.Err())
		}
	}
	<-ctx.Done()
}
