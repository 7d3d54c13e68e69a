package metatool

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const readResultName = "read_result"

// Limits of read_result.
const (
	matchesUsual = 20
	matchesMost  = 200
	maxPattern   = 1000 // bytes of a regular expression
	maxQuoted    = 200  // bytes of an argument that an error repeats
	matchLine    = 400  // bytes of a line that is shown whole
	matchAround  = 150  // bytes before and behind a match in a longer line

	// Longer lines are searched in pieces: some patterns are slow, and between two pieces the
	// search can be stopped.
	matchPiece = 16 << 10
	matchTime  = 2 * time.Second // for one search in a kept result; then the answer says where to go on
)

// offersReadResult reports whether large results are kept for the session's client, or without a session, for any client.
func (s *Surface) offersReadResult(session Session) bool {
	return session == nil && s.discovery.MaxResultBytes > 0 || s.resultsFor(session) != nil
}

func (s *Surface) readResultDefinition() []byte {
	return []byte(`{"name":"read_result","title":"Read a large result",` +
		`"description":"Read on in a result that was too large to be shown whole, by the handle that its head names: a part by bytes, lines that match a regular expression, or a value by its path.",` +
		`"inputSchema":{"type":"object","properties":{` +
		`"handle":{"type":"string","minLength":1,"description":"Which result, as its head says"},` +
		`"path":{"type":"string","minLength":1,"description":"Read just this part, such as content[0].text or structuredContent.items[3].name; strings that hold JSON are stepped into"},` +
		`"offset":{"type":"integer","minimum":0,"default":0,"description":"Where to begin, in bytes"},` +
		`"length":{"type":"integer","minimum":1,"description":"How many bytes at most; by default and at most what is passed on at once"},` +
		`"grep":{"type":"string","minLength":1,"description":"Show what matches this regular expression (RE2), line by line with its offset"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":200,"default":20,"description":"How many matches to show"}},` +
		`"required":["handle"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},` +
		`"_meta":{` + alwaysLoad + `}}`)
}

// readRequest holds the arguments of read_result.
type readRequest struct {
	handle, path   string
	grep           *regexp.Regexp // nil: read on
	offset, length int
	limit          int
}

// parseRead reads the arguments; problem describes all mistakes in them.
func parseRead(arguments wire.Payload) (r readRequest, problem string) {
	if kind := arguments.Kind(); kind != "object" && kind != "null" && kind != "undefined" {
		return r, "Expected object, received " + kind
	}
	r.limit, r.length = matchesUsual, math.MaxInt32
	var problems []string
	var pattern string
	named := false
	for key, value := range arguments.Members() {
		switch key := string(key); key {
		case "handle":
			named = true
			r.handle, problems = textArgument(key, value, problems)
		case "path":
			r.path, problems = textArgument(key, value, problems)
		case "grep":
			pattern, problems = textArgument(key, value, problems)
		case "offset":
			r.offset, problems = numberArgument(key, value, 0, math.MaxInt32, problems)
		case "length":
			r.length, problems = numberArgument(key, value, 1, math.MaxInt32, problems)
		case "limit":
			r.limit, problems = numberArgument(key, value, 1, matchesMost, problems)
		default:
			problems = append(problems, fmt.Sprintf("Unrecognized key: '%s'", key))
		}
	}
	if !named {
		problems = append([]string{"handle: Required"}, problems...)
	}
	if pattern != "" {
		var err error
		if r.grep, err = compilePattern(pattern); err != nil {
			problems = append(problems, "grep: "+err.Error())
		}
	}
	return r, strings.Join(problems, "; ")
}

func compilePattern(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("Expected at most %d bytes", maxPattern) //nolint:staticcheck // the words of a parameter's problem
	}
	return regexp.Compile(pattern)
}

func (s *Surface) readResult(request Request) {
	r, problem := parseRead(request.Arguments)
	if problem != "" {
		request.fail("Invalid parameters: " + problem)
		return
	}
	result, handles := s.resultsFor(request.Session).find(r.handle)
	if result.IsAbsent() {
		text := fmt.Sprintf("Result '%s' is not kept, or not any more: a client's last %d large results are, up to %d MiB, for %d minutes. Call the tool again",
			cutText(r.handle, maxQuoted), keptResults, keptBytes>>20, int(keptTime.Minutes()))
		if len(handles) > 0 {
			text += ". There are: " + strings.Join(handles, ", ")
		}
		request.fail(text)
		return
	}
	go func() { // it may be many megabytes
		ctx, stop := request.Canceller.Context()
		defer stop()
		text, path := mainText(result)
		if r.path != "" {
			value, err := valueAt(result, r.path)
			if err != nil {
				request.fail(fmt.Sprintf("Nothing in result '%s' at the path '%s': %v", r.handle, cutText(r.path, maxQuoted), err))
				return
			}
			path = r.path
			if held, ok := value.Text(); ok {
				text = held
			} else {
				text = string(value.Bytes())
			}
		}
		request.Answerer.Answer(r.answer(ctx, text, path, s.discovery.MaxResultBytes))
	}()
}

