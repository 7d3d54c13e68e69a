package wire

import (
	"bytes"
	"cmp"
	"slices"
)

// Edit replaces one part of a value by other raw JSON.
type Edit struct {
	Part Payload // found in the value that is edited
	With []byte
}

// AppendEdited appends the value with the edits applied, which must not overlap; their
// order does not matter, but it is changed. All other bytes stay as they are.
func AppendEdited(dst []byte, value Payload, edits ...Edit) []byte {
	if len(edits) > 1 {
		slices.SortFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Part.start, b.Part.start) })
	}
	at := value.start
	for _, edit := range edits {
		dst = append(dst, value.buf[at:edit.Part.start]...)
		dst = append(dst, edit.With...)
		at = edit.Part.end
	}
	return append(dst, value.buf[at:value.end]...)
}

// AppendWithMembers appends an object with further members after its own. Members of
// its own for which drop is true are left out, and none without drop; all others stay as they
// are. Extra is the raw text of the members, without braces.
func AppendWithMembers(dst []byte, object Payload, drop func(key string) bool, extra []byte) []byte {
	if drop == nil && object.Kind() == "object" {
		dst = append(dst, bytes.TrimRight(object.buf[object.start:object.end-1], " \t\r\n")...)
		if len(extra) > 0 && dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		return append(append(dst, extra...), '}')
	}
	type span struct{ start, end int }
	var kept []span
	dropped := false
	for key, value := range object.Pairs() {
		if drop(string(unquote(key.Bytes()))) {
			dropped = true
			continue
		}
		kept = append(kept, span{key.start, value.end})
	}
	if !dropped && len(kept) > 0 {
		dst = append(dst, object.buf[object.start:kept[len(kept)-1].end]...)
	} else {
		dst = append(dst, '{')
		for i, member := range kept {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, object.buf[member.start:member.end]...)
		}
	}
	if len(kept) > 0 && len(extra) > 0 {
		dst = append(dst, ',')
	}
	dst = append(dst, extra...)
	return append(dst, '}')
}

// AppendMember appends a member with a string value, and a comma before it if dst
// already ends in another one.
func AppendMember(dst []byte, key, value string) []byte {
	if len(dst) > 0 && dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = AppendString(dst, key)
	dst = append(dst, ':')
	return AppendString(dst, value)
}
