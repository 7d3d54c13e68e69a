package condition

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sqlKind is the kind of a token.
type sqlKind uint8

const (
	sqlWord   sqlKind = iota + 1 // a keyword or a name
	sqlQuoted                    // a name in quotes, or a string of dialects that use double quotes for it
	sqlString                    // in single quotes
	sqlNumber
	sqlSign // a single character
)

// sqlToken is one token of a statement.
type sqlToken struct {
	kind sqlKind
	text string // of a word in capitals, of quoted text what is inside of the quotes
}

func (t sqlToken) is(sign string) bool { return t.kind == sqlSign && t.text == sign }

func (t sqlToken) isWord(words ...string) bool {
	if t.kind != sqlWord {
		return false
	}
	for _, word := range words {
		if t.text == word {
			return true
		}
	}
	return false
}

// Dialects disagree on where quotes and comments end. What they disagree on is refused.
var (
	errSQLQuotes   = errors.New("where its quotes end depends on the dialect")
	errSQLComments = errors.New("where its comments end depends on the dialect")
	errSQLSigns    = errors.New("it has characters that are not understood")
)

// sqlScanner splits a statement into tokens.
type sqlScanner struct {
	text string
	at   int

	// hashComments: '#' starts a comment, as in MySQL. In other dialects it is an operator or part of a name.
	hashComments bool

	inBrackets bool // names in one dialect, lists in another
	tokens     []sqlToken
}

func scanSQL(text string, hashComments bool) ([]sqlToken, error) {
	s := sqlScanner{text: text, hashComments: hashComments}
	for s.at < len(text) {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	if s.inBrackets {
		return nil, errSQLQuotes
	}
	return s.tokens, nil
}

func (s *sqlScanner) add(kind sqlKind, text string) {
	s.tokens = append(s.tokens, sqlToken{kind, text})
}

// next scans a token, a comment or a space.
func (s *sqlScanner) next() error {
	rest := s.text[s.at:]
	c := rest[0]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		s.at++
		return nil
	case strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "/*") || c == '#' && s.hashComments:
		return s.comment(rest)
	case c == '\'' || c == '"' || c == '`':
		return s.quoted(rest)
	case c >= '0' && c <= '9':
		return s.number(rest)
	case isSQLStart(rest):
		return s.word(rest)
	}
	return s.sign(rest)
}

// comment skips a comment.
func (s *sqlScanner) comment(rest string) error {
	if s.inBrackets {
		return errSQLComments
	}
	if strings.HasPrefix(rest, "/*") {
		inner, _, ok := strings.Cut(rest[2:], "*/")
		switch {
		case !ok, strings.Contains(inner, "/*"): // some dialects nest them
			return errSQLComments
		case strings.HasPrefix(inner, "!"), strings.HasPrefix(inner, "M!"), strings.HasPrefix(inner, "+"): // run, or read as hints
			return errSQLComments
		case strings.HasSuffix(inner, "/"): // "/*/" closes a comment in some programs
			if inner == "/" {
				return errSQLComments
			}
		}
		s.at += len("/*") + len(inner) + len("*/")
		return nil
	}
	line, _, _ := strings.Cut(rest, "\n")
	if strings.ContainsFunc(strings.TrimSuffix(line, "\r"), func(r rune) bool { return r != '\t' && isControl(r) }) {
		return errSQLComments // some of these end a line, in some dialects
	}
	if strings.HasPrefix(rest, "--") && len(line) > 2 && !strings.ContainsRune(" \t\r", rune(line[2])) {
		return errSQLComments // two minus signs in MySQL
	}
	s.at += len(line)
	return nil
}