// answer returns the requested part of a text.
func (r readRequest) answer(ctx context.Context, text, path string, most int) Answer {
	if path == "" {
		path = "the whole result as JSON"
	}
	if r.offset > len(text) || r.offset == len(text) && r.offset > 0 {
		return Answer{Text: textResult(true, fmt.Sprintf("offset: %d is behind the end: %s has %d bytes", r.offset, path, len(text)))}
	}
	if r.grep != nil {
		return r.matches(ctx, text, path, most)
	}
	start := r.offset + cutAtNext(text[r.offset:])
	end := start + cutAt(text[start:], min(r.length, most))
	note := fmt.Sprintf("Bytes %d to %d of %d of %s.", start, end, len(text), path)
	if end < len(text) {
		note += fmt.Sprintf(" The next part begins at offset %d.", end)
	}
	return Answer{Text: textResult(false, note, text[start:end])}
}

// cutAtNext returns the offset of the first whole character.
func cutAtNext(text string) int {
	for i := range min(len(text), 4) {
		if text[i]&0xC0 != 0x80 {
			return i
		}
	}
	return 0
}

// matches lists the matches of grep, from the offset on.
func (r readRequest) matches(ctx context.Context, text, path string, most int) Answer {
	var out strings.Builder
	found, at := 0, r.offset
	next := -1 // where to go on if not all is shown
	began := time.Now()
	for at < len(text) && next < 0 {
		if ctx.Err() != nil {
			return Answer{Cancelled: context.Cause(ctx)}
		}
		if time.Since(began) > matchTime {
			next = at
			break
		}
		line, until := piece(text[at:])
		for _, span := range spans(r.grep, line, until, r.limit-found+1) {
			shown := fmt.Sprintf("%d: %s\n", at+span[0], line[span[0]:span[1]])
			if found == r.limit || found > 0 && out.Len()+len(shown) > most {
				next = at + span[0]
				break
			}
			out.WriteString(shown)
			found++
		}
		at += until
	}
	note := fmt.Sprintf("Matches shown: %d, in %s from byte %d on, each with its offset.", found, path, r.offset)
	if found == 0 {
		note = fmt.Sprintf("Nothing matches in %s, from byte %d on.", path, r.offset)
	}
	if next >= 0 {
		note += fmt.Sprintf(" Not all was searched: go on with offset %d.", next)
	}
	if found == 0 {
		return Answer{Text: textResult(false, note)}
	}
	return Answer{Text: textResult(false, note, strings.TrimSuffix(out.String(), "\n"))}
}

// piece returns the first line of a text, or a piece of it, and the offset of the next one. Pieces of a line overlap,
// so that a match is whole in one of them.
func piece(text string) (line string, next int) {
	end := strings.IndexByte(text[:min(len(text), matchPiece)], '\n')
	switch {
	case end >= 0:
		return text[:end], end + 1
	case len(text) <= matchPiece:
		return text, len(text)
	}
	end = cutAt(text, matchPiece)
	return text[:end], cutAt(text, end-matchLine)
}

// spans returns the parts of a line to show: all of a short line, or each match that begins before until, with its
// surroundings.
func spans(grep *regexp.Regexp, line string, until, limit int) (spans [][2]int) {
	if len(line) <= matchLine {
		if grep.MatchString(line) {
			return [][2]int{{0, len(line)}}
		}
		return nil
	}
	for _, match := range grep.FindAllStringIndex(line, limit) {
		start := max(match[0]-matchAround, 0)
		end := min(match[1], match[0]+matchLine) + matchAround
		start += cutAtNext(line[start:])
		end = start + cutAt(line[start:], end-start)
		if len(spans) > 0 && match[0] < spans[len(spans)-1][1] {
			continue // it is to be seen already
		}
		if match[0] >= until {
			break // the next piece has it
		}
		spans = append(spans, [2]int{start, end})
	}
	return spans
}
