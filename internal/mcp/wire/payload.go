package wire

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/go-json-experiment/json/jsontext"
)

// Payload is one valid JSON value that we look into or forward. It is a range of
// the buffer that its message was read into, so handing it around copies nothing.
// The zero Payload stands for a value that is absent.
type Payload struct {
	buf        []byte
	start, end int
}

// Raw makes a payload of bytes that are known to be one valid JSON value.
func Raw(value []byte) Payload {
	return Payload{buf: value, end: len(value)}
}

// Bytes returns the value as it was sent.
func (p Payload) Bytes() []byte { return p.buf[p.start:p.end] }

// IsAbsent reports whether there is no value at all, not even null.
func (p Payload) IsAbsent() bool { return p.start == p.end }

// Kind names the JSON type of the value: "object", "array", "string", "number",
// "boolean", "null", or "undefined" for an absent one.
func (p Payload) Kind() string {
	if p.IsAbsent() {
		return "undefined"
	}
	switch p.buf[p.start] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

// Text returns the decoded value of a string; ok is false for any other kind.
func (p Payload) Text() (text string, ok bool) {
	if p.Kind() != "string" {
		return "", false
	}
	return string(unquote(p.Bytes())), true
}

// is reports whether the value is that string.
func (p Payload) is(text string) bool {
	if p.end-p.start < 2 || p.buf[p.start] != '"' {
		return false
	}
	return string(p.buf[p.start+1:p.end-1]) == text || string(unquote(p.Bytes())) == text
}

// Member returns the value of an object's member, spelt exactly so, or an absent
// payload. Of several members with that name the last counts, as in most decoders.
func (p Payload) Member(name string) (found Payload) {
	for walk := p.walk(); walk.next(); {
		key := p.buf[walk.key+1 : walk.keyEnd-1]
		if walk.escaped {
			key = unquote(p.buf[walk.key:walk.keyEnd])
		}
		if string(key) == name {
			found = Payload{p.buf, walk.value, walk.end}
		}
	}
	return found
}

// Members yields an object's members in order, each with its decoded key; for any
// other kind of value it yields nothing.
func (p Payload) Members() iter.Seq2[[]byte, Payload] {
	return func(yield func([]byte, Payload) bool) {
		for walk := p.walk(); walk.next(); {
			key := p.buf[walk.key+1 : walk.keyEnd-1]
			if walk.escaped {
				key = unquote(p.buf[walk.key:walk.keyEnd])
			}
			if !yield(key, Payload{p.buf, walk.value, walk.end}) {
				return
			}
		}
	}
}

// Pairs is Members with the keys as they are written, so that they can be edited.
func (p Payload) Pairs() iter.Seq2[Payload, Payload] {
	return func(yield func(key, value Payload) bool) {
		for walk := p.walk(); walk.next(); {
			if !yield(Payload{p.buf, walk.key, walk.keyEnd}, Payload{p.buf, walk.value, walk.end}) {
				return
			}
		}
	}
}

// walk goes through the members of an object.
type walk struct {
	data []byte
	at   int // where the next member begins

	key, keyEnd, value, end int  // of the member
	escaped                 bool // its key has escapes
}

// walk is at its end at once for what is no object.
func (p Payload) walk() walk {
	if p.IsAbsent() || p.buf[p.start] != '{' {
		return walk{}
	}
	data := p.buf[:p.end]
	return walk{data: data, at: skipSpace(data, p.start+1)}
}

// next takes a step, and reports whether there was a member.
func (w *walk) next() bool {
	if w.at >= len(w.data) || w.data[w.at] == '}' {
		return false
	}
	w.key = w.at
	w.keyEnd, w.escaped = skipString(w.data, w.at)
	w.value = skipSpace(w.data, skipSpace(w.data, w.keyEnd)+1) // over the colon
	w.end = skipValue(w.data, w.value)
	if w.at = skipSpace(w.data, w.end); w.data[w.at] == ',' {
		w.at = skipSpace(w.data, w.at+1)
	}
	return true
}

// Elements yields the elements of an array in order; for any other kind of value
// it yields nothing.
func (p Payload) Elements() iter.Seq[Payload] {
	return func(yield func(Payload) bool) {
		if p.Kind() != "array" {
			return
		}
		data := p.buf[:p.end]
		for i := skipSpace(data, p.start+1); data[i] != ']'; {
			end := skipValue(data, i)
			if !yield(Payload{p.buf, i, end}) {
				return
			}
			if i = skipSpace(data, end); data[i] == ',' {
				i = skipSpace(data, i+1)
			}
		}
	}
}

// Wrap returns prefix, the value and suffix as one piece. It moves nothing if the
// buffer around the value has room, by writing over what stood there: after Wrap,
// the payload's message and all other parts of it must not be used any more.
// Neither prefix nor suffix may lie in that buffer.
func (p Payload) Wrap(prefix, suffix []byte) []byte {
	start, end := p.start-len(prefix), p.end+len(suffix)
	if start < 0 || end > cap(p.buf) {
		out := make([]byte, 0, len(prefix)+p.end-p.start+len(suffix))
		out = append(out, prefix...)
		out = append(out, p.Bytes()...)
		return append(out, suffix...)
	}
	out := p.buf[:cap(p.buf)]
	copy(out[start:], prefix)
	copy(out[p.end:], suffix)
	return out[start:end]
}

// AppendString appends text as a JSON string; bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, text string) []byte {
	if isBare(text) {
		dst = append(dst, '"')
		dst = append(dst, text...)
		return append(dst, '"')
	}
	// The only error is that of invalid UTF-8, which has been replaced by then.
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

// isBare reports that a text is one that JSON writes as it is, as nearly all names are.
func isBare(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || endsRun[c] {
			return false
		}
	}
	return true
}

