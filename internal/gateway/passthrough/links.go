package passthrough

import (
	"bytes"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// LinkEdits returns the edits that replace links to renamed resources and tasks in the result of a tool. Usually nothing
// of a server is renamed; then it costs nothing.
func (f *Forwarder) LinkEdits(session Session, ref toolbox.Ref, payload wire.Payload) []wire.Edit {
	return session.Memory().linkEdits(origin{ref.Toolbox, ref.Server}, payload, "", "")
}

// DefinitionEdits returns the edits that replace links to renamed resources in the definition of a tool. Servers need not
// list such resources (MCP Apps), so the link itself assigns the URI to the server.
func (f *Forwarder) DefinitionEdits(session Session, ref toolbox.Ref, definition wire.Payload) []wire.Edit {
	if !bytes.Contains(definition.Bytes(), []byte("resourceUri")) {
		return nil
	}
	m := session.Memory()
	m.mu.Lock()
	defer m.mu.Unlock()
	l := linkEditor{origin: origin{ref.Toolbox, ref.Server}, memory: m, assigns: true}
	l.meta(definition.Member("_meta"))
	if len(l.edits) > 0 {
		m.renamed.Store(true)
	}
	return l.edits
}

// linkEdits is LinkEdits; serverName, if it is not "", is one more name that is replaced, by clientName.
func (m *Memory) linkEdits(o origin, payload wire.Payload, serverName, clientName string) []wire.Edit {
	if serverName == clientName && !m.renamed.Load() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if serverName == clientName && !m.hasRenamedInResults(o) {
		return nil
	}
	l := linkEditor{origin: o, memory: m, serverName: serverName, clientName: clientName}
	l.result(payload)
	return l.edits
}

// linkEditor collects the edits of a payload, in the order of the payload.
type linkEditor struct {
	origin                 origin
	memory                 *Memory // with mu held
	serverName, clientName string  // of the subject of the request
	assigns                bool    // a URI without an owner becomes this server's
	edits                  []wire.Edit
}

// result edits a result.
func (l *linkEditor) result(payload wire.Payload) {
	for key, value := range payload.Members() {
		switch string(key) {
		case "content": // of the result of a tool
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
		case "task": // that a request became
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

// blocks edits an array of content blocks, or a single one.
func (l *linkEditor) blocks(content wire.Payload) {
	if content.Kind() == "object" {
		l.block(content)
	}
	for block := range content.Elements() {
		l.block(block)
	}
}

func (l *linkEditor) block(block wire.Payload) {
	switch kind, _ := block.Member("type").Text(); kind {
	case "resource_link":
		l.uri(block)
	case "resource":
		l.uri(block.Member("resource"))
	}
}

func (l *linkEditor) uri(object wire.Payload) { l.link(object.Member("uri")) }

// meta edits the link to the resource that shows the results of a tool (MCP Apps), and the task that a result belongs to.
func (l *linkEditor) meta(meta wire.Payload) {
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

func (l *linkEditor) link(part wire.Payload) {
	uri, ok := part.Text()
	if !ok {
		return
	}
	if l.assigns && !isOwnURI(uri) && !l.memory.uris.isFull() {
		l.memory.uris.assign(l.origin, uri)
	}
	clientURI, renamed := l.memory.clientURI(l.origin, uri)
	if uri == l.serverName {
		clientURI, renamed = l.clientName, uri != l.clientName
	}
	if renamed {
		l.replace(part, clientURI)
	}
}

func (l *linkEditor) replace(part wire.Payload, name string) {
	l.edits = append(l.edits, wire.Edit{Part: part, With: wire.AppendString(nil, name)})
}
