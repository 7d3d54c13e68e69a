package passthrough

import (
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file is about skills, an extension: folders of files that are resources. Where two servers
// have a skill of one URI, the second one is renamed as a whole, with all of its files, and in the
// form that leaves paths alone: files refer to each other by relative paths.

// skillScheme begins the URIs of most skills.
const skillScheme = "skill://"

// nameSkills replaces the URIs of skills by those that the client knows. Called with mu held.
func (m *Memory) nameSkills(lists []offered, names [][]string) {
	m.makeRoom(&m.uris, skills, lists)
	for i, list := range lists {
		for j, uri := range names[i] {
			if uri == "" {
				continue
			}
			if m.uris.give(list.origin, uri) != uri {
				names[i][j] = list.origin.renameTemplate(uri)
				m.renamed.Store(true)
				continue
			}
			for file := range list.entries[j].Member("resources").Elements() {
				if uri, _ := file.Member("uri").Text(); uri != "" && !isOurs(uri) && !m.uris.isFull() {
					m.uris.give(list.origin, uri)
				}
			}
		}
	}
}

// appendSkill appends the entry of a skill, the server's own but for its URI and those of its
// files if that is another.
func appendSkill(dst []byte, o origin, entry wire.Payload, name string) []byte {
	if own, ok := entry.Member(skills.Key).Text(); !ok || own == name {
		return append(dst, entry.Bytes()...)
	}
	return wire.AppendEdited(dst, entry, skillEdits(nil, o, entry, name)...)
}

// skillEdits appends the edits that rename a skill with its files, in the order of the entry.
func skillEdits(edits []wire.Edit, o origin, entry wire.Payload, name string) []wire.Edit {
	for key, value := range entry.Members() {
		switch string(key) {
		case skills.Key:
			edits = append(edits, wire.Edit{Part: value, With: wire.AppendString(nil, name)})
		case "resources":
			for file := range value.Elements() {
				part := file.Member("uri")
				if uri, ok := part.Text(); ok {
					edits = append(edits, wire.Edit{Part: part, With: wire.AppendString(nil, o.renameTemplate(uri))})
				}
			}
		}
	}
	return edits
}

// skill looks at the entry of a skill, if one was asked for.
func (l *linker) skill(entry wire.Payload) {
	uri, ok := entry.Member(skills.Key).Text()
	if !ok || l.original == "" {
		return
	}
	as, renamed := l.memory.knownURI(l.origin, uri)
	if renamed {
		as = l.origin.renameTemplate(uri)
	}
	if uri == l.original {
		as, renamed = l.asked, uri != l.asked
	}
	if renamed {
		l.edits = skillEdits(l.edits, l.origin, entry, as)
	}
}

// folder looks at the files of a folder, if one was asked for. Those in one that has another name
// have others as well.
func (l *linker) folder(files wire.Payload) {
	if l.original == "" {
		return
	}
	for file := range files.Elements() {
		part := file.Member("uri")
		uri, ok := part.Text()
		if !ok {
			continue
		}
		as, renamed := l.memory.knownURI(l.origin, uri)
		if l.original != l.asked {
			as, renamed = l.origin.renameTemplate(uri), true
		}
		if renamed {
			l.edits = append(l.edits, wire.Edit{Part: part, With: wire.AppendString(nil, as)})
		}
	}
}
