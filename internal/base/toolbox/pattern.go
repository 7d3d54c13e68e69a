package toolbox

// Pattern matches tools by toolbox/server/tool. A '*' matches any characters, '/' included, and a '\' escapes the next
// character. Everything else matches itself, case included.
type Pattern string

// Check returns what is wrong with the pattern, or "".
func (p Pattern) Check() string {
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' {
			continue
		}
		if i++; i == len(p) {
			return `must not end with '\', which escapes the next character`
		}
	}
	return ""
}

// Matches reports whether the pattern matches the tool. It does not allocate.
func (p Pattern) Matches(ref Ref) bool {
	name := joinedRef{ref}
	length := name.len()
	// The position after the last '*', and how far that '*' reaches. Going back to the last one is enough: an earlier one
	// that reaches further leaves less for the rest.
	star, resume := -1, 0
	at := 0
	for i := 0; i < length; {
		literal, next, isStar, ok := p.next(at)
		switch {
		case ok && isStar:
			star, resume = next, i
			at = next
		case ok && literal == name.byte(i):
			at = next
			i++
		case star >= 0:
			resume++
			at, i = star, resume
		default:
			return false
		}
	}
	for at < len(p) && p[at] == '*' {
		at++
	}
	return at == len(p)
}

// MayMatch reports whether the pattern can match a tool of the server. It assumes that tool names contain no '/', so
// that it also detects a mistyped server name after a '*'.
func (p Pattern) MayMatch(toolbox, server string) bool {
	reached := make([]bool, len(p)+1) // positions at which the pattern can continue
	reached[0] = true
	for _, char := range []byte(toolbox + "/" + server + "/") {
		after := make([]bool, len(p)+1)
		for at := range len(p) {
			literal, next, isStar, _ := p.next(at)
			if !reached[at] {
				continue
			}
			if isStar {
				after[at], reached[next] = true, true
			} else if literal == char {
				after[next] = true
			}
		}
		reached = after
	}
	for at := range len(p) {
		if reached[at] && !p.holdsSlash(at) {
			return true
		}
	}
	return false
}

// holdsSlash reports whether the rest of the pattern matches a '/' literally.
func (p Pattern) holdsSlash(at int) bool {
	for at < len(p) {
		literal, next, isStar, _ := p.next(at)
		if !isStar && literal == '/' {
			return true
		}
		at = next
	}
	return false
}

// next returns the literal or the '*' at a position, and the position after it; ok is false at the end.
func (p Pattern) next(at int) (literal byte, next int, isStar, ok bool) {
	switch {
	case at >= len(p):
		return 0, at, false, false
	case p[at] == '*':
		return 0, at + 1, true, true
	case p[at] == '\\' && at+1 < len(p):
		return p[at+1], at + 2, false, true
	}
	return p[at], at + 1, false, true
}

// joinedRef reads as the text toolbox/server/tool without concatenating it.
type joinedRef struct{ Ref }

func (j joinedRef) len() int { return len(j.Toolbox) + len(j.Server) + len(j.Name) + 2 }

func (j joinedRef) byte(i int) byte {
	if i < len(j.Toolbox) {
		return j.Toolbox[i]
	}
	if i -= len(j.Toolbox); i == 0 {
		return '/'
	}
	if i--; i < len(j.Server) {
		return j.Server[i]
	}
	if i -= len(j.Server); i == 0 {
		return '/'
	}
	return j.Name[i-1]
}
