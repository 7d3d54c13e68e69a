package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// maxPlainDepth is how deep a value may nest for isPlain to know it.
const maxPlainDepth = 512

// isPlain reports that data is one valid JSON value of the usual kind, which nearly all are.
// It says no too often rather than too rarely: the library decides about the rest, and has
// the words for what is wrong. Its own check looks at each byte of a text, which was a
// quarter of the time of a large message; here the machine's fast search does most of it.
// A plain value has no line ends, not even between its tokens.
func isPlain(data []byte) bool {
	end := plainValue(data, plainSpace(data, 0))
	return end >= 0 && plainSpace(data, end) == len(data)
}

// plainValue returns the end of the plain value that begins at i, or -1.
func plainValue(data []byte, i int) int {
	var nesting [maxPlainDepth / 64]uint64 // a bit for each level: an object, not an array
	depth := 0
	for {
		// Here a value begins.
		if i >= len(data) {
			return -1
		}
		end := 0
		switch c := data[i]; {
		case c == '"':
			end = plainString(data, i)
		case c == '{' || c == '[':
			if depth++; depth >= maxPlainDepth {
				return -1
			}
			nesting[depth/64] &^= 1 << (depth % 64)
			i = plainSpace(data, i+1)
			if c == '{' {
				nesting[depth/64] |= 1 << (depth % 64)
				if i < len(data) && data[i] != '}' {
					if _, i = plainMember(data, i); i < 0 {
						return -1
					}
					continue
				}
			} else if i < len(data) && data[i] != ']' {
				continue
			}
			end = i // the container ends at once
		case c == '-' || c >= '0' && c <= '9':
			end = plainNumber(data, i)
		default:
			end = plainWord(data, i)
		}
		if end < 0 {
			return -1
		}
		// Here a value has ended, and so may the containers around it.
		for i = end; ; i++ {
			if depth == 0 {
				return i
			}
			if i = plainSpace(data, i); i >= len(data) {
				return -1
			}
			isObject := nesting[depth/64]&(1<<(depth%64)) != 0
			if data[i] == ',' {
				i = plainSpace(data, i+1)
				if isObject {
					if _, i = plainMember(data, i); i < 0 {
						return -1
					}
				}
				break
			}
			if isObject && data[i] != '}' || !isObject && data[i] != ']' {
				return -1
			}
			depth--
		}
	}
}

// plainSpace is skipSpace without line ends.
func plainSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t') {
		i++
	}
	return i
}

// plainMember returns where the key of the member that begins at i ends, and where its value
// begins, or -1.
func plainMember(data []byte, i int) (keyEnd, value int) {
	if i >= len(data) || data[i] != '"' {
		return -1, -1
	}
	if keyEnd = plainString(data, i); keyEnd < 0 {
		return -1, -1
	}
	if i = plainSpace(data, keyEnd); i >= len(data) || data[i] != ':' {
		return -1, -1
	}
	return keyEnd, plainSpace(data, i+1)
}

// endsRun are the bytes that do not stand for themselves in a string: the quote, the
// backslash and control characters.
var endsRun = func() (ends [256]bool) {
	for c := range ' ' {
		ends[c] = true
	}
	ends['"'], ends['\\'] = true, true
	return ends
}()

// Words of eight bytes alike.
const (
	each   = 0x0101010101010101
	high   = each * 0x80
	spaces = each * ' '
)

// shortRun is how many bytes of a text are looked at, eight at a time, before the fast search,
// which costs more to begin.
const shortRun = 32

// runEnd returns where the first byte from i on is that ends a run, if that is near: otherwise
// near is false, and there is none before the place returned.
func runEnd(data []byte, i int) (end int, near bool) {
	for limit := i + shortRun; i < limit; i += 8 {
		if i+8 > len(data) {
			for i < len(data) && !endsRun[data[i]] {
				i++
			}
			return i, i < len(data)
		}
		if found := ending(binary.LittleEndian.Uint64(data[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/8, true
		}
	}
	return i, false
}

// ending finds bytes that end a run among eight: of each that it reports, the high bit is set.
// The lowest one is right; those above it may not be, since a byte below what is taken from it
// borrows from the next.
func ending(word uint64) (found uint64) {
	quote, slash := word^each*'"', word^each*'\\'
	return ((word-spaces)&^word | (quote-each)&^quote | (slash-each)&^slash) & high
}

// plainString returns the end of the string that begins at i, or -1. No byte is searched
// twice for a quote, however many escapes there are before it.
func plainString(data []byte, i int) int {
	i++
	for limit := min(i+shortRun, len(data)-7); i < limit; i += 8 { // by itself, since most are that short
		if found := ending(binary.LittleEndian.Uint64(data[i:])); found != 0 {
			if i += bits.TrailingZeros64(found) / 8; data[i] == '"' {
				return i + 1
			}
			break
		}
	}
	return plainText(data, i)
}

// plainText is plainString for what has escapes or is long.
func plainText(data []byte, i int) int {
	quote := i - 1 // the next one, once it was searched for
	for {
		end, near := runEnd(data, i)
		if i = end; !near {
			if quote < i {
				length := bytes.IndexByte(data[i:], '"')
				if length < 0 {
					return -1
				}
				quote = i + length
			}
			end := quote
			if slash := bytes.IndexByte(data[i:quote], '\\'); slash >= 0 {
				end = i + slash
			}
			if hasControl(data[i:end]) {
				return -1
			}
			i = end
		}
		switch data[i] {
		case '"':
			return i + 1
		case '\\':
			if i = plainEscape(data, i+1); i < 0 {
				return -1
			}
		default:
			return -1 // a control character
		}
	}
}

// plainEscape returns the end of the escape whose letter is at i, or -1.
func plainEscape(data []byte, i int) int {
	if i >= len(data) {
		return -1
	}
	switch data[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if i+5 > len(data) {
			return -1
		}
		for _, c := range data[i+1 : i+5] {
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return -1
			}
		}
		return i + 5
	}
	return -1
}

// hasControl reports whether a text has a byte below the space, eight at a time.
func hasControl(text []byte) bool {
	var found uint64
	for len(text) >= 32 {
		a, b := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:])
		c, d := binary.LittleEndian.Uint64(text[16:]), binary.LittleEndian.Uint64(text[24:])
		found |= (a-spaces)&^a | (b-spaces)&^b | (c-spaces)&^c | (d-spaces)&^d
		if found&high != 0 {
			return true
		}
		text = text[32:]
	}
	for _, c := range text {
		if c < ' ' {
			return true
		}
	}
	return false
}

// plainNumber returns the end of the number that begins at i, or -1.
func plainNumber(data []byte, i int) int {
	if data[i] == '-' {
		i++
	}
	first := i
	if i = digitsEnd(data, i); i == first || data[first] == '0' && i > first+1 {
		return -1
	}
	if i < len(data) && data[i] == '.' {
		first = i + 1
		if i = digitsEnd(data, first); i == first {
			return -1
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		if i++; i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		first = i
		if i = digitsEnd(data, first); i == first {
			return -1
		}
	}
	return i
}

func digitsEnd(data []byte, i int) int {
	for i < len(data) && data[i] >= '0' && data[i] <= '9' {
		i++
	}
	return i
}

// plainWord returns the end of the word that begins at i, or -1.
func plainWord(data []byte, i int) int {
	for _, word := range [...]string{"true", "false", "null"} {
		if len(data)-i >= len(word) && string(data[i:i+len(word)]) == word {
			return i + len(word)
		}
	}
	return -1
}
