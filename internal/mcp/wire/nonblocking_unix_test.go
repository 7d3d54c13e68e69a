//go:build unix

package wire

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestPollReader(t *testing.T) {
	long := strings.Repeat("x", 3<<20) // more than any pipe holds
	for _, test := range []struct {
		name   string
		finish func(in, out *os.File)
		want   error
	}{
		{"the other end is closed", func(_, out *os.File) { out.Close() }, io.EOF},
		{"this end is closed", func(in, _ *os.File) { in.Close() }, os.ErrClosed},
		{"its time is over", func(in, _ *os.File) { _ = in.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
	} {
		t.Run(test.name, func(t *testing.T) {
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			defer out.Close()
			reader := NewReader(in, 0)
			if _, ok := reader.src.(*pollReader); !ok {
				t.Fatal("a pipe is not polled")
			}
			go func() { _, _ = io.WriteString(out, "first\n"+long+"\nlast\n") }()
			for _, want := range []string{"first", long, "last"} {
				frame, err := reader.Next()
				if err != nil || string(frame.Bytes()) != want {
					t.Fatalf("read %.20q of %d bytes, error %v", frame.Bytes(), len(frame.Bytes()), err)
				}
			}
			ended := make(chan error, 1)
			go func() {
				_, err := reader.Next()
				ended <- err
			}()
			test.finish(in, out)
			if err := <-ended; !errors.Is(err, test.want) {
				t.Errorf("the end is %v, want %v", err, test.want)
			}
		})
	}
}

// A file whose reads block is left to itself.
func TestPollReaderOfAFile(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if src := newPollReader(file, nil); src != io.Reader(file) {
		t.Errorf("a file became a %T", src)
	}
}
