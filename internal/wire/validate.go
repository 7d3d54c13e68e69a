package wire

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// MaxDepth is how deep a message may nest. It equals the limit of Go's own
// decoder, and is far above what any peer sends on purpose.
const MaxDepth = 10_000

// SyntaxError says why bytes are not a JSON value that we accept.
type SyntaxError struct {
	Offset int
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset)
}

// nesting remembers, a bit per level, whether an open bracket is an object's.
// It is a value of fixed size so that validation neither recurses nor allocates.
type nesting struct {
	depth   int
	objects [MaxDepth/64 + 1]uint64
}

func (n *nesting) push(object bool) bool {
	if n.depth == MaxDepth {
		return false
	}
	word, bit := n.depth/64, uint64(1)<<(n.depth%64)
	if object {
		n.objects[word] |= bit
	} else {
		n.objects[word] &^= bit
	}
	n.depth++
	return true
}

func (n *nesting) inObject() bool {
	level := n.depth - 1
	return n.objects[level/64]&(1<<(level%64)) != 0
}

// validate checks that data is exactly one JSON value within MaxDepth. It does
// not look at the encoding of text: Parse makes sure of UTF-8 first.
func validate(data []byte) error {
	var open nesting
	i := 0
	for {
		var err error
		var opened bool
		if i, opened, err = startValue(data, skipSpace(data, i), &open); err != nil {
			return err
		}
		if opened {
			continue
		}
		var done bool
		if i, done, err = endValue(data, i, &open); err != nil {
			return err
		}
		if done {
			return nil
		}
	}
}

// startValue passes over the value at i, or over the start of a container up to
// where its first value is due; opened reports the latter.
func startValue(data []byte, i int, open *nesting) (next int, opened bool, err error) {
	if i >= len(data) {
		return i, false, &SyntaxError{i, "unexpected end"}
	}
	switch c := data[i]; c {
	case '{', '[':
		if !open.push(c == '{') {
			return i, false, &SyntaxError{i, fmt.Sprintf("nesting deeper than %d", MaxDepth)}
		}
		next = skipSpace(data, i+1)
		if next < len(data) && data[next] == c+2 { // '}' and ']' follow their partner by two
			open.depth--
			return next + 1, false, nil
		}
		if c == '{' {
			next, err = scanKey(data, next)
		}
		return next, true, err
	case '"':
		next, err = scanString(data, i+1)
	case 't':
		next, err = scanLiteral(data, i, "true")
	case 'f':
		next, err = scanLiteral(data, i, "false")
	case 'n':
		next, err = scanLiteral(data, i, "null")
	default:
		next, err = scanNumber(data, i)
	}
	return next, false, err
}

// endValue passes over what may follow a value: closing brackets, and then a
// comma (with the next key in an object) or the end of the data.
func endValue(data []byte, i int, open *nesting) (next int, done bool, err error) {
	for {
		i = skipSpace(data, i)
		if open.depth == 0 {
			if i < len(data) {
				return i, false, &SyntaxError{i, "unexpected data after the value"}
			}
			return i, true, nil
		}
		if i >= len(data) {
			return i, false, &SyntaxError{i, "unexpected end"}
		}
		object := open.inObject()
		switch c := data[i]; {
		case c == ',' && object:
			next, err = scanKey(data, skipSpace(data, i+1))
			return next, false, err
		case c == ',':
			return i + 1, false, nil
		case c == '}' && object, c == ']' && !object:
			open.depth--
			i++
		default:
			return i, false, &SyntaxError{i, "expected a comma or a closing bracket"}
		}
	}
}

// scanKey passes over a member's key and its colon.
func scanKey(data []byte, i int) (int, error) {
	if i >= len(data) || data[i] != '"' {
		return i, &SyntaxError{i, "expected an object key"}
	}
	i, err := scanString(data, i+1)
	if err != nil {
		return i, err
	}
	i = skipSpace(data, i)
	if i >= len(data) || data[i] != ':' {
		return i, &SyntaxError{i, "expected a colon"}
	}
	return i + 1, nil
}

// Masks for looking at eight bytes at once.
const (
	eachByte = 0x0101010101010101
	topBits  = 0x8080808080808080
)

// special marks, in the top bit of each byte of w, at least the first byte that
// is a quote, a backslash or a control character. Bits above the first mark may
// be wrong, so only the lowest one counts.
func special(w uint64) uint64 {
	quote := w ^ eachByte*'"'
	slash := w ^ eachByte*'\\'
	control := (w - eachByte*0x20) &^ w
	return ((quote-eachByte)&^quote | (slash-eachByte)&^slash | control) & topBits
}

// scanString passes over a string whose opening quote was just before i.
func scanString(data []byte, i int) (int, error) {
	for {
		for i+8 <= len(data) {
			if mark := special(binary.LittleEndian.Uint64(data[i:])); mark != 0 {
				i += bits.TrailingZeros64(mark) / 8
				break
			}
			i += 8
		}
		if i >= len(data) {
			return i, &SyntaxError{i, "unexpected end in a string"}
		}
		switch c := data[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			var err error
			if i, err = scanEscape(data, i); err != nil {
				return i, err
			}
		case c < 0x20:
			return i, &SyntaxError{i, "control character in a string"}
		default:
			i++
		}
	}
}

func scanEscape(data []byte, i int) (int, error) {
	if i+1 < len(data) {
		switch data[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			return i + 2, nil
		case 'u':
			if i+6 <= len(data) && isHex(data[i+2]) && isHex(data[i+3]) && isHex(data[i+4]) && isHex(data[i+5]) {
				return i + 6, nil
			}
		}
	}
	return i, &SyntaxError{i, "invalid escape in a string"}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func scanLiteral(data []byte, i int, word string) (int, error) {
	if len(data)-i < len(word) || string(data[i:i+len(word)]) != word {
		return i, &SyntaxError{i, "unexpected character"}
	}
	return i + len(word), nil
}

// scanNumber checks the grammar of a number; its size and precision are not
// ours to judge, since we forward it as it is written.
func scanNumber(data []byte, i int) (int, error) {
	start := i
	if i < len(data) && data[i] == '-' {
		i++
	}
	whole := i
	if i = skipDigits(data, i); i == whole {
		return start, &SyntaxError{start, "unexpected character"}
	}
	if data[whole] == '0' && i > whole+1 {
		return whole, &SyntaxError{whole, "number with a leading zero"}
	}
	if i < len(data) && data[i] == '.' {
		fraction := i + 1
		if i = skipDigits(data, fraction); i == fraction {
			return i, &SyntaxError{i, "number without digits after the point"}
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		exponent := i
		if i = skipDigits(data, exponent); i == exponent {
			return i, &SyntaxError{i, "number without digits in the exponent"}
		}
	}
	return i, nil
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		i++
	}
	return i
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}
