package wire

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// headroom and slack are kept free around a frame that was read, so that what we
// put around a forwarded value nearly always fits in place (see Payload.Wrap). A short one,
// which is copied in a moment, has less of both.
const (
	headroom      = 192
	slack         = 64
	shortFrame    = 4 << 10
	shortHeadroom = 64
	shortSlack    = 16
)

// Frame is one message as it arrived, not yet looked at.
type Frame struct {
	buf   []byte
	start int
	cut   bool
}

// NewFrame makes a frame of bytes that did not come through a Reader.
func NewFrame(message []byte) Frame { return Frame{buf: message} }

// Bytes returns the message without its newline.
func (f Frame) Bytes() []byte { return f.buf[f.start:] }

// IsCut reports whether the input ended before the message's newline.
func (f Frame) IsCut() bool { return f.cut }

// Message is one valid JSON-RPC 2.0 message. Which of its parts are there tells
// what it is: see IsRequest, IsNotification and IsResponse.
type Message struct {
	Method []byte  // decoded; nil for a response
	ID     Payload // a string or a number
	Params Payload
	Result Payload
	Error  Payload

	// Repaired says that bytes which are not UTF-8 were replaced by U+FFFD.
	Repaired bool
	// Size is the message's length in bytes.
	Size int
}

// IsRequest reports whether an answer is due.
func (m *Message) IsRequest() bool { return m.Method != nil && !m.ID.IsAbsent() }

// IsNotification reports whether the message is a one-way one.
func (m *Message) IsNotification() bool { return m.Method != nil && m.ID.IsAbsent() }

// IsResponse reports whether the message answers a request.
func (m *Message) IsResponse() bool { return m.Method == nil }

// ShapeError says why valid JSON is no JSON-RPC message. ID is the message's, if it
// has a usable one, so that whoever waits can be told; IsRPC says that it called
// itself JSON-RPC 2.0, which a stray log line does not.
type ShapeError struct {
	Reason string
	ID     Payload
	IsRPC  bool
}

func (e *ShapeError) Error() string { return e.Reason }

// Parse validates a frame, once and completely, and finds the message's parts.
// The error is a *SyntaxError or a *ShapeError. The frame belongs to the message
// afterwards.
func Parse(frame Frame) (Message, error) {
	var p parts
	p.Repaired = !utf8.Valid(frame.Bytes())
	if p.Repaired {
		frame = repair(frame)
	}
	// Nearly always one look is enough for both.
	if !p.takePlain(frame) {
		var err error
		if frame, _, err = check(frame); err != nil {
			return Message{}, err
		}
		p = parts{Message: Message{Repaired: p.Repaired}}
		if err := p.takeAll(frame); err != nil {
			return Message{}, err
		}
	}
	if err := p.finish(frame); err != nil {
		return Message{}, err
	}
	return p.Message, nil
}

// IsBatch reports whether the frame holds an array of messages, as revisions up to
// 2025-03-26 allow, rather than one.
func (f Frame) IsBatch() bool {
	start := skipSpace(f.buf, f.start)
	return start < len(f.buf) && f.buf[start] == '['
}

// MaxBatch is how many messages a batch may hold: each costs many times its bytes.
const MaxBatch = 100

// errLongBatch refuses a batch as a whole.
var errLongBatch = fmt.Errorf("the batch holds more than %d messages", MaxBatch)

// ParseBatch is Parse for a batch. Elements that are no messages are reported in
// rejected.
func ParseBatch(frame Frame) (messages []Message, rejected []error, err error) {
	frame, repaired, err := check(frame)
	if err != nil {
		return nil, nil, err
	}
	whole := Payload{frame.buf, skipSpace(frame.buf, frame.start), len(frame.buf)}
	for element := range whole.Elements() {
		if len(messages)+len(rejected) == MaxBatch {
			return nil, nil, errLongBatch
		}
		p := parts{Message: Message{Repaired: repaired}}
		own := NewFrame(bytes.Clone(element.Bytes()))
		err := p.takeAll(own)
		if err == nil {
			err = p.finish(own)
		}
		if err != nil {
			rejected = append(rejected, err)
			continue
		}
		messages = append(messages, p.Message)
	}
	return messages, rejected, nil
}

// check makes sure that the frame is one JSON value in UTF-8 on one line.
func check(frame Frame) (Frame, bool, error) {
	repaired := !utf8.Valid(frame.Bytes())
	if repaired {
		frame = repair(frame)
	}
	if isPlain(frame.Bytes()) {
		return frame, repaired, nil
	}
	if err := validate(frame.Bytes()); err != nil {
		return frame, repaired, err
	}
	// Valid JSON has line ends only between tokens, where a space says the same.
	// They must go: what we forward has to stay on one line.
	for _, end := range []byte{'\r', '\n'} {
		for data := frame.Bytes(); ; {
			i := bytes.IndexByte(data, end)
			if i < 0 {
				break
			}
			data[i] = ' '
			data = data[i+1:]
		}
	}
	return frame, repaired, nil
}

