package passthrough

import "strings"

// Limits of matching. A template beyond them matches nothing, so that no server can make the lookup of a URI expensive.
const (
	maxTemplateRuns = 32      // expressions of a URI template; one with more matches nothing
	maxMatchedURI   = 8 << 10 // size of a URI that is matched; a longer one matches nothing
)

// template is a URI template of RFC 6570 that URIs are matched against. Like the SDKs that servers are built with, it is
// lenient in what a variable may hold.
type template struct {
	text  string
	parts []templatePart // nil: matches nothing
}

// templatePart is a literal, or a run of bytes that an expression may have expanded to.
type templatePart struct {
	literal string
	isRun   bool
	lead    byte   // the first byte of the run, which is then optional; 0: the run begins with any byte, and is not empty
	stop    string // bytes that the run does not contain
}

func parseTemplate(text string) template {
	t := template{text: text}
	var parts []templatePart
	runs := 0
	for rest := text; rest != ""; {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			parts = append(parts, templatePart{literal: rest})
			break
		}
		if open > 0 {
			parts = append(parts, templatePart{literal: rest[:open]})
		}
		end := strings.IndexByte(rest, '}')
		if end < open+2 || runs == maxTemplateRuns {
			return t
		}
		run, ok := parseExpression(rest[open+1 : end])
		if !ok {
			return t
		}
		parts = append(parts, run)
		runs++
		rest = rest[end+1:]
	}
	t.parts = parts
	return t
}

// parseExpression reads the text between braces, which is not empty.
func parseExpression(expression string) (run templatePart, ok bool) {
	run.isRun = true
	switch expression[0] {
	case '+':
	case '#':
		run.lead = '#'
	case '.':
		run.lead, run.stop = '.', "/"
	case '/':
		run.lead, run.stop = '/', "?#"
	case ';':
		run.lead, run.stop = ';', "/?#"
	case '?':
		run.lead, run.stop = '?', "#"
	case '&':
		run.lead, run.stop = '&', "#"
	case '=', ',', '!', '@', '|', '{': // reserved by the RFC, or not an expression
		return run, false
	default:
		run.stop = "/"
		return run, true
	}
	return run, len(expression) > 1
}

// matches reports whether the URI may be an expansion of the template. Its time is bounded by the number of parts times
// the length of the URI.
func (t template) matches(uri string) bool {
	if len(t.parts) == 0 || len(uri) > maxMatchedURI || !strings.HasPrefix(uri, t.parts[0].literal) {
		return false
	}
	// reached[i] says that the parts so far may match the first i bytes.
	reached := make([]bool, len(uri)+1)
	reached[0] = true
	for _, p := range t.parts {
		next := make([]bool, len(uri)+1)
		if p.isRun {
			p.advance(uri, reached, next)
		} else {
			for i := range reached {
				if reached[i] && strings.HasPrefix(uri[i:], p.literal) {
					next[i+len(p.literal)] = true
				}
			}
		}
		reached = next
	}
	return reached[len(uri)]
}

// advance finds the places where a run may end that begins at a reached place.
func (p templatePart) advance(uri string, reached, next []bool) {
	inside := false
	for i := range reached {
		next[i] = inside || p.lead != 0 && reached[i]
		if i == len(uri) {
			return
		}
		held := strings.IndexByte(p.stop, uri[i]) < 0
		begins := reached[i] && (p.lead == 0 && held || p.lead != 0 && p.lead == uri[i])
		inside = inside && held || begins
	}
}
