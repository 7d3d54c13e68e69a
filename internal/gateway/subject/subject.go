// Package subject identifies what is called: a tool as it is defined, and its arguments, so that two calls can be compared
// after their buffers are gone.
package subject

import (
	"crypto/rand"
	"crypto/sha256"
	"hash"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Subject is a tool as it is defined, and its arguments.
type Subject struct {
	ref        toolbox.Ref
	definition [sha256.Size]byte
	arguments  [sha256.Size]byte // zero: any
}

// New returns the subject of a call. Arguments that programs read in different ways are never the same as others.
func New(ref toolbox.Ref, definition, arguments wire.Payload) Subject {
	s := Subject{ref: ref, definition: sha256.Sum256(definition.Bytes())}
	if arguments.IsAbsent() {
		arguments = wire.Raw([]byte("{}"))
	}
	sum := sha256.New()
	if digest(sum, arguments, 0) {
		sum.Sum(s.arguments[:0])
	} else {
		rand.Read(s.arguments[:]) // never fails
	}
	return s
}

// WithAnyArguments stands for all calls of the tool.
func (s Subject) WithAnyArguments() Subject {
	s.arguments = [sha256.Size]byte{}
	return s
}

// maxDepth is how deep values may nest that are compared, since each level is read once more; calls with deeper ones are
// never the same.
const maxDepth = 50

// digest adds a value at a depth to a hash in a form that only equal values have: the order of members, spaces, escapes and
// the notation of numbers do not matter. It returns false for a value that programs read in different ways: with two members
// of the same name, with characters that are not valid, or with an absurd number; and for one that nests too deep.
func digest(sum hash.Hash, value wire.Payload, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch value.Kind() {
	case "object":
		return digestObject(sum, value, depth)
	case "array":
		sum.Write([]byte("["))
		for element := range value.Elements() {
			if !digest(sum, element, depth+1) {
				return false
			}
			sum.Write([]byte(","))
		}
		sum.Write([]byte("]"))
		return true
	case "string":
		text, _ := value.Text()
		return digestText(sum, text)
	case "number":
		number, ok := plainNumber(string(value.Bytes()))
		sum.Write([]byte(number))
		return ok
	}
	sum.Write(value.Bytes())
	return true
}

func digestObject(sum hash.Hash, object wire.Payload, depth int) bool {
	type member struct {
		key   string
		value wire.Payload
	}
	var members []*member
	for key, value := range object.Members() {
		members = append(members, &member{string(key), value})
	}
	slices.SortFunc(members, func(a, b *member) int { return strings.Compare(a.key, b.key) })
	sum.Write([]byte("{"))
	for i, m := range members {
		if i > 0 && m.key == members[i-1].key {
			return false
		}
		if !digestText(sum, m.key) {
			return false
		}
		sum.Write([]byte(":"))
		if !digest(sum, m.value, depth+1) {
			return false
		}
		sum.Write([]byte(","))
	}
	sum.Write([]byte("}"))
	return true
}

// digestText fails for a text with the character that stands for all that could not be read.
func digestText(sum hash.Hash, text string) bool {
	sum.Write(wire.AppendString(nil, text))
	return !strings.ContainsRune(text, '\ufffd')
}

// maxExponentDigits bounds the exponent of a number that is compared; calls with a longer one are never the same.
const maxExponentDigits = 15

// plainNumber returns the only notation of a number that has no zeros at its ends: digits, and a power of ten.
func plainNumber(text string) (plain string, ok bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if len(exponent) > maxExponentDigits {
		return "", false
	}
	power, _ := strconv.ParseInt(exponent, 10, 64) // without an exponent it is 0
	whole, fraction, _ := strings.Cut(mantissa, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", true
	}
	short := strings.TrimRight(digits, "0")
	power += int64(len(digits) - len(short) - len(fraction))
	return sign + short + "e" + strconv.FormatInt(power, 10), true
}