// repair replaces each byte that is not part of UTF-8 text by U+FFFD.
func repair(frame Frame) Frame {
	fixed := make([]byte, headroom, headroom+len(frame.Bytes())+len(frame.Bytes())/8+slack)
	for data := frame.Bytes(); len(data) > 0; {
		r, size := utf8.DecodeRune(data)
		fixed = utf8.AppendRune(fixed, r)
		data = data[size:]
	}
	return Frame{buf: fixed, start: headroom}
}

// parts are a message whose parts are being found.
type parts struct {
	Message
	version, method Payload
	duplicate       string // a key that stands twice
}

// take takes in a member, if it is a part of a message.
func (p *parts) take(key []byte, value Payload) (taken bool) {
	var part *Payload
	switch string(key) {
	case "jsonrpc":
		part = &p.version
	case "id":
		part = &p.ID
	case "method":
		part = &p.method
	case "params":
		part = &p.Params
	case "result":
		part = &p.Result
	case "error":
		part = &p.Error
	default:
		return false
	}
	if !part.IsAbsent() {
		p.duplicate = string(key)
	}
	*part = value
	return true
}

// takePlain takes in all members while it makes sure that they are plain, which it reports;
// see isPlain.
func (p *parts) takePlain(frame Frame) bool {
	data := frame.buf
	i := plainSpace(data, frame.start)
	if i >= len(data) || data[i] != '{' {
		return false
	}
	for i = plainSpace(data, i+1); ; i = plainSpace(data, i+1) {
		keyEnd, start := plainMember(data, i)
		if start < 0 {
			return false
		}
		end := plainValue(data, start)
		if end < 0 {
			return false
		}
		key := data[i+1 : keyEnd-1]
		if !p.take(key, Payload{data, start, end}) && bytes.IndexByte(key, '\\') >= 0 {
			return false // it may name a part in another way
		}
		if i = plainSpace(data, end); i >= len(data) || data[i] != ',' {
			return i < len(data) && data[i] == '}' && plainSpace(data, i+1) == len(data)
		}
	}
}

// takeAll takes in all members of a validated frame.
func (p *parts) takeAll(frame Frame) error {
	whole := Payload{frame.buf, skipSpace(frame.buf, frame.start), len(frame.buf)}
	if whole.Kind() != "object" {
		return &ShapeError{Reason: "a message must be a JSON object, not " + article(whole.Kind())}
	}
	for key, value := range whole.Members() {
		p.take(key, value)
	}
	return nil
}

// finish makes sure that the parts make a message.
func (p *parts) finish(frame Frame) error {
	p.Size = len(frame.buf) - frame.start
	isRPC := p.version.is("2.0")
	if kind := p.ID.Kind(); kind != "string" && kind != "number" {
		if kind != "undefined" && kind != "null" || kind == "null" && !p.method.IsAbsent() {
			return &ShapeError{Reason: "an id must be a string or a number, not " + article(kind), IsRPC: isRPC}
		}
		p.ID = Payload{}
	}
	if p.Params.Kind() == "null" {
		p.Params = Payload{} // some clients write what others leave out
	}
	if reason := p.shapeProblem(isRPC); reason != "" {
		return &ShapeError{Reason: reason, ID: p.ID, IsRPC: isRPC}
	}
	if !p.method.IsAbsent() {
		p.Method = unquote(p.method.Bytes())
	}
	return nil
}

func (p *parts) shapeProblem(isRPC bool) string {
	if p.duplicate != "" {
		return "the key '" + p.duplicate + "' stands twice"
	}
	if !isRPC {
		return "'jsonrpc' must be \"2.0\""
	}
	if !p.method.IsAbsent() {
		switch {
		case p.method.Kind() != "string":
			return "'method' must be a string, not " + article(p.method.Kind())
		case !p.Params.IsAbsent() && p.Params.Kind() != "object" && p.Params.Kind() != "array":
			return "'params' must be an object, not " + article(p.Params.Kind())
		}
		return ""
	}
	switch {
	case p.Result.IsAbsent() == p.Error.IsAbsent():
		return "a message needs a 'method', or just one of 'result' and 'error'"
	case !p.Error.IsAbsent() && p.Error.Kind() != "object":
		return "'error' must be an object, not " + article(p.Error.Kind())
	case p.ID.IsAbsent() && p.Error.IsAbsent():
		return "a response needs an 'id'"
	}
	return ""
}

func article(kind string) string {
	switch kind {
	case "null", "undefined":
		return kind
	case "object", "array":
		return "an " + kind
	default:
		return "a " + kind
	}
}
