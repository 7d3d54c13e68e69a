package condition

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Number is a decimal number of any size, compared exactly.
type Number struct {
	text  string
	value *big.Rat
}

const (
	maxExponent = 999   // the exponent of a number, which would otherwise have many digits; a number with a larger one is not judged
	maxDigits   = 1_000 // the length of a number; a longer one is not judged
)

var jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?0*([0-9]{1,10}))?$`)

// ParseNumber reads a JSON number.
func ParseNumber(text string) (*Number, error) {
	if len(text) > maxDigits {
		return nil, fmt.Errorf("it has more than %d digits", maxDigits)
	}
	parts := jsonNumber.FindStringSubmatch(text)
	if parts == nil {
		return nil, errors.New("it is not a number")
	}
	if len(parts[1]) > len(fmt.Sprint(maxExponent)) {
		return nil, fmt.Errorf("the exponent is beyond %d", maxExponent)
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, errors.New("it is not a number")
	}
	return &Number{text, value}, nil
}

func (n *Number) String() string { return n.text }

// Less reports whether the number is smaller than another.
func (n *Number) Less(other *Number) bool { return n.value.Cmp(other.value) < 0 }

// below returns why a value is not a number that is at most this one.
func (n *Number) below(value wire.Payload) string {
	if value.Kind() != "number" {
		return "it is not a number"
	}
	number, err := ParseNumber(string(value.Bytes()))
	switch {
	case err != nil:
		return err.Error()
	case n.Less(number):
		return "it is larger"
	}
	return ""
}
