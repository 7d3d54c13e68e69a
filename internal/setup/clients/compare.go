package clients

import (
	"slices"
	"strconv"
)

// member returns a member, and whether it exists.
func (v value) member(name string) (value, bool) {
	i := slices.IndexFunc(v.members, func(m member) bool { return m.name == name })
	if i < 0 {
		return value{}, false
	}
	return v.members[i].value, true
}

// with returns the object with a member replaced or removed.
func (v value) with(name string, held value, isHeld bool) value {
	i := slices.IndexFunc(v.members, func(m member) bool { return m.name == name })
	members := slices.Clone(v.members)
	switch {
	case i >= 0 && isHeld:
		members[i].value = held
	case i >= 0:
		members = slices.Delete(members, i, i+1)
	case isHeld:
		members = append(members, member{name, held})
	}
	return value{kind: v.kind, members: members}
}

// asObject returns the value as an object, which a missing one becomes.
func (v value) asObject() value {
	v.kind = object
	return v
}

// isLikeMissing reports whether a value is equivalent to a missing one.
func (v value) isLikeMissing() bool {
	return v.isEmpty() || v.kind == literal && v.text == "false"
}

// same reports whether two trees are equivalent, regardless of the order of members and the notation of numbers.
func same(a, b value) bool {
	if a.kind != b.kind || len(a.members) != len(b.members) {
		return false
	}
	for _, m := range a.members {
		if other, ok := b.member(m.name); !ok || !same(m.value, other) {
			return false
		}
	}
	if !slices.EqualFunc(a.items, b.items, same) {
		return false
	}
	return a.text == b.text || a.kind == literal && sameNumber(a.text, b.text)
}

func sameNumber(a, b string) bool {
	first, err := strconv.ParseFloat(a, 64)
	if err != nil {
		return false
	}
	second, err := strconv.ParseFloat(b, 64)
	return err == nil && first == second
}
