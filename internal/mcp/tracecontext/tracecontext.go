// Package tracecontext reads and writes the trace of which a request is a part, as the W3C and MCP define it: traceparent,
// tracestate and baggage, in the _meta of a request or in the headers of its HTTP request.
package tracecontext

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// The names of the values, in _meta and, in another case, as headers.
const (
	KeyParent  = "traceparent"
	KeyState   = "tracestate"
	KeyBaggage = "baggage"

	headerParent  = "Traceparent"
	headerState   = "Tracestate"
	headerBaggage = "Baggage"
)

const (
	maxState   = 512  // bytes of a tracestate that is passed on; a longer one is left out, as the W3C allows
	maxBaggage = 8192 // bytes of baggage that is passed on; longer baggage is left out, as the W3C allows
)

// TraceID identifies a trace.
type TraceID [16]byte

// SpanID identifies a span of a trace.
type SpanID [8]byte

func (t TraceID) String() string { return hex.EncodeToString(t[:]) }

func (s SpanID) String() string { return hex.EncodeToString(s[:]) }

// IsZero reports whether there is no such span.
func (s SpanID) IsZero() bool { return s == SpanID{} }

// Parent is what a traceparent says.
type Parent struct {
	Trace   TraceID
	Span    SpanID // of the sender
	Sampled bool   // the sender records its part of the trace
}

// The parts of a traceparent: version, trace, span and flags, with hyphens between them.
const (
	versionEnd   = 2
	traceStart   = versionEnd + 1
	traceEnd     = traceStart + 2*len(TraceID{})
	spanStart    = traceEnd + 1
	spanEnd      = spanStart + 2*len(SpanID{})
	flagsStart   = spanEnd + 1
	parentLength = flagsStart + 2
	flagSampled  = 1
)

// ParseParent reads a traceparent. One of a later version is read as far as it is known.
func ParseParent(text string) (p Parent, ok bool) {
	if len(text) < parentLength || text[versionEnd] != '-' || text[traceEnd] != '-' || text[spanEnd] != '-' {
		return Parent{}, false
	}
	var version, flags [1]byte
	if !decode(version[:], text[:versionEnd]) || !decode(p.Trace[:], text[traceStart:traceEnd]) ||
		!decode(p.Span[:], text[spanStart:spanEnd]) || !decode(flags[:], text[flagsStart:parentLength]) {
		return Parent{}, false
	}
	hasMore := len(text) > parentLength
	if version[0] == 0xff || hasMore && (version[0] == 0 || text[parentLength] != '-') || p.Trace == (TraceID{}) || p.Span.IsZero() {
		return Parent{}, false
	}
	p.Sampled = flags[0]&flagSampled != 0
	return p, true
}

// decode reads lower case hexadecimal digits, which alone are allowed.
func decode(to []byte, digits string) bool {
	for i := range to {
		high, low := digit(digits[2*i]), digit(digits[2*i+1])
		if high < 0 || low < 0 {
			return false
		}
		to[i] = byte(high<<4 | low)
	}
	return true
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}

// String returns the traceparent.
func (p Parent) String() string {
	text := make([]byte, 0, parentLength)
	text = append(hex.AppendEncode(append(text, "00-"...), p.Trace[:]), '-')
	text = hex.AppendEncode(text, p.Span[:])
	if p.Sampled {
		return string(append(text, "-01"...))
	}
	return string(append(text, "-00"...))
}

// Carrier is what a request carries about its trace.
type Carrier struct{ Parent, State, Baggage string }

// FromHeader returns what the headers of an HTTP request carry.
func FromHeader(header http.Header) Carrier {
	var c Carrier
	if parents := header[headerParent]; len(parents) == 1 {
		c.Parent = parents[0]
		c.State = joined(header[headerState], maxState)
	}
	c.Baggage = joined(header[headerBaggage], maxBaggage)
	return c
}

// joined returns the values of a header as one, "" if they are not to be passed on.
func joined(values []string, limit int) string {
	switch len(values) {
	case 0:
		return ""
	case 1:
		return allowed(values[0], limit)
	}
	all := values[0]
	for _, value := range values[1:] {
		if len(all) > limit {
			return ""
		}
		all += "," + value
	}
	return allowed(all, limit)
}

// FromMeta returns what the _meta of a request carries.
func FromMeta(meta wire.Payload) (c Carrier) {
	if parent := meta.Member(KeyParent); !parent.IsAbsent() {
		c.Parent, _ = parent.Text()
		state, _ := meta.Member(KeyState).Text()
		c.State = allowed(state, maxState)
	}
	if baggage := meta.Member(KeyBaggage); !baggage.IsAbsent() {
		text, _ := baggage.Text()
		c.Baggage = allowed(text, maxBaggage)
	}
	return c
}

// allowed returns a text that may be the value of a header, otherwise "".
func allowed(text string, limit int) string {
	if len(text) > limit {
		return ""
	}
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c > '~') && c != '\t' {
			return ""
		}
	}
	return text
}

// SetHeader sets the headers of an HTTP request to a server; nil sets none.
func (c *Carrier) SetHeader(header http.Header) {
	if c == nil {
		return
	}
	for _, one := range []struct{ name, value string }{{headerParent, c.Parent}, {headerState, c.State}, {headerBaggage, c.Baggage}} {
		if one.value != "" {
			header[one.name] = []string{one.value}
		}
	}
}

// Write returns the _meta of a request with the carrier's values. Its own traceparent and tracestate are replaced, and
// its baggage too if the carrier has some. Absent or unusable _meta becomes an object.
func (c *Carrier) Write(meta wire.Payload) wire.Payload {
	members := wire.AppendMember(make([]byte, 0, 128), KeyParent, c.Parent)
	if c.State != "" {
		members = wire.AppendMember(members, KeyState, c.State)
	}
	if c.Baggage != "" {
		members = wire.AppendMember(members, KeyBaggage, c.Baggage)
	}
	if meta.Kind() != "object" {
		return wire.Raw(append(append([]byte("{"), members...), '}'))
	}
	return wire.Raw(wire.AppendWithMembers(make([]byte, 0, len(meta.Bytes())+len(members)+1), meta, func(key string) bool {
		return key == KeyParent || key == KeyState || key == KeyBaggage && c.Baggage != ""
	}, members))
}

// NewTraceID returns the id of a new trace.
func NewTraceID() (id TraceID) {
	binary.BigEndian.PutUint64(id[:8], rand.Uint64())
	binary.BigEndian.PutUint64(id[8:], rand.Uint64()|1) // not all zero
	return id
}

// NewSpanID returns the id of a new span.
func NewSpanID() (id SpanID) {
	binary.BigEndian.PutUint64(id[:], rand.Uint64()|1) // not zero
	return id
}
