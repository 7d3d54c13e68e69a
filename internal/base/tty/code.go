package tty

import (
	"crypto/rand"
	"fmt"
	"math/big"
)

// codes is the number of codes with four digits. Trying them all is of no use, since each question has a new one.
const codes = 10_000

// NewCode returns a code that a person types to confirm something, so that a program without a terminal cannot, and that
// nothing is confirmed by what a person happened to type.
func NewCode() (string, error) {
	number, err := rand.Int(rand.Reader, big.NewInt(codes))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%04d", number), nil
}
