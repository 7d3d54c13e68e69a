package audit

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// Entry is an event that is not a call.
type Entry struct {
	event, outcome string
	ref            toolbox.Ref
	details        []detail // in order
}

type detail struct{ name, value string }

func (e Entry) with(name, value string) Entry {
	e.details = append(e.details, detail{name, value})
	return e
}

func (e Entry) fields(l *Log) fields {
	f := newFields(e.event, e.outcome).subject(l, e.ref)
	for _, one := range e.details {
		f = f.text(one.name, l.foreign(one.value))
	}
	return f
}

// subject adds which tool of which server a line is about.
func (f fields) subject(l *Log, ref toolbox.Ref) fields {
	return f.text("toolbox", ref.Toolbox).text("server", ref.Server).text("gen_ai.tool.name", l.foreign(ref.Name))
}

// Add records an event. A nil log records nothing.
func (l *Log) Add(entry Entry) {
	if l != nil {
		_ = l.add(item{body: entry.fields(l)}) // what is lost is counted
	}
}

// TokenCreated is for a token of an HTTP client; rights are what it permits.
func TokenCreated(name, rights string, toolboxes []string) Entry {
	return Entry{event: eventToken, outcome: "created"}.with("token", name).with("rights", rights).with("toolboxes", strings.Join(toolboxes, ", "))
}

// TokenRemoved is for a token of an HTTP client that is not valid any more.
func TokenRemoved(name string) Entry {
	return Entry{event: eventToken, outcome: "removed"}.with("token", name)
}

// Login is for a login to a remote server, by a person or with a stored credential.
func Login(box, server string, err error) Entry {
	return Entry{event: eventLogin, outcome: outcomeOf(err), ref: toolbox.Ref{Toolbox: box, Server: server}}
}

// PersonLogin is for a login of a person to their own account at a remote server. Other is who opened the link for it instead; ""
// is nobody else. People are named by their subjects.
func PersonLogin(box, server, person, other string, err error) Entry {
	entry := Login(box, server, err).with("person", person)
	if other != "" {
		entry = entry.with("opened_by", other)
	}
	return entry
}

// PersonLogout is for the login of a person that was removed; person is "" if it is not known whose it was.
func PersonLogout(box, server, person string) Entry {
	if person == "" {
		return Logout(box, server)
	}
	return Logout(box, server).with("person", person)
}

// Logout is for a login that was removed.
func Logout(box, server string) Entry {
	return Entry{event: eventLogin, outcome: "removed", ref: toolbox.Ref{Toolbox: box, Server: server}}
}

// PageAction is for what a person did on the page, who is named as in rules of the policy. A refused one has not been done.
func PageAction(caller, action string, about toolbox.Ref, refused bool) Entry {
	outcome := "ok"
	if refused {
		outcome = "failed"
	}
	return Entry{event: eventUI, outcome: outcome, ref: about}.with("caller", caller).with("action", action)
}

// Reload is for a configuration that was reloaded; file is the one that has the keys at the top.
func Reload(file string, err error) Entry {
	return Entry{event: eventReload, outcome: outcomeOf(err)}.with("file", file)
}

// DefinitionAccepted is for a changed definition of a tool, or changed instructions of a server, that a person accepted.
// hash is that of the new one.
func DefinitionAccepted(ref toolbox.Ref, hash string) Entry {
	return Entry{event: eventDefinition, outcome: "accepted", ref: ref}.with("definition", hash)
}

// outcomeOf leaves out the text of an error, which may quote anything.
func outcomeOf(err error) string {
	if err != nil {
		return "failed"
	}
	return "ok"
}

// ServerStarted implements fleet.Events.
func (l *Log) ServerStarted(box, server string, took time.Duration, err error) {
	outcome := "started"
	if err != nil {
		outcome = "failed"
	}
	f := newFields(eventServer, outcome).subject(l, toolbox.Ref{Toolbox: box, Server: server})
	_ = l.add(item{body: f.milliseconds("ms", took.Microseconds())}) // what is lost is counted
}

// ServerCrashed implements fleet.Events.
func (l *Log) ServerCrashed(box, server string) {
	l.Add(Entry{event: eventServer, outcome: "crashed", ref: toolbox.Ref{Toolbox: box, Server: server}})
}

// ServerEnded implements fleet.Events.
func (l *Log) ServerEnded(box, server string, _ time.Duration, _ bool) {
	l.Add(Entry{event: eventServer, outcome: "ended", ref: toolbox.Ref{Toolbox: box, Server: server}})
}

// maxChanges is how many changed definitions of a server are recorded one by one; of the others their number.
const maxChanges = 200

// DefinitionsChanged implements fleet.Events.
func (l *Log) DefinitionsChanged(box, server string, changes []catalog.Change) {
	for i, change := range changes {
		ref := toolbox.Ref{Toolbox: box, Server: server, Name: change.Tool}
		if i == maxChanges {
			f := newFields(eventDefinition, "changed").subject(l, toolbox.Ref{Toolbox: box, Server: server})
			_ = l.add(item{body: f.number("count", int64(len(changes)-i))}) // what is lost is counted
			return
		}
		f := newFields(eventDefinition, "changed").subject(l, ref)
		f = f.hexadecimal("definition.before", change.Before.Hash[:]).hexadecimal("definition", change.After.Hash[:])
		_ = l.add(item{body: f}) // what is lost is counted
	}
}

// unwritable is the error of a call that is refused because it cannot be recorded.
func (l *Log) unwritable(err error) *call.Failure {
	reason := err.Error()
	if path, ok := errors.AsType[*os.PathError](err); ok {
		reason = path.Err.Error() // the folder is named already
	}
	return &call.Failure{
		Message: "it was not run: it cannot be recorded in the audit log, which the configuration requires (" + l.options.Folder + ": " + l.options.Mask(reason) + ")",
		Hint:    "Do not try again: ask the user to make the audit log writable; 'mcp-workbench audit' shows its state.",
		Cause:   err, IsUnable: true,
	}
}
