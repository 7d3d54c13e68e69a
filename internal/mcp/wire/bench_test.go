package wire

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

var benchSizes = []int{10, 64 << 10, 1 << 20}

// benchMessages are responses whose result has about that many bytes: one long text, and
// many small values.
func benchMessages(size int) map[string]string {
	const head, tail = `{"result":{"content":[{"type":"text","text":`, `}]},"jsonrpc":"2.0","id":42}`
	record := `{"id":12345,"name":"An item\nof a list","tags":["a","b"],"price":12.5,"ok":true},`
	return map[string]string{
		"text":   head + `"` + strings.Repeat(`Lorem ipsum dolor sit amet.\n`, size/28+1)[:size] + ` "` + tail,
		"values": head + `[` + strings.Repeat(record, size/len(record)) + `0]` + tail,
	}
}

func benchEach(b *testing.B, run func(b *testing.B, message string)) {
	for _, size := range benchSizes {
		for _, kind := range []string{"text", "values"} {
			b.Run(fmt.Sprintf("%s/%dB", kind, size), func(b *testing.B) {
				message := benchMessages(size)[kind]
				b.SetBytes(int64(len(message)))
				b.ReportAllocs()
				run(b, message)
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	benchEach(b, func(b *testing.B, message string) {
		frame := NewFrame([]byte(message))
		for b.Loop() {
			if _, err := Parse(frame); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// repeated is a line that comes over and over.
type repeated struct {
	line string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.line[r.at:])
	r.at = (r.at + n) % len(r.line)
	return n, nil
}

var _ io.Reader = (*repeated)(nil)

// BenchmarkForward is the way of an answer through us: read, parse, wrap.
func BenchmarkForward(b *testing.B) {
	benchEach(b, func(b *testing.B, message string) {
		r := NewReader(&repeated{line: message + "\n"}, 0)
		prefix, suffix := []byte(`{"jsonrpc":"2.0","id":7,"result":`), []byte(Suffix)
		for b.Loop() {
			frame, err := r.Next()
			if err != nil {
				b.Fatal(err)
			}
			parsed, err := Parse(frame)
			if err != nil {
				b.Fatal(err)
			}
			if out := parsed.Result.Wrap(prefix, suffix); out[0] != '{' {
				b.Fatal("not wrapped")
			}
		}
	})
}

// BenchmarkParseCall is a request and its answer as they are most often.
func BenchmarkParseCall(b *testing.B) {
	request := NewFrame([]byte(`{"jsonrpc":"2.0","id":123456,"method":"tools/call","params":{"name":"use_tool","arguments":{"tool":{"toolbox":"dev","server":"echo","name":"echo"},"arguments":{"text":"xxxxxxxxxx"}}}}`))
	answer := NewFrame([]byte(`{"jsonrpc":"2.0","id":123456,"result":{"content":[],"structuredContent":{"text":"xxxxxxxxxx"}}}`))
	b.ReportAllocs()
	for b.Loop() {
		for _, frame := range []Frame{request, answer} {
			if _, err := Parse(frame); err != nil {
				b.Fatal(err)
			}
		}
	}
}
