package catalog

import (
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Invisible text is removed from a definition only in prose. Values that a tool computes with (enum, const, default,
// pattern) never change. Names, keys and addresses cannot change either, since clients request entries by them: an
// entry with hidden text in one of them is not offered.

// maxCleanDepth bounds how deep a definition is examined; no real one comes near it.
const maxCleanDepth = 500

// maxPath bounds the path to a value that a warning shows, in bytes.
const maxPath = 120

// examined is the result of examining a definition.
type examined struct {
	definition wire.Payload // without the removed parts

	cleaned bool     // hidden text was removed
	dropped []string // members that were removed
	value   string   // path of the first value with hidden text, which stays unchanged; "" if none has
	fault   string   // why it cannot be offered, or ""
}

// examine checks and cleans a tool definition or the entry of a list. The result shares its bytes if nothing was
// removed.
func examine(source wire.Payload) (found examined) {
	found.definition = source
	if members := withoutTwins(source, inEntry, 0, &found.dropped); len(found.dropped) > 0 {
		found.definition = members
	}
	if !hidden.InJSON(source.Bytes()) {
		return found
	}
	var edits []wire.Edit
	found.inspect(found.definition, inEntry, "", 0, &edits)
	if len(edits) > 0 {
		found.cleaned = true
		found.definition = wire.Raw(wire.AppendEdited(make([]byte, 0, len(source.Bytes())), found.definition, edits...))
	}
	return found
}

// inspect records hidden text in a value, and appends the edits that clean its prose.
func (found *examined) inspect(value wire.Payload, in place, path string, depth int, edits *[]wire.Edit) {
	if depth > maxCleanDepth || !hidden.InJSON(value.Bytes()) {
		return
	}
	if value.Kind() == "string" {
		if found.value == "" {
			found.value = hidden.Show(path)
		}
		return
	}
	for element := range value.Elements() {
		found.inspect(element, in.element(), path, depth+1, edits)
	}
	for raw, member := range value.Members() {
		key := string(raw)
		if in != inValue && hidden.Has(key) {
			found.setFault("its definition has the key '" + hidden.Show(key) + "', which hides text")
		}
		if text, ok := member.Text(); ok && hidden.Has(text) {
			switch {
			case in.isName(key), in.isAddress(key):
				found.setFault("its '" + key + "' hides text: '" + hidden.Show(text) + "'")
				continue
			case in.isProse(key):
				*edits = append(*edits, wire.Edit{Part: member, With: wire.AppendString(nil, hidden.Clean(text))})
				continue
			}
		}
		found.inspect(member, in.within(key), joined(path, key), depth+1, edits)
	}
}

func (found *examined) setFault(fault string) {
	if found.fault == "" {
		found.fault = fault
	}
}

func joined(path, key string) string {
	if len(path) > maxPath {
		return path
	}
	if path != "" {
		path += "."
	}
	return path + key[:min(len(key), maxPath)]
}

// withoutTwins returns a value without members that programs disagree about: those that differ from a known key only in case,
// and duplicates in the definition itself, of which the last is kept, since the workbench uses it. It records the
// removed keys.
func withoutTwins(value wire.Payload, in place, depth int, dropped *[]string) wire.Payload {
	if depth > maxCleanDepth || in == inValue || in == inOther || in == inOtherMap {
		return value
	}
	var edits []wire.Edit
	change := func(part wire.Payload, in place) {
		if changed := withoutTwins(part, in, depth+1, dropped); len(changed.Bytes()) != len(part.Bytes()) {
			edits = append(edits, wire.Edit{Part: part, With: changed.Bytes()})
		}
	}
	for element := range value.Elements() {
		change(element, in.element())
	}
	keys, isTwin := keySet{}, false
	for key, member := range value.Members() {
		isTwin = in == inEntry && keys.add(key) || in.isTwin(key) || isTwin
		if kind := member.Kind(); kind == "object" || kind == "array" {
			change(member, in.within(string(key)))
		}
	}
	if len(edits) > 0 {
		value = wire.Raw(wire.AppendEdited(nil, value, edits...))
	}
	if !isTwin {
		return value
	}
	last, at := make(map[string]int), 0
	for key := range value.Members() {
		last[string(key)] = at
		at++
	}
	at = -1
	return wire.Raw(wire.AppendWithMembers(nil, value, func(key string) bool {
		at++
		if (in != inEntry || last[key] == at) && !in.isTwin([]byte(key)) {
			return false
		}
		*dropped = append(*dropped, key)
		return true
	}, nil))
}

// keySet detects duplicate keys of an object, without a map if there are few.
type keySet struct {
	few  [24][]byte
	n    int
	many map[string]bool
}

func (s *keySet) add(key []byte) (known bool) {
	if s.many != nil {
		known = s.many[string(key)]
		s.many[string(key)] = true
		return known
	}
	for _, other := range s.few[:s.n] {
		if string(other) == string(key) {
			return true
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = key
		s.n++
		return false
	}
	s.many = map[string]bool{string(key): true}
	for _, other := range s.few {
		s.many[string(other)] = true
	}
	return false
}

// describe returns warnings about removed parts and remaining hidden text.
func (found *examined) describe(what string) (warnings []string) {
	if found.cleaned {
		warnings = append(warnings, "Invisible text was removed from the definition of "+what)
	}
	if found.value != "" {
		warnings = append(warnings, "The definition of "+what+" has invisible text in a value, which is unchanged: "+found.value)
	}
	if len(found.dropped) > 0 {
		warnings = append(warnings, "Duplicate members, and members that differ from a known one only in case, were removed from the definition of "+
			what+": "+hidden.Show(strings.Join(found.dropped, ", ")))
	}
	return warnings
}
