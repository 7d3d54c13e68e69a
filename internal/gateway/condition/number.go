package condition

import (
	"fmt"
	"math/big"
	"strings"
)

// Number is a decimal number of any size, compared exactly.
type Number struct {
	text  string
	value *big.Rat
}

// maxExponent bounds the digits that a short number such as 1e999999999 can have.
const maxExponent = 1000

// ParseNumber reads a JSON number.
func ParseNumber(text string) (*Number, error) {
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok {
		if digits := strings.TrimLeft(strings.TrimLeft(exponent, "+-"), "0"); len(digits) > 3 {
			return nil, fmt.Errorf("the exponent is beyond %d", maxExponent)
		}
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("it is not a number")
	}
	return &Number{text, value}, nil
}

func (n *Number) String() string { return n.text }

// Less reports whether the number is smaller than another.
func (n *Number) Less(other *Number) bool { return n.value.Cmp(other.value) < 0 }
