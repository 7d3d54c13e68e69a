package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deep a message may nest. It is the library's own limit, and far above
// what any peer sends on purpose.
const MaxDepth = 10_000

// SyntaxError says why bytes are not a JSON value that we accept.
type SyntaxError struct {
	Offset int
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset)
}

// What is not ours to judge passes: keys that stand twice, and escapes of half a
// character. That raw text is UTF-8 is made sure of before.
var (
	duplicatesPass    = jsontext.AllowDuplicateNames(true)
	halfCharacterPass = jsontext.AllowInvalidUTF8(true)
)

// validate checks that data is exactly one JSON value within MaxDepth.
func validate(data []byte) error {
	if jsontext.Value(data).IsValid(duplicatesPass, halfCharacterPass) {
		return nil
	}
	return syntaxError(data)
}

// syntaxError reads invalid data once more to find out what is wrong with it.
func syntaxError(data []byte) error {
	decoder := jsontext.NewDecoder(bytes.NewReader(data), duplicatesPass, halfCharacterPass)
	_, err := decoder.ReadValue()
	if err == nil {
		if _, err = decoder.ReadToken(); err == nil {
			return &SyntaxError{int(decoder.InputOffset()), "unexpected data after the value"}
		}
	}
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case ok:
		return &SyntaxError{int(syntactic.ByteOffset), syntactic.Err.Error()}
	case errors.Is(err, io.EOF): // there was no value at all
		return &SyntaxError{len(data), "unexpected end"}
	default:
		return &SyntaxError{int(decoder.InputOffset()), err.Error()}
	}
}

// skipSpace returns the position of the first byte from i on that is no white space.
func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}
