package wire

import (
	"bytes"
	"unicode/utf8"
)

// Skim finds the id of a message that could not be parsed, so that whoever waits
// for it can be told; hasMethod says that it was a request. It reads JSON only as
// far as it must, and gives up silently: an empty id means that none was found.
func Skim(message []byte) (id []byte, hasMethod bool) {
	var s skimmer
	s.feed(message)
	return s.id, s.hasMethod
}

// longestSkim bounds what is remembered of a key or an id.
const longestSkim = 256

// skimmer looks for the members "id" and "method" at the top of an object that
// streams by, and keeps nothing else of it.
type skimmer struct {
	id        []byte
	hasMethod bool

	depth            int
	inString, escape bool
	inValue          bool   // at depth 1: after the colon, not before it
	text             []byte // at depth 1: the key, or the value of an id, so far
	wantID           bool
}

func (s *skimmer) feed(data []byte) {
	for _, c := range data {
		if s.depth == 1 && len(s.text) < longestSkim && (s.wantID || !s.inValue) {
			s.keep(c)
		}
		if s.inString {
			switch {
			case s.escape:
				s.escape = false
			case c == '\\':
				s.escape = true
			case c == '"':
				s.inString = false
			}
			continue
		}
		s.structural(c)
	}
}

func (s *skimmer) keep(c byte) {
	if s.inString || c != ',' && c != '}' && c != ':' {
		s.text = append(s.text, c)
	}
}

func (s *skimmer) structural(c byte) {
	switch c {
	case '"':
		s.inString = true
	case '{', '[':
		s.depth++
	case '}', ']':
		if s.depth == 1 {
			s.endMember()
		}
		s.depth--
	case ':':
		if s.depth == 1 && !s.inValue {
			key := string(bytes.TrimSpace(s.text))
			s.inValue, s.text = true, s.text[:0]
			s.wantID = key == `"id"` && s.id == nil
			s.hasMethod = s.hasMethod || key == `"method"`
		}
	case ',':
		if s.depth == 1 {
			s.endMember()
		}
	}
}

func (s *skimmer) endMember() {
	// A text of full length may lack its end.
	if value := bytes.TrimSpace(s.text); s.wantID && len(s.text) < longestSkim && isID(value) {
		s.id = bytes.Clone(value)
	}
	s.inValue, s.wantID, s.text = false, false, s.text[:0]
}

func isID(value []byte) bool {
	return len(value) > 0 && utf8.Valid(value) && validate(value) == nil &&
		(value[0] == '"' || value[0] == '-' || '0' <= value[0] && value[0] <= '9')
}
