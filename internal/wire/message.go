package wire

import (
	"bytes"
	"unicode/utf8"
)

// headroom and slack are kept free around a frame that was read, so that what we
// put around a forwarded value nearly always fits in place (see Payload.Wrap).
const (
	headroom = 192
	slack    = 64
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
	frame, repaired, err := check(frame)
	if err != nil {
		return Message{}, err
	}
	message, err := dissect(frame)
	message.Repaired = repaired
	return message, err
}

// IsBatch reports whether the frame holds an array of messages, as revisions up to
// 2025-03-26 allow, rather than one.
func (f Frame) IsBatch() bool {
	start := skipSpace(f.buf, f.start)
	return start < len(f.buf) && f.buf[start] == '['
}

// ParseBatch is Parse for a batch. Elements that are no messages are reported in
// rejected.
func ParseBatch(frame Frame) (messages []Message, rejected []error, err error) {
	frame, repaired, err := check(frame)
	if err != nil {
		return nil, nil, err
	}
	whole := Payload{frame.buf, skipSpace(frame.buf, frame.start), len(frame.buf)}
	for element := range whole.Elements() {
		message, err := dissect(NewFrame(bytes.Clone(element.Bytes())))
		if err != nil {
			rejected = append(rejected, err)
			continue
		}
		message.Repaired = repaired
		messages = append(messages, message)
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

// dissect finds the parts of a validated frame.
func dissect(frame Frame) (Message, error) {
	whole := Payload{frame.buf, skipSpace(frame.buf, frame.start), len(frame.buf)}
	if whole.Kind() != "object" {
		return Message{}, &ShapeError{Reason: "a message must be a JSON object, not " + article(whole.Kind())}
	}
	var version, method Payload
	message := Message{Size: len(frame.buf) - frame.start}
	duplicate := ""
	for key, value := range whole.Members() {
		var part *Payload
		switch string(key) {
		case "jsonrpc":
			part = &version
		case "id":
			part = &message.ID
		case "method":
			part = &method
		case "params":
			part = &message.Params
		case "result":
			part = &message.Result
		case "error":
			part = &message.Error
		default:
			continue
		}
		if !part.IsAbsent() {
			duplicate = string(key)
		}
		*part = value
	}
	isRPC := version.is("2.0")
	if kind := message.ID.Kind(); kind != "string" && kind != "number" {
		if kind != "undefined" && kind != "null" || kind == "null" && !method.IsAbsent() {
			return Message{}, &ShapeError{Reason: "an id must be a string or a number, not " + article(kind), IsRPC: isRPC}
		}
		message.ID = Payload{}
	}
	if message.Params.Kind() == "null" {
		message.Params = Payload{} // some clients write what others leave out
	}
	if reason := message.shapeProblem(isRPC, method, duplicate); reason != "" {
		return Message{}, &ShapeError{Reason: reason, ID: message.ID, IsRPC: isRPC}
	}
	if !method.IsAbsent() {
		message.Method = unquote(method.Bytes())
	}
	return message, nil
}

func (m *Message) shapeProblem(isRPC bool, method Payload, duplicate string) string {
	if duplicate != "" {
		return "the key '" + duplicate + "' stands twice"
	}
	if !isRPC {
		return "'jsonrpc' must be \"2.0\""
	}
	if !method.IsAbsent() {
		switch {
		case method.Kind() != "string":
			return "'method' must be a string, not " + article(method.Kind())
		case !m.Params.IsAbsent() && m.Params.Kind() != "object" && m.Params.Kind() != "array":
			return "'params' must be an object, not " + article(m.Params.Kind())
		}
		return ""
	}
	switch {
	case m.Result.IsAbsent() == m.Error.IsAbsent():
		return "a message needs a 'method', or just one of 'result' and 'error'"
	case !m.Error.IsAbsent() && m.Error.Kind() != "object":
		return "'error' must be an object, not " + article(m.Error.Kind())
	case m.ID.IsAbsent() && m.Error.IsAbsent():
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
