package wire

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// nested is depth levels of opening brackets, a value, and as many closing ones.
func nested(depth int, opening, value, closing string) string {
	return strings.Repeat(opening, depth) + value + strings.Repeat(closing, depth)
}

// parse is Parse of a text that must be a message.
func parse(t testing.TB, text string) Message {
	t.Helper()
	message, err := Parse(NewFrame([]byte(text)))
	if err != nil {
		t.Fatalf("Parse(%.100q): %v", text, err)
	}
	return message
}

// read is the one frame that a Reader makes of a text.
func read(t testing.TB, text string) Frame {
	t.Helper()
	frame, err := NewReader(strings.NewReader(text+"\n"), 0).Next()
	if err != nil {
		t.Fatalf("Next: %v", err)
	}
	return frame
}

// value is ParseValue of a text that must be one.
func value(t testing.TB, text string) Payload {
	t.Helper()
	payload, err := ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("ParseValue(%.100q): %v", text, err)
	}
	return payload
}

func asShapeError(t testing.TB, err error) *ShapeError {
	t.Helper()
	shape, ok := errors.AsType[*ShapeError](err)
	if !ok {
		t.Fatalf("error %v of type %T, want a *ShapeError", err, err)
	}
	return shape
}
