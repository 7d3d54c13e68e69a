package passthrough

import (
	"bytes"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Relink returns the edits by which links to resources that the client knows by another
// URI lead to them, in a result of the tool. It costs
// nothing while nothing of the server is renamed, as is usual.
func (p *Passage) Relink(session Session, ref toolbox.Ref, payload wire.Payload) []wire.Edit {
	return session.Memory().relink(origin{ref.Toolbox, ref.Server}, payload, "", "")
}

// Define returns the edits by which links to resources in the definition of a tool lead to
// those of its own server. Servers need not list what such links lead to (MCP Apps), so
// that the link itself is what makes the URI the server's.
func (p *Passage) Define(session Session, ref toolbox.Ref, definition wire.Payload) []wire.Edit {
	if !bytes.Contains(definition.Bytes(), []byte("resourceUri")) {
		return nil
	}
	m := session.Memory()
	m.mu.Lock()
	defer m.mu.Unlock()
	l := linker{origin: origin{ref.Toolbox, ref.Server}, memory: m, claims: true}
	l.meta(definition.Member("_meta"))
	if len(l.edits) > 0 {
		m.renamed.Store(true)
	}
	return l.edits
}

// relink is Relink; original, if it is not "", is one more URI that is renamed, to asked.
func (m *Memory) relink(o origin, payload wire.Payload, original, asked string) []wire.Edit {
	if original == asked && !m.renamed.Load() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if original == asked && !m.hasRenamedInResults(o) {
		return nil
	}
	l := linker{origin: o, memory: m, original: original, asked: asked}
	l.whole(payload)
	return l.edits
}

// linker collects edits in the order of the payload.
type linker struct {
	origin          origin
	memory          *Memory // with mu held
	original, asked string
	claims          bool // a URI that is nobody's becomes this server's
	edits           []wire.Edit
}

// whole looks through a result.
func (l *linker) whole(payload wire.Payload) {
	for key, value := range payload.Members() {
		switch string(key) {
		case "content": // of a tool's result
			l.blocks(value)
		case "contents": // of a resource
			for content := range value.Elements() {
				l.uri(content)
			}
		case "skill":
			l.skill(value)
		case "resources":
			l.folder(value)
		case "messages": // of a prompt
			for message := range value.Elements() {
				l.blocks(message.Member("content"))
			}
		case "task": // that a call became
			l.task(value.Member("taskId"))
		case "taskId":
			l.task(value)
		case "tasks":
			for task := range value.Elements() {
				l.task(task.Member("taskId"))
			}
		case "_meta":
			l.meta(value)
		}
	}
}

// blocks looks through the blocks of a content, or the one that it is.
func (l *linker) blocks(content wire.Payload) {
	if content.Kind() == "object" {
		l.block(content)
	}
	for block := range content.Elements() {
		l.block(block)
	}
}

func (l *linker) block(block wire.Payload) {
	switch kind, _ := block.Member("type").Text(); kind {
	case "resource_link":
		l.uri(block)
	case "resource":
		l.uri(block.Member("resource"))
	}
}

func (l *linker) uri(object wire.Payload) { l.link(object.Member("uri")) }

// meta looks for the resource that shows a tool's results (MCP Apps), and for the task that a
// result is of.
func (l *linker) meta(meta wire.Payload) {
	for key, value := range meta.Members() {
		switch string(key) {
		case "ui":
			l.link(value.Member("resourceUri"))
		case "ui/resourceUri":
			l.link(value)
		case protocol.MetaRelatedTask:
			l.task(value.Member("taskId"))
		}
	}
}

func (l *linker) link(part wire.Payload) {
	uri, ok := part.Text()
	if !ok {
		return
	}
	if l.claims && !isOurs(uri) && !l.memory.uris.isFull() {
		l.memory.uris.give(l.origin, uri)
	}
	as, renamed := l.memory.knownURI(l.origin, uri)
	if uri == l.original {
		as, renamed = l.asked, uri != l.asked
	}
	if renamed {
		l.edits = append(l.edits, wire.Edit{Part: part, With: wire.AppendString(nil, as)})
	}
}
