package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// collect reads a stream to its end: each event as its name, id and data.
func collect(t *testing.T, r *EventReader) (events []string, end error) {
	t.Helper()
	for {
		event, err := r.Next()
		if tooLong, ok := errors.AsType[*TooLongError](err); ok {
			events = append(events, fmt.Sprintf("too long: %d id=%s request=%t", tooLong.Size, tooLong.ID, tooLong.IsRequest))
			continue
		}
		if err != nil {
			return events, err
		}
		frame := event.Data
		if frame.start < headroom || cap(frame.buf)-len(frame.buf) < slack {
			t.Errorf("event of %d bytes has %d bytes before it and %d after it",
				len(frame.Bytes()), frame.start, cap(frame.buf)-len(frame.buf))
		}
		events = append(events, fmt.Sprintf("%s|%s|%s", event.Name, r.LastID(), frame.Bytes()))
	}
}

func TestEvents(t *testing.T) {
	long := strings.Repeat("x", 3*eventChunk)
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"one", "data: {}\n\n", []string{"||{}"}},
		{"all fields", "event: message\nid: 7\nretry: 10\ndata: {}\n\n", []string{"message|7|{}"}},
		{"in another order", "data: {}\nid: 7\nevent: message\n\n", []string{"message|7|{}"}},
		{"several", "data: 1\n\ndata: 2\n\n\n\ndata: 3\n\n", []string{"||1", "||2", "||3"}},
		{"CRLF", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []string{"a||1", "||2"}},
		{"CR", "event: a\rdata: 1\r\rdata: 2\r\r", []string{"a||1", "||2"}},
		{"mixed line ends", "event: a\rdata: 1\n\r\ndata: 2\r\n\n", []string{"a||1", "||2"}},
		{"byte order mark", "\ufeffdata: 1\n\n\ufeffdata: 2\n\n", []string{"||1"}},
		{"byte order mark alone", "\ufeff\ndata: 1\n\n", []string{"||1"}},
		{"comments", ": hello\n:\n:data: 0\ndata: 1\n: more\n\n", []string{"||1"}},
		{"several lines", "data: {\ndata:  \"a\":1\ndata: }\n\n", []string{"||{\n \"a\":1\n}"}},
		{"one space is dropped", "data:1\n\nevent:  a\ndata:2\n\n", []string{"||1", " a||2"}},
		{"the id stays", "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", []string{"|1|a", "|1|b", "||c"}},
		{"an id without data counts", "id: 5\ndata:\n\ndata: a\n\n", []string{"|5|a"}},
		{"an id with NUL does not", "id: 5\ndata: a\n\nid: \x006\ndata: b\n\n", []string{"|5|a", "|5|b"}},
		{"an id that is too long does not", "id: " + long + "\ndata: a\n\n", []string{"||a"}},
		{"no data", "event: a\n\nid: 3\n\ndata\n\ndata: \n\n", nil},
		{"names do not stay", "event: a\n\ndata: 1\n\n", []string{"||1"}},
		{"unknown fields", "foo: 1\nbarbarbarbarbarbarbar\nDATA: 2\n" + long + ": 1\ndata: 1\n\n", []string{"||1"}},
		{"broken off", "data: 1\n\nid: 9\ndata: 2\n", []string{"||1"}},
		{"broken off in a line", "data: 1\n\ndata: 2", []string{"||1"}},
		{"long", "data: " + long + "\n\ndata: 1\n\n", []string{"||" + long, "||1"}},
		{"colons in the value", "data: {\"a\":\"b: c\"}\n\n", []string{`||{"a":"b: c"}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, source := range sources {
				got, err := collect(t, NewEventReader(source.make(strings.NewReader(test.in)), 0))
				if !errors.Is(err, io.EOF) || !slices.Equal(got, test.want) {
					t.Errorf("%s: %.300q, error %v; want %.300q", source.name, got, err, test.want)
				}
			}
		})
	}
}

func TestEventsThatAreTooLong(t *testing.T) {
	message := `{"jsonrpc":"2.0","result":"` + strings.Repeat("x", 100) + `","id":12}`
	request := `{"id":"a",` + "\ndata: " + `"method":"` + strings.Repeat("x", 100) + `"}`
	for _, test := range []struct {
		name, in string
		maxSkip  int64
		want     []string
		end      error
	}{
		{"skipped", "data: " + message + "\n\ndata: 1\n\n", 0, []string{"too long: 137 id=12 request=false", "||1"}, io.EOF},
		{"in lines", "data: " + request + "\n\ndata: 1\n\n", 0, []string{`too long: 123 id="a" request=true`, "||1"}, io.EOF},
		{"just within", "data: " + message[:100] + "\n\n", 0, []string{"||" + message[:100]}, io.EOF},
		{"without end", "data: " + strings.Repeat("x", 1000), 500, nil, ErrEndless},
		{"lines without end", strings.Repeat("data\n", 1000), 500, nil, ErrEndless},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, source := range sources {
				r := NewEventReader(source.make(strings.NewReader(test.in)), 100)
				r.MaxSkip = test.maxSkip
				got, err := collect(t, r)
				if !errors.Is(err, test.end) || !slices.Equal(got, test.want) {
					t.Errorf("%s: %q, error %v; want %q, %v", source.name, got, err, test.want, test.end)
				}
			}
		})
	}
}

func TestRetry(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"retry: 1500\n\n": 1500 * time.Millisecond, "retry: -1\n\n": 0, "retry: 1s\n\n": 0,
		"retry: 99999999999999999999\n\n": 0, "retry: 5\n\nretry: x\n\n": 5 * time.Millisecond, "retry: 5\n": 0,
	} {
		r := NewEventReader(strings.NewReader(in), 0)
		if _, err := collect(t, r); r.Retry() != want {
			t.Errorf("%q: %s, want %s; %v", in, r.Retry(), want, err)
		}
	}
}

func TestErrorOfAStreamIsPassedOn(t *testing.T) {
	r := NewEventReader(io.MultiReader(strings.NewReader("data: 1\n\n"), &failing{}), 0)
	if got, err := collect(t, r); !errors.Is(err, errBroken) || !slices.Equal(got, []string{"||1"}) {
		t.Errorf("%q, error %v", got, err)
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errBroken }

func TestReadBody(t *testing.T) {
	large := `{"a":"` + strings.Repeat("x", 200_000) + `"}`
	for _, test := range []struct {
		name, in string
		limit    int
		tooLong  bool
		want     string
	}{
		{name: "empty"},
		{name: "small", in: "{}", want: "{}"},
		{name: "trimmed", in: "\ufeff {\n}\r\n", want: "{\n}"},
		{name: "large", in: large, want: large},
		{name: "just within the limit", in: "[1,2]", limit: 5, want: "[1,2]"},
		{name: "too long", in: "[1,2] ", limit: 5, tooLong: true},
		{name: "much too long", in: large, limit: 100, tooLong: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, source := range sources {
				for _, size := range []int64{-1, 0, 1, int64(len(test.in)), 1 << 40} {
					frame, err := ReadBody(source.make(strings.NewReader(test.in)), size, test.limit)
					if _, tooLong := errors.AsType[*TooLongError](err); tooLong != test.tooLong || !tooLong && err != nil {
						t.Fatalf("%s, size %d: error %v", source.name, size, err)
					}
					if err == nil && (string(frame.Bytes()) != test.want || frame.start < headroom || cap(frame.buf)-len(frame.buf) < slack) {
						t.Errorf("%s, size %d: %.100q with %d before it", source.name, size, frame.Bytes(), frame.start)
					}
				}
			}
			if _, err := ReadBody(io.MultiReader(strings.NewReader("{}"), &failing{}), -1, 0); !errors.Is(err, errBroken) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// FuzzEvents compares with a reader that has the whole stream at once, however it arrives.
func FuzzEvents(f *testing.F) {
	for i, seed := range []string{
		"", "data: {}\n\n", "event: a\r\nid: 1\r\ndata: 1\r\ndata: 2\r\n\r\n", "\ufeffdata:1\r\rdata\n\n", ":\n: x\nretry: 5\n\n",
		"id: \x00\ndata: x\n\n", "data: a\n\n\ndata:  b\n\ndata", "datadatadatadatadata: 1\n\n",
	} {
		f.Add([]byte(seed), []byte{byte(i), 0}, uint16(i*3))
	}
	f.Fuzz(func(t *testing.T, data, sizes []byte, limit uint16) {
		r := NewEventReader(&pieces{data: bytes.Clone(data), sizes: sizes}, int(limit))
		r.MaxSkip = 10 * int64(limit)
		got, err := collect(t, r)
		if limit > 0 && int(limit) < len(data) {
			return // that it ends, within its limits, is all that is asked for
		}
		if want := plainEvents(string(data)); !errors.Is(err, io.EOF) || !slices.Equal(got, want) {
			t.Fatalf("%q, error %v; want %q", got, err, want)
		}
	})
}

// plainEvents is the definition of the format, line by line.
func plainEvents(stream string) (events []string) {
	stream = strings.TrimPrefix(stream, byteOrderMark)
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(stream, "\n")
	var data []string
	var name, id, lastID string
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			text := strings.Join(data, "\n")
			lastID = id
			frame := NewFrame([]byte(text))
			if frame.trim(); len(frame.Bytes()) > 0 {
				events = append(events, name+"|"+lastID+"|"+string(frame.Bytes()))
			}
			data, name = nil, ""
			continue
		}
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case key == "data":
			data = append(data, value)
		case key == "event" && len(value) <= longestField:
			name = value
		case key == "event":
			name = ""
		case key == "id" && len(value) <= longestField && !strings.Contains(value, "\x00"):
			id = value
		case key == "id":
			id = lastID // the last field of an event counts
		}
	}
	return events
}
