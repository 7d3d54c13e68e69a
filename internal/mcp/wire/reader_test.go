package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

var errBroken = errors.New("the pipe broke")

// source is a way in which bytes may arrive.
type source struct {
	name string
	slow bool
	make func(io.Reader) io.Reader
}

var sources = []source{
	{"at once", false, func(r io.Reader) io.Reader { return r }},
	{"byte by byte", true, iotest.OneByteReader},
	{"in halves", false, iotest.HalfReader},
	{"with the end in the last read", false, iotest.DataErrReader},
	{"with empty reads", false, func(r io.Reader) io.Reader { return &hesitant{src: r} }},
}

// forSize leaves out what takes long for a stream of that many bytes.
func forSize(size int) []source {
	if size > 3*chunkSize {
		return slices.DeleteFunc(slices.Clone(sources), func(s source) bool { return s.slow })
	}
	return sources
}

// hesitant returns nothing, without an error, on every other read.
type hesitant struct {
	src  io.Reader
	rest bool
}

func (h *hesitant) Read(p []byte) (int, error) {
	if h.rest = !h.rest; h.rest {
		return 0, nil
	}
	return h.src.Read(p)
}

// drain reads to the end. Of an error that reading goes on after it keeps the text.
func drain(t *testing.T, r *Reader) (frames []string, end error) {
	t.Helper()
	for {
		frame, err := r.Next()
		if tooLong, ok := errors.AsType[*TooLongError](err); ok {
			frames = append(frames, fmt.Sprintf("too long: %d id=%s request=%t", tooLong.Size, tooLong.ID, tooLong.IsRequest))
			continue
		}
		if err != nil {
			if len(frame.Bytes()) > 0 {
				t.Errorf("frame %q came with the error %v", frame.Bytes(), err)
			}
			return frames, err
		}
		if before, behind := roomFor(len(frame.Bytes())); frame.start < before || cap(frame.buf)-len(frame.buf) < behind {
			t.Errorf("frame of %d bytes has %d bytes before it and %d after it",
				len(frame.Bytes()), frame.start, cap(frame.buf)-len(frame.buf))
		}
		frames = append(frames, string(frame.Bytes()))
	}
}

// diff names the first difference between two lists, in few words.
func diff(got, want []string) string {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			return fmt.Sprintf("%d frames, want %d; number %d is %s, want %s", len(got), len(want), i, brief(got, i), brief(want, i))
		}
	}
	return ""
}

func brief(list []string, i int) string {
	if i >= len(list) {
		return "missing"
	}
	return fmt.Sprintf("%.60q (%d bytes)", list[i], len(list[i]))
}

func TestReaderFrames(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"one", "{}\n", []string{"{}"}},
		{"several", "{}\n[]\n1\n", []string{"{}", "[]", "1"}},
		{"no newline at the end", "{}\n[]", []string{"{}", "[]"}},
		{"only that", "[]", []string{"[]"}},
		{"CRLF", "{}\r\n[]\r\n", []string{"{}", "[]"}},
		{"blank lines", "\n\r\n \t \n{}\n\n\n[]\n \n", []string{"{}", "[]"}},
		{"blank line at the end", "{}\n  ", []string{"{}"}},
		{"only blank lines", "\n\n\r\n", nil},
		{"space around", "  {} \t\r\n", []string{"{}"}},
		{"CR inside", "{\r}\r\r\n", []string{"{\r}"}},
		{"byte order mark", "\ufeff{}\n[]\n", []string{"{}", "[]"}},
		{"byte order mark and space", "\ufeff \t{}\n", []string{"{}"}},
		{"byte order mark alone", "\ufeff\n{}\n", []string{"{}"}},
		{"byte order mark inside", "{\ufeff}\n", []string{"{\ufeff}"}},
		{"zero bytes", "\x00\n{}\n", []string{"\x00", "{}"}},
		{"not JSON", "starting up...\n{}\n", []string{"starting up...", "{}"}},
	} {
		for _, source := range sources {
			t.Run(test.name+"/"+source.name, func(t *testing.T) {
				got, err := drain(t, NewReader(source.make(strings.NewReader(test.in)), 0))
				if !errors.Is(err, io.EOF) || !slices.Equal(got, test.want) {
					t.Errorf("got %q, error %v, want %q", got, err, test.want)
				}
			})
		}
	}
}

func TestReaderSizes(t *testing.T) {
	sizes := []int{
		1, 1000, chunkSize - 2, chunkSize - 1, chunkSize, chunkSize + 1, chunkSize + 2, chunkSize + 3, chunkSize + 4,
		2*chunkSize - 1, 2 * chunkSize, 8*chunkSize - 1, 8 * chunkSize, 8*chunkSize + 1, 1 << 20,
	}
	for _, size := range sizes {
		// One before it moves it off the chunk's start; after it come several at once.
		line := numbered(size)
		want := []string{"{}", line, "1", "22", "333", line, "last"}
		stream := strings.Join(want, "\n")
		for _, source := range forSize(len(stream)) {
			for _, ending := range []string{"", "\n"} {
				got, err := drain(t, NewReader(source.make(strings.NewReader(stream+ending)), 0))
				if d := diff(got, want); !errors.Is(err, io.EOF) || d != "" {
					t.Errorf("size %d, %s, ending %q: %s, error %v", size, source.name, ending, d, err)
				}
			}
		}
	}
	t.Run("byte by byte", func(t *testing.T) {
		want := []string{numbered(1 << 20), "after"}
		got, err := drain(t, NewReader(iotest.OneByteReader(strings.NewReader(strings.Join(want, "\n"))), 0))
		if d := diff(got, want); !errors.Is(err, io.EOF) || d != "" {
			t.Errorf("%s, error %v", d, err)
		}
	})
}

