package hidden

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// This file checks the bytes alone to rule out that a text contains anything hidden. That settles nearly all texts,
// including those in Chinese, in Cyrillic, or with accents.

// mayHide reports whether a text can contain anything hidden.
func mayHide(s string) bool {
	for i := range len(s) {
		switch leads[s[i]] {
		case control:
			return true
		case lead:
			if isLead(s[i], at(s, i+1), at(s, i+2), at(s, i+3)) {
				return true
			}
		}
	}
	return false
}

// jsonMayHide reports whether strings of a JSON text can contain anything hidden. Raw control characters are only
// between its values.
func jsonMayHide(raw []byte) bool {
	for i := 0; i < len(raw); {
		c := raw[i]
		if c < utf8.RuneSelf && i+8 <= len(raw) {
			plain := plainBytes(binary.LittleEndian.Uint64(raw[i:]))
			if i += plain; plain == 8 {
				i = plainEnd(raw, i)
				continue
			}
			c = raw[i]
		}
		switch leads[c] {
		case escape:
			if i++; at(raw, i) == 'u' || at(raw, i) == 'b' || at(raw, i) == 'f' {
				return true
			}
		case lead:
			if isLead(c, at(raw, i+1), at(raw, i+2), at(raw, i+3)) {
				return true
			}
		}
		if i++; c >= 0xe0 {
			i += 2 // the rest of the character, or most of it
		}
	}
	return false
}

// plainBytes returns how many of eight bytes, from the lowest on, are ASCII other than backslash and DEL.
func plainBytes(word uint64) int { return bits.TrailingZeros64(unusual(word)&(each8*0x80)) / 8 }

const each8 = 0x0101010101010101 // a byte of eight alike

// unusual sets the high bit of the lowest of eight bytes that is not plain, if there is one.
func unusual(word uint64) uint64 {
	backslash, del := word^'\\'*each8, word^0x7f*each8
	return word | (backslash-each8)&^backslash | (del-each8)&^del
}

// plainEnd skips plain bytes from an offset on, as many times 32 as there are.
func plainEnd(raw []byte, i int) int {
	for ; i+32 <= len(raw); i += 32 {
		part := raw[i : i+32]
		a, b := binary.LittleEndian.Uint64(part), binary.LittleEndian.Uint64(part[8:])
		c, d := binary.LittleEndian.Uint64(part[16:]), binary.LittleEndian.Uint64(part[24:])
		if (unusual(a)|unusual(b)|unusual(c)|unusual(d))&(each8*0x80) != 0 {
			break
		}
	}
	return i
}

// at returns a byte of a text; 0 after its end.
func at[T text](s T, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

const (
	control = iota + 1 // hidden, except in JSON
	escape             // begins an escape in JSON
	lead               // may begin a hidden character, see isLead
)

var leads = func() (table [256]uint8) {
	for c := range 0x20 {
		table[c] = control
	}
	table['\t'], table['\n'], table['\r'], table['\\'] = 0, 0, 0, escape
	for _, c := range []byte{0x7f, 0xc2, 0xcd, 0xd8, 0xe1, 0xe2, 0xe3, 0xee, 0xef, 0xf0, 0xf1, 0xf2, 0xf3, 0xf4} {
		table[c] = lead
	}
	return table
}()

// isLead reports whether a possibly hidden character begins with these bytes.
func isLead(a, b, c, d byte) bool {
	switch a {
	case 0x7f, 0xee, 0xf3, 0xf4: // DEL; private use, tags and selectors
		return true
	case 0xc2: // control characters, the soft hyphen
		return b < 0xa0 || b == 0xad
	case 0xcd:
		return b == 0x8f
	case 0xd8:
		return b == 0x9c
	case 0xe1: // fillers of Hangul and Khmer, Mongolian selectors
		return b == 0x85 && c >= 0x9f && c <= 0xa0 || b == 0x9e && c >= 0xb4 && c <= 0xb5 || b == 0xa0 && c >= 0x8b && c <= 0x8f
	case 0xe2: // joiners and direction marks; invisible operators; blank Braille
		return b == 0x80 && (c >= 0x8b && c <= 0x8f || c >= 0xaa && c <= 0xae) || b == 0x81 && c >= 0xa0 && c <= 0xaf || b == 0xa0 && c == 0x80
	case 0xe3:
		return b == 0x85 && c == 0xa4
	case 0xef: // private use, noncharacters, selectors, the byte order mark, a filler
		return b <= 0xa3 || b == 0xb7 && c >= 0x90 && c <= 0xaf || b == 0xb8 && c <= 0x8f || b == 0xbb && c == 0xbf || b == 0xbe && c == 0xa0 || b == 0xbf && c >= 0xb0
	case 0xf0: // controls of hieroglyphs, shorthand and music, a filler, noncharacters
		return b == 0x93 && c == 0x90 || b == 0x96 && c == 0xbf || b == 0x9b && c == 0xb2 || b == 0x9d && c == 0x85 || c == 0xbf && d >= 0xbe
	case 0xf1, 0xf2:
		return c == 0xbf && d >= 0xbe
	}
	return false
}