// unquote decodes a valid JSON string. Without escapes, as nearly always, the
// result shares the string's memory.
func unquote(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	// The only error is that of a lone surrogate, which has been replaced by then.
	text, _ := jsontext.AppendUnquote(nil, quoted)
	return text
}

// skipValue returns the end of the valid value that starts at i.
func skipValue(data []byte, i int) int {
	switch data[i] {
	case '"':
		i, _ = skipString(data, i)
		return i
	case '{', '[':
		return skipContainer(data, i)
	}
	for i < len(data) {
		switch data[i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}

// nests is what a byte between the tokens of a container does to the depth; a quote begins a
// string.
var nests = [256]int8{'{': 1, '[': 1, '}': -1, ']': -1, '"': quoteNests}

const quoteNests = 2

func skipContainer(data []byte, i int) int {
	for depth := 0; ; i++ {
		switch step := nests[data[i]]; step {
		case 0:
		case quoteNests:
			i, _ = skipString(data, i)
			i--
		default:
			if depth += int(step); depth == 0 {
				return i + 1
			}
		}
	}
}

// skipString returns the end of the valid string that starts at i, and whether it has escapes.
func skipString(data []byte, i int) (end int, escaped bool) {
	i++
	for limit := min(i+shortRun, len(data)-7); i < limit; i += 8 { // by itself, since most are that short
		if found := ending(binary.LittleEndian.Uint64(data[i:])); found != 0 {
			if i += bits.TrailingZeros64(found) / 8; data[i] == '"' {
				return i + 1, false
			}
			break
		}
	}
	return skipText(data, i)
}

// skipText is skipString for what has escapes or is long.
func skipText(data []byte, i int) (end int, escaped bool) {
	for ; ; i += 2 {
		at, near := runEnd(data, i)
		if !near {
			return skipLongString(data, at, escaped)
		}
		if data[at] == '"' {
			return at + 1, escaped
		}
		i, escaped = at, true // and on behind what the backslash is for
	}
}

// skipLongString goes on at i with the fast search, which costs more to begin.
func skipLongString(data []byte, i int, escaped bool) (end int, _ bool) {
	first := i
	for ; ; i++ {
		i += bytes.IndexByte(data[i:], '"')
		slashes := 0
		for i-1-slashes >= first && data[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1, escaped || bytes.IndexByte(data[first:i], '\\') >= 0
		}
	}
}

// ParseValue validates bytes that did not come as part of a message as one JSON value.
func ParseValue(data []byte) (Payload, error) {
	frame, _, err := check(NewFrame(data))
	if err != nil {
		return Payload{}, err
	}
	frame.trim()
	return Payload{frame.buf, frame.start, len(frame.buf)}, nil
}
