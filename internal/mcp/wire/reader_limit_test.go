package wire

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestReaderLimit(t *testing.T) {
	for _, limit := range []int{1024, chunkSize - 1, chunkSize, chunkSize + 1, 8*chunkSize + 1000} {
		for _, over := range []int{0, 1, 1000, chunkSize, 3 * chunkSize} {
			t.Run(fmt.Sprintf("limit %d, %d more", limit, over), func(t *testing.T) {
				line := numbered(limit + over)
				last := line
				if over > 0 {
					last = fmt.Sprintf("too long: %d id= request=false", limit+over)
				}
				want := []string{"before", last, "after", last, "end"}
				stream := strings.Join([]string{"before", line, "after", line, "end"}, "\n")
				for _, source := range forSize(len(stream)) {
					got, err := drain(t, NewReader(source.make(strings.NewReader(stream)), limit))
					if d := diff(got, want); !errors.Is(err, io.EOF) || d != "" {
						t.Errorf("%s: %s, error %v", source.name, d, err)
					}
				}
				// The last line of all.
				got, err := drain(t, NewReader(strings.NewReader("before\n"+line), limit))
				if d := diff(got, want[:2]); !errors.Is(err, io.EOF) || d != "" {
					t.Errorf("last line: %s, error %v", d, err)
				}
			})
		}
	}
}

func TestReaderTellsWhoseMessageWasTooLong(t *testing.T) {
	for _, test := range []struct {
		name, head, tail string
		id               string
		isRequest        bool
	}{
		{"response with the id at the head", `{"jsonrpc":"2.0","id":42,"result":{"content":[{"text":"`, `"}]}}`, "42", false},
		// The TypeScript SDK writes responses so.
		{"response with the id at the tail", `{"result":{"content":[{"id":1,"text":"`, `"}]},"jsonrpc":"2.0","id":42}`, "42", false},
		{"request", `{"method":"tools/call","params":{"arguments":{"text":"`, `"}},"jsonrpc":"2.0","id":"a-1"}`, `"a-1"`, true},
		{"notification", `{"jsonrpc":"2.0","method":"x","params":{"text":"`, `"}}`, "", true},
		{"no JSON at all", `log: `, ``, "", false},
	} {
		for _, limit := range []int{1024, chunkSize + 100, 300_000} {
			for _, over := range []int{1, 2*chunkSize + 17} {
				size := limit + over
				line := test.head + strings.Repeat("x", size-len(test.head)-len(test.tail)) + test.tail
				for _, source := range forSize(size) {
					t.Run(fmt.Sprintf("%s/limit %d, %d more/%s", test.name, limit, over, source.name), func(t *testing.T) {
						r := NewReader(source.make(strings.NewReader(line+"\r\n{}\n")), limit)
						_, err := r.Next()
						tooLong, ok := errors.AsType[*TooLongError](err)
						if !ok {
							t.Fatalf("error %v", err)
						}
						if string(tooLong.ID) != test.id || tooLong.IsRequest != test.isRequest || tooLong.Limit != limit || tooLong.Size != int64(size+1) {
							t.Errorf("got %+v (id %s)", tooLong, tooLong.ID)
						}
						frame, err := r.Next()
						if err != nil || string(frame.Bytes()) != "{}" {
							t.Errorf("after it: %q, error %v", frame.Bytes(), err)
						}
					})
				}
			}
		}
	}
}

func TestTooLongErrorText(t *testing.T) {
	err := &TooLongError{Limit: 1024, Size: 5000}
	if got, want := err.Error(), "message of 5000 bytes is longer than the limit of 1024 (maxMessageSize)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// endless is a line without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestReaderMemoryIsBounded(t *testing.T) {
	const limit, length = 1 << 20, 32 << 20
	r := NewReader(io.MultiReader(io.LimitReader(endless{}, length), strings.NewReader("\n{}\n")), limit)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := r.Next()
	runtime.ReadMemStats(&after)
	if tooLong, ok := errors.AsType[*TooLongError](err); !ok || tooLong.Size != length {
		t.Errorf("error %v", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4*limit {
		t.Errorf("skipping a message of %d bytes took %d bytes of memory with a limit of %d", length, used, limit)
	}
	if frame, err := r.Next(); err != nil || string(frame.Bytes()) != "{}" {
		t.Errorf("after it: %q, error %v", frame.Bytes(), err)
	}
}

// endlessLine is a line that does not come to an end.
type endlessLine struct{ read int64 }

func (l *endlessLine) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	l.read += int64(len(p))
	return len(p), nil
}

func TestReaderGivesUpOnALineWithoutEnd(t *testing.T) {
	source := new(endlessLine)
	reader := NewReader(source, 100_000)
	reader.MaxSkip = 400_000
	if _, err := reader.Next(); !errors.Is(err, ErrEndless) {
		t.Errorf("the error is %v, want %v", err, ErrEndless)
	}
	if source.read > 600_000 {
		t.Errorf("%d bytes were read before giving up", source.read)
	}
}

func TestFrameIsCut(t *testing.T) {
	long := strings.Repeat("x", 2*chunkSize)
	for _, test := range []struct {
		text string
		cut  bool
	}{{"a\n", false}, {"a", true}, {long + "\n", false}, {long, true}} {
		frame, err := NewReader(strings.NewReader(test.text), 0).Next()
		if err != nil || frame.IsCut() != test.cut {
			t.Errorf("%.5q of %d bytes: cut %t, error %v", test.text, len(test.text), frame.IsCut(), err)
		}
	}
}
