package passthrough

import (
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Skills (an extension) are folders of files, which are resources. If two servers have a skill of the same URI, the second
// one is renamed as a whole, with all of its files, and in the form that keeps paths: files refer to each other by
// relative paths.

// skillScheme is the scheme of most skills.
const skillScheme = "skill://"

// nameSkills replaces the URIs of skills by those that the client knows. Called with mu held.
func (m *Memory) nameSkills(lists []serverList, names [][]string) {
	m.makeRoom(&m.uris, skills, lists)
	for i, list := range lists {
		for j, uri := range names[i] {
			if uri == "" {
				continue
			}
			if m.uris.assign(list.origin, uri) != uri {
				names[i][j] = list.origin.renameTemplate(uri)
				m.renamed.Store(true)
				continue
			}
			for file := range list.entries[j].Member("resources").Elements() {
				if uri, _ := file.Member("uri").Text(); uri != "" && !isOwnURI(uri) && !m.uris.isFull() {
					m.uris.assign(list.origin, uri)
				}
			}
		}
	}
}

// appendSkill appends the entry of a skill. If the skill is renamed, so are its URI and those of its files.
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

// skill edits the entry of a skill, if one was requested.
func (l *linkEditor) skill(entry wire.Payload) {
	uri, ok := entry.Member(skills.Key).Text()
	if !ok || l.serverName == "" {
		return
	}
	clientURI, renamed := l.memory.clientURI(l.origin, uri)
	if renamed {
		clientURI = l.origin.renameTemplate(uri)
	}
	if uri == l.serverName {
		clientURI, renamed = l.clientName, uri != l.clientName
	}
	if renamed {
		l.edits = skillEdits(l.edits, l.origin, entry, clientURI)
	}
}

// folder edits the files of a folder, if one was requested. The files of a renamed folder are renamed too.
func (l *linkEditor) folder(files wire.Payload) {
	if l.serverName == "" {
		return
	}
	for file := range files.Elements() {
		part := file.Member("uri")
		uri, ok := part.Text()
		if !ok {
			continue
		}
		clientURI, renamed := l.memory.clientURI(l.origin, uri)
		if l.serverName != l.clientName {
			clientURI, renamed = l.origin.renameTemplate(uri), true
		}
		if renamed {
			l.replace(part, clientURI)
		}
	}
}