// After a long line the next one gets as large a buffer, which a read may fill with much
// that follows.
func TestReaderManyFramesAfterALongOne(t *testing.T) {
	small := make([]string, 20_000)
	for i := range small {
		small[i] = fmt.Sprintf("small %d", i)
	}
	for _, limit := range []int{0, 150_000} {
		want := []string{"{}", numbered(1 << 20), numbered(100_000)}
		want = append(want, small...)
		want = append(want, numbered(100_000), numbered(100_001), numbered(99_999), numbered(40_000), numbered(70_000), "x", numbered(3*chunkSize), numbered(140_000), numbered(chunkSize-1), "y", numbered(10<<20))
		want = append(want, small...)
		stream := strings.Join(want, "\n")
		if limit > 0 {
			for i, line := range want {
				if len(line) > limit {
					want[i] = fmt.Sprintf("too long: %d id= request=false", len(line))
				}
			}
		}
		for _, source := range forSize(len(stream)) {
			got, err := drain(t, NewReader(source.make(strings.NewReader(stream)), limit))
			if d := diff(got, want); !errors.Is(err, io.EOF) || d != "" {
				t.Errorf("limit %d, %s: %s, error %v", limit, source.name, d, err)
			}
		}
	}
}

// numbered is a line of that many bytes in which every place looks different.
func numbered(size int) string {
	var line strings.Builder
	for line.Len() < size {
		fmt.Fprintf(&line, "%d,", line.Len())
	}
	return line.String()[:size-1] + "."
}

func TestReaderFramesAreTheCallers(t *testing.T) {
	want := []string{"first", numbered(chunkSize + 10), "third", numbered(3 * chunkSize), "fifth"}
	for i := range 200 { // that share memory
		want = append(want, numbered(i%20*70+10))
	}
	r := NewReader(strings.NewReader(strings.Join(want, "\n")), 0)
	var frames []Frame
	for range want {
		frame, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, frame)
	}
	// All of them are still there, and writing around one does not change the others.
	for i, frame := range frames {
		before, behind := roomFor(len(frame.Bytes()))
		whole := Payload{frame.buf, frame.start, len(frame.buf)}
		for _, more := range []int{0, 200} { // more than there is room for is for another buffer
			whole.Wrap(bytes.Repeat([]byte("<"), before), bytes.Repeat([]byte(">"), behind+more))
		}
		if string(frame.Bytes()) != want[i] {
			t.Errorf("frame %d changed", i)
		}
	}
	for i, frame := range frames {
		if string(frame.Bytes()) != want[i] {
			t.Errorf("frame %d was written over", i)
		}
	}
}

func TestReaderAllocatesLittleForShortLines(t *testing.T) {
	const lines = 1000
	text := strings.Repeat(numbered(150)+"\n", lines)
	found := testing.AllocsPerRun(5, func() {
		r := NewReader(strings.NewReader(text), 0)
		for range lines {
			if frame, err := r.Next(); err != nil || len(frame.Bytes()) != 150 {
				t.Fatal(len(frame.Bytes()), err)
			}
		}
	})
	if found > lines/20 {
		t.Errorf("%v allocations for %d lines", found, lines)
	}
}

func TestReaderErrors(t *testing.T) {
	for _, test := range []struct {
		name  string
		in    string
		limit int
		want  []string
	}{
		{"at once", "", 0, nil},
		{"after a message", "{}\n", 0, []string{"{}"}},
		{"within a message", "{}\n[", 0, []string{"{}"}},
		{"within a long message", "{}\n" + numbered(2*chunkSize), 0, []string{"{}"}},
		{"after a long message", numbered(2*chunkSize) + "\n", 0, []string{numbered(2 * chunkSize)}},
		{"within one that is skipped", "{}\n" + numbered(2*chunkSize), chunkSize, []string{"{}"}},
		{"after one that is skipped", numbered(2*chunkSize) + "\n", chunkSize, []string{"too long: 131072 id= request=false"}},
	} {
		for _, source := range sources {
			t.Run(test.name+"/"+source.name, func(t *testing.T) {
				src := source.make(io.MultiReader(strings.NewReader(test.in), iotest.ErrReader(errBroken)))
				r := NewReader(src, test.limit)
				got, err := drain(t, r)
				if d := diff(got, test.want); !errors.Is(err, errBroken) || d != "" {
					t.Errorf("error %v; %s", err, d)
				}
				if _, again := r.Next(); !errors.Is(again, errBroken) {
					t.Errorf("the second time: error %v", again)
				}
			})
		}
	}
}

func TestReaderDefaultLimit(t *testing.T) {
	for limit, want := range map[int]int{0: DefaultLimit, -1: DefaultLimit, 7: 7} {
		if got := NewReader(nil, limit).limit; got != want {
			t.Errorf("limit %d became %d", limit, got)
		}
	}
}
