package call

import (
	"bytes"
	"errors"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// tellObservers tells the observers how the request ended.
func (r *run) tellObservers(outcome Outcome, err error) {
	t := &r.timing
	end := End{
		Status: r.statusOf(outcome, err), Began: t.began, Took: t.end(),
		Start: t.spent[inStart], Server: t.spent[atServer] + t.spent[awaitsServer], Waited: t.waited(), Sent: t.sent, Answered: t.answered,
		RequestSize: r.requestSize, ResponseSize: len(outcome.Result.Bytes()) + len(outcome.Error.Bytes()),
	}
	end.ErrorType = r.typeOf(end.Status, outcome, err)
	if r.lease != nil {
		end.Usage = r.lease.Usage(t.since)
	}
	if err != nil {
		end.Over, _ = errors.AsType[*fleet.MemoryLimitError](err)
	}
	if end.Status == StatusRefused {
		end.Rule = ruleOf(err)
	}
	for _, observer := range r.router.stages.Observe {
		observer.CallEnded(&r.call, end)
	}
}

// ruleOf returns the rule that refused a request; "" if none did.
func ruleOf(err error) string {
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure.Rule
	}
	return ""
}

func (r *run) statusOf(outcome Outcome, err error) Status {
	switch {
	case r.status != 0:
		return r.status
	case err != nil:
		if _, ok := errors.AsType[*Failure](err); ok {
			return StatusFailed
		}
		return StatusCancelled
	case !outcome.Error.IsAbsent():
		return StatusRPCError
	}
	return r.statusOfResult(outcome.Result.Bytes())
}

// statusOfResult reads what a result says of itself.
func (r *run) statusOfResult(result []byte) Status {
	switch {
	case r.call.Method == protocol.MethodToolsCall && hasMember(result, isErrorKey, "true"):
		return StatusToolError
	case r.crossing == sameEra && r.call.Client.Profile().Modern() && hasMember(result, resultTypeKey, `"`+protocol.ResultInputRequired+`"`):
		return StatusInputRequired
	}
	return StatusOK
}

var isErrorKey, resultTypeKey = []byte(`"isError"`), []byte(`"` + protocol.ResultType + `"`)

// maxTail is how much of a result is searched for its members, from the beginning, and from the end.
const maxTail = 1 << 10

// hasMember reports whether an object has a member of this value where it begins, or where it ends. It does not see one
// between long members, since reading all of a long result would take longer than forwarding it.
func hasMember(object, key []byte, value string) bool {
	return beginsWith(object, key, value) || endsWith(object[max(0, len(object)-maxTail):], key, value)
}

func beginsWith(object, key []byte, value string) bool {
	head := object[:min(len(object), maxTail)]
	for from := 0; ; {
		at := bytes.Index(head[from:], key)
		if at < 0 {
			return false
		}
		at += from
		from = at + len(key)
		if isValue(object[from:], value) && isInObject(head[:at]) {
			return true
		}
	}
}

func endsWith(tail, key []byte, value string) bool {
	for {
		at := bytes.Index(tail, key)
		if at < 0 {
			return false
		}
		isEscaped := at > 0 && tail[at-1] == '\\'
		tail = tail[at+len(key):]
		if !isEscaped && isValue(tail, value) && closesAtEnd(tail) {
			return true
		}
	}
}

// isValue reports whether a member's key is followed by its value.
func isValue(rest []byte, value string) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(value))
}

// isInObject reports whether the next byte after the beginning of an object is in the object itself, and not in one of its
// members.
func isInObject(beginning []byte) bool {
	depth, inText, _ := nesting(beginning)
	return depth == 1 && !inText
}

// closesAtEnd reports whether the last byte is what closes the object, so that the rest begins in the object itself and not
// in one of its members.
func closesAtEnd(rest []byte) bool {
	_, _, closing := nesting(rest)
	return closing >= 0 && closing == len(rest)-1
}

// nesting returns how deep the end of a part of a JSON text is in it, and whether it is in a string. It stops at closing, the
// byte that closes what the part began in; -1 without one.
func nesting(part []byte) (depth int, inText bool, closing int) {
	for i := 0; i < len(part); i++ {
		switch b := part[i]; {
		case b == '"':
			inText = !inText
		case inText:
			if b == '\\' {
				i++
			}
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			if depth--; depth < 0 {
				return depth, false, i
			}
		}
	}
	return depth, inText, -1
}
