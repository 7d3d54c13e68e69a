package config

import (
	"bytes"
	"fmt"
)

// maxDepth is the nesting of a configuration file; a deeper one is an error. The file's structure needs 7 levels. The
// parser is recursive, and a file of brackets must not overflow its stack.
const maxDepth = 100

// tokens is the result of reading the text without its grammar: the broken string or comment, and the brackets still
// open at the end.
type tokens struct {
	open    []int // offsets of unclosed brackets
	fault   *fault
	tooDeep bool // the fault is the nesting, and the text must not be parsed
}

// fault is a broken token: its start, and the position of the mistake.
type fault struct {
	token, offset int
	message, hint string
}

// lex reads up to the first broken token.
func lex(data []byte) (t tokens) {
	for i := 0; i < len(data); {
		end := i + 1
		switch data[i] {
		case '"':
			end, t.fault = lexString(data, i)
		case '/':
			end, t.fault = lexComment(data, i)
		case '{', '[':
			t.open = append(t.open, i)
			if len(t.open) > maxDepth {
				t.tooDeep = true
				t.fault = &fault{i, i, fmt.Sprintf("nested more than %d levels deep", maxDepth), ""}
			}
		case '}', ']':
			t.open = t.open[:max(0, len(t.open)-1)]
		}
		if t.fault != nil {
			return t
		}
		i = end
	}
	return t
}

// lexString returns the end of the string that starts at start.
func lexString(data []byte, start int) (int, *fault) {
	for i := start + 1; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			size := escapeSize(data[i:])
			if size == 0 {
				return 0, &fault{start, i, "invalid escape in a string", `write a backslash as \\`}
			}
			i += size - 1
		case c == '\n' || c == '\r':
			return 0, &fault{start, start, "the string that starts here is not closed on its line", `a line break in a string is written \n`}
		case c < ' ':
			return 0, &fault{start, i, fmt.Sprintf("control character U+%04X in a string", c), fmt.Sprintf(`write it as \u%04x`, c)}
		}
	}
	return 0, &fault{start, start, "the string that starts here is not closed", ""}
}

// escapeSize returns the length of the escape at the start of data, or 0.
func escapeSize(data []byte) int {
	switch {
	case len(data) >= 2 && bytes.IndexByte([]byte(`"\/bfnrt`), data[1]) >= 0:
		return 2
	case len(data) >= 6 && data[1] == 'u' && len(bytes.Trim(data[2:6], "0123456789abcdefABCDEF")) == 0:
		return 6
	}
	return 0
}

// lexComment returns the end of the comment at start, or of the slash if no comment starts there.
func lexComment(data []byte, start int) (int, *fault) {
	rest := data[start:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			return start + end, nil
		}
		return len(data), nil
	case bytes.HasPrefix(rest, []byte("/*")):
		if end := bytes.Index(rest[2:], []byte("*/")); end >= 0 {
			return start + 2 + end + 2, nil
		}
		return 0, &fault{start, start, "the comment that starts here is not closed", "end it with */"}
	}
	return start + 1, nil
}