// quoted scans a string, or a name in quotes.
func (s *sqlScanner) quoted(rest string) error {
	quote := rest[:1]
	if strings.HasPrefix(rest, quote+quote+quote) { // one quote of its own in one dialect, a longer kind of quote in another
		return errSQLQuotes
	}
	end := 1
	for {
		length := strings.Index(rest[end:], quote)
		if length < 0 {
			return errSQLQuotes
		}
		if end += length; rest[end-1] == '\\' {
			return errSQLQuotes
		}
		if end++; !strings.HasPrefix(rest[end:], quote) {
			break
		}
		end++ // a doubled one is part of the text
	}
	inner := rest[1 : end-1]
	if s.inBrackets && strings.ContainsAny(inner, "[]") || strings.Contains(inner, "\x00") || strings.HasSuffix(inner, `\`) {
		return errSQLQuotes
	}
	if quote == "`" && (strings.ContainsAny(inner, ";'\"#") || strings.Contains(inner, "--") || strings.Contains(inner, "/*")) {
		return errSQLQuotes // an operator in some dialects
	}
	kind := sqlQuoted
	if quote == "'" {
		kind = sqlString
	}
	s.add(kind, inner)
	s.at += end
	return nil
}

// number scans a number. One that a letter follows is two tokens in some dialects.
func (s *sqlScanner) number(rest string) error {
	end := 0
	if hasPrefixFold(rest, "0x") {
		end = 2 + span(rest[2:], "0123456789abcdefABCDEF")
	} else {
		end = span(rest, "0123456789.")
		if end < len(rest) && rest[end]|0x20 == 'e' {
			sign := span(rest[end+1:], "+-")
			digits := span(rest[end+1+sign:], "0123456789")
			if sign > 1 || digits == 0 {
				return errSQLSigns
			}
			end += 1 + sign + digits
		}
	}
	if isSQLStart(rest[end:]) || strings.HasPrefix(rest[end:], "$") {
		return errSQLSigns
	}
	s.add(sqlNumber, rest[:end])
	s.at += end
	return nil
}

// span returns how many of the first bytes of a text are among some characters.
func span(text, characters string) int {
	return len(text) - len(strings.TrimLeft(text, characters))
}

// stringPrefixes are the words that may stand directly before a quote. Others change what is special inside of it.
var stringPrefixes = words(`E N X B DATE TIME TIMESTAMP INTERVAL`)

func (s *sqlScanner) word(rest string) error {
	end := 0
	for end < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[end:])
		if !isSQLLetter(r) && (r < '0' || r > '9') && r != '$' {
			break
		}
		end += size
	}
	word := strings.ToUpper(rest[:end])
	if end < len(rest) && strings.IndexByte("'\"`", rest[end]) >= 0 && !stringPrefixes[word] {
		return errSQLQuotes
	}
	s.add(sqlWord, word)
	s.at += end
	return nil
}

func isSQLStart(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest != "" && isSQLLetter(r)
}

// isSQLLetter reports whether a character is part of names in all dialects.
func isSQLLetter(r rune) bool {
	return r == '_' || r < 0x80 && unicode.IsLetter(r) || r >= 0x80 && r != utf8.RuneError && unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lo)
}

// sign scans a single character that is understood in the same way everywhere.
func (s *sqlScanner) sign(rest string) error {
	c := rest[:1]
	next := ""
	if len(rest) > 1 {
		next = rest[1:2]
	}
	switch pair := c + next; {
	case strings.IndexByte("()[],.;=<>!+-*/%^&|~?:@#$", rest[0]) < 0:
		return errSQLSigns
	case pair == "//", pair == ":=", pair == "|>", pair == "@'", pair == "@\"", pair == "@`", pair == "&'", pair == "&\"":
		return errSQLSigns
	case c == "$" && (next == "" || span(rest[1:], "0123456789") == 0 || strings.HasPrefix(strings.TrimLeft(rest[1:], "0123456789"), "$")):
		return errSQLQuotes // a string until the same sign in one dialect, a name in another
	case c == "[" && s.inBrackets, c == "]" && (!s.inBrackets || next == "]"), c == ";" && s.inBrackets:
		return errSQLQuotes
	case c == "[":
		s.inBrackets = true
	case c == "]":
		s.inBrackets = false
	}
	s.add(sqlSign, c)
	s.at++
	return nil
}
