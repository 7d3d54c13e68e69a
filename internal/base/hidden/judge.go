package hidden

import "unicode"

const (
	end = -1 // the character before the first and after the last one

	softHyphen   = 0xad
	zwnj, zwj    = 0x200c, 0x200d
	brailleBlank = 0x2800
	textStyle    = 0xfe0e // selects the text form of an emoji
	emojiStyle   = 0xfe0f
	keycap       = 0x20e3
	// maxIdeographs bounds the ideographs of a text that may have a variant selector. Names need one or two; one after
	// each character can carry a second text. Beyond it, all of these selectors are removed.
	maxIdeographs = 8
)

// judge decides character by character.
type judge struct {
	tooManyVariants bool // the text has too many ideographic variants
	before          rune // the last visible or kept character; 0 at the beginning
	removed         bool // a character between before and the current one is hidden
}

// hides reports whether a character is hidden in its position.
func (j *judge) hides(r, next rune) (hides bool) {
	switch kindOf(r) {
	case seen:
	case never:
		hides = true
	default: // a run of them is always hidden
		hides = j.removed || !j.stays(r, next)
	}
	if hides {
		j.removed = true
	} else {
		j.before, j.removed = r, false
	}
	return hides
}

type kind uint8

const (
	seen kind = iota
	sometimes
	never
)

// kindOf returns whether a character is visible, hidden, or depends on its neighbours.
func kindOf(r rune) kind {
	switch {
	case r < 0x7f:
		if r >= ' ' || r == '\t' || r == '\n' || r == '\r' || r == end {
			return seen
		}
		return never
	case r == softHyphen, r == zwnj, r == zwj, r == brailleBlank,
		0xfe00 <= r && r <= emojiStyle, isIdeographicSelector(r), isMongolianSelector(r):
		return sometimes
	case unicode.Is(gone, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), r&0xfffe == 0xfffe:
		return never
	case unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return never
	}
	return seen
}

// stays reports whether a character has a meaning between its neighbours.
func (j *judge) stays(r, next rune) bool {
	isLast := kindOf(next) == seen // of a run of characters that are not visible by themselves
	switch {
	case r == softHyphen:
		return unicode.IsLetter(j.before) && unicode.IsLetter(next)
	case r == brailleBlank:
		return isLast && (isBraille(j.before) || isBraille(next))
	case r == zwj && (isPictograph(j.before) || j.before == emojiStyle || j.before == textStyle):
		return isPictograph(next)
	case r == zwj, r == zwnj:
		return isLast && joins(j.before)
	case r == textStyle, r == emojiStyle:
		if isKeycapBase(j.before) {
			return next == keycap
		}
		return (isLast || next == zwj) && hasEmojiStyle(j.before)
	case isIdeographicSelector(r):
		return isLast && !j.tooManyVariants && r <= lastRegistered && isIdeograph(j.before)
	case isMongolianSelector(r):
		return (isLast || next == zwj || next == zwnj) && unicode.Is(unicode.Mongolian, j.before) && unicode.IsLetter(j.before)
	case r <= 0xfe02:
		return isLast && hasVariants(j.before)
	}
	return false
}

func isIdeographicSelector(r rune) bool { return 0xe0100 <= r && r <= 0xe01ef }

// lastRegistered is the last selector that registered ideograph collections use.
const lastRegistered = 0xe011f

func isMongolianSelector(r rune) bool { return 0x180b <= r && r <= 0x180d || r == 0x180f }

func isBraille(r rune) bool { return brailleBlank < r && r <= 0x28ff }

func isIdeograph(r rune) bool { return unicode.Is(unicode.Han, r) }

func isKeycapBase(r rune) bool { return '0' <= r && r <= '9' || r == '#' || r == '*' }

// isPictograph reports whether a character can be part of an emoji made of several characters.
func isPictograph(r rune) bool { return unicode.Is(pictographs, r) }

// hasEmojiStyle reports whether a character has both a text and an emoji form.
func hasEmojiStyle(r rune) bool { return isPictograph(r) || unicode.Is(symbols, r) }

// hasVariants reports whether a character has standardized variants: ideographs and their punctuation, mathematical
// signs, and letters of a few scripts.
func hasVariants(r rune) bool {
	return isIdeograph(r) || unicode.Is(unicode.Sm, r) && r > 0x7f || unicode.In(r, unicode.Myanmar, unicode.Phags_Pa, unicode.Manichaean) ||
		r == 0x3001 || r == 0x3002 || r == 0xff01 || r == 0xff0c || r == 0xff0e || r == 0xff1a || r == 0xff1b || r == 0xff1f
}

// joins reports whether a joiner changes the form of a character: letters and marks of Arabic and similar scripts, of
// Mongolian, and of the scripts of India and its neighbours.
func joins(r rune) bool { return unicode.Is(joining, r) && (unicode.IsLetter(r) || unicode.IsMark(r)) }

// gone are hidden characters that no Unicode property covers.
var gone = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x7f, 0x9f, 1},     // control characters
		{0x180e, 0x180e, 1}, // a zero-width vowel separator
		{0x2065, 0x2065, 1},
		{0xe000, 0xf8ff, 1}, // private use
		{0xfdd0, 0xfdef, 1}, // noncharacters; the others are the last two of each plane
	},
	R32: []unicode.Range32{
		{0x16fe4, 0x16fe4, 1},  // a filler
		{0x1d159, 0x1d159, 1},  // a null notehead
		{0xe0000, 0xe0fff, 1},  // tags, and the reserved range after them
		{0xf0000, 0x10ffff, 1}, // private use
	},
	LatinOffset: 1,
}

var pictographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x2190, 0x21ff, 1}, {0x2300, 0x23ff, 1}, {0x25a0, 0x27bf, 1}, {0x2900, 0x297f, 1}, {0x2b00, 0x2bff, 1},
	},
	R32: []unicode.Range32{{0x1f000, 0x1faff, 1}},
}

var symbols = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xa9, 0xa9, 1},
		{0xae, 0xae, 1},
		{0x203c, 0x203c, 1},
		{0x2049, 0x2049, 1},
		{0x2122, 0x2122, 1},
		{0x2139, 0x2139, 1},
		{0x24c2, 0x24c2, 1},
		{0x3030, 0x3030, 1},
		{0x303d, 0x303d, 1},
		{0x3297, 0x3297, 1},
		{0x3299, 0x3299, 1},
	},
	LatinOffset: 2,
}

// joining are the blocks of those scripts; they also contain marks that several scripts share.
var joining = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0600, 0x07ff, 1},
		{0x0840, 0x0dff, 1},
		{0x0f00, 0x109f, 1},
		{0x1700, 0x18af, 1},
		{0x1900, 0x194f, 1},
		{0x1a20, 0x1aaf, 1},
		{0x1b00, 0x1c4f, 1},
		{0x1cd0, 0x1cff, 1},
		{0xa800, 0xa8ff, 1},
		{0xa930, 0xaaff, 1},
		{0xabc0, 0xabff, 1},
		{0xfb50, 0xfdcf, 1},
		{0xfdf0, 0xfdff, 1},
		{0xfe70, 0xfefc, 1},
	},
	R32: []unicode.Range32{
		{0x10a00, 0x10a5f, 1},
		{0x10ac0, 0x10aff, 1},
		{0x10b80, 0x10baf, 1},
		{0x10d00, 0x10d3f, 1},
		{0x10ec0, 0x10fdf, 1},
		{0x11000, 0x11fff, 1},
		{0x1e900, 0x1e95f, 1},
	},
}
