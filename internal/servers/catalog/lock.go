package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Lock is which definitions of tools, and which instructions of servers, were approved: a record of each, in the order of
// the configuration and of the servers. It is text for a review, and is read strictly, so that
// what is damaged approves nothing.
type Lock struct {
	Servers []LockedServer
	Free    []string // toolboxes that it does not hold for; not in the file
}

// LockedServer is what was approved of one server.
type LockedServer struct {
	Toolbox, Server string
	Version         string // that the server said it had; may be empty
	// Instructions are those that were approved; nil if the lock is from a time when they were not locked.
	Instructions *Record
	Tools        []LockedTool
}

// LockedTool is the definition of a tool that was approved.
type LockedTool struct {
	Name   string
	Record Record
}

// Versions of the file. The first one had no instructions, and no definitions but their hashes.
const (
	lockVersion      = 2
	firstLockVersion = 1
)

// maxLockWords is how many bytes of definitions and instructions a lock holds; of others it has the hashes alone. It is far
// below what is read of the file.
const maxLockWords = 4 << 20

// HoldsFor reports whether only what is approved is offered of a toolbox; nil holds for none.
func (l *Lock) HoldsFor(toolbox string) bool { return l != nil && !slices.Contains(l.Free, toolbox) }

// Find returns what was approved of a server.
func (l *Lock) Find(toolbox, server string) (LockedServer, bool) {
	for _, locked := range l.Servers {
		if locked.Toolbox == toolbox && locked.Server == server {
			return locked, true
		}
	}
	return LockedServer{}, false
}

// Find returns which definition of a tool was approved.
func (s *LockedServer) Find(tool string) (Record, bool) {
	i := slices.IndexFunc(s.Tools, func(t LockedTool) bool { return t.Name == tool })
	if i < 0 {
		return Record{}, false
	}
	return s.Tools[i].Record, true
}

// Encode returns the content of the file. Servers of one toolbox must follow each other.
func (l *Lock) Encode() []byte {
	out := fmt.Appendf(nil, "{\n  \"version\": %d,\n  \"toolboxes\": {", lockVersion)
	room := maxLockWords
	for i, server := range l.Servers {
		switch {
		case i == 0:
			out = appendOpening(out, "\n    ", server.Toolbox)
		case server.Toolbox != l.Servers[i-1].Toolbox:
			out = appendOpening(append(out, "\n    },"...), "\n    ", server.Toolbox)
		default:
			out = append(out, ',')
		}
		out = appendOpening(out, "\n      ", server.Server)
		out = wire.AppendString(append(out, "\n        \"serverVersion\": "...), server.Version)
		if server.Instructions != nil {
			out = appendIndented(append(out, ",\n        \"instructions\": "...), *server.Instructions, textKey, "        ", &room)
		}
		out = append(out, ",\n        \"tools\": {"...)
		for j, tool := range server.Tools {
			if j > 0 {
				out = append(out, ',')
			}
			out = append(wire.AppendString(append(out, "\n          "...), tool.Name), ": "...)
			out = appendIndented(out, tool.Record, definitionKey, "          ", &room)
		}
		if len(server.Tools) > 0 {
			out = append(out, "\n        "...)
		}
		out = append(out, "}\n      }"...)
	}
	if len(l.Servers) > 0 {
		out = append(out, "\n    }\n  "...)
	}
	return append(out, "}\n}\n"...)
}

// appendIndented appends a record so that a review shows what changed line by line, and without its words if there is no
// room for them.
func appendIndented(dst []byte, r Record, key, indent string, room *int) []byte {
	if *room -= len(r.Said); *room < 0 {
		*room, r.Said = 0, nil
	}
	var lines bytes.Buffer
	if err := json.Indent(&lines, r.append(nil, key), indent, "  "); err != nil { // nested too deep
		r.Said = nil
		return r.append(dst, key)
	}
	return append(dst, lines.Bytes()...)
}

func appendOpening(dst []byte, indent, name string) []byte {
	return append(wire.AppendString(append(dst, indent...), name), ": {"...)
}

// ParseLock reads the content of the file. The error says what is wrong with it.
func ParseLock(data []byte) (*Lock, error) {
	root, err := wire.ParseValue(data)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	fields, err := fixedMembers(root, 2, "version", "toolboxes")
	if err != nil {
		return nil, err
	}
	if version := string(fields[0].Bytes()); version != strconv.Itoa(lockVersion) && version != strconv.Itoa(firstLockVersion) {
		return nil, fmt.Errorf("its version is %.20s, not %d", version, lockVersion)
	}
	lock := &Lock{}
	err = eachMember(fields[1], "toolboxes", func(toolbox string, servers wire.Payload) error {
		return eachMember(servers, "toolbox '"+toolbox+"'", func(server string, content wire.Payload) error {
			locked, err := parseLockedServer(toolbox, server, content)
			lock.Servers = append(lock.Servers, locked)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return lock, nil
}

func parseLockedServer(toolbox, server string, content wire.Payload) (LockedServer, error) {
	locked := LockedServer{Toolbox: toolbox, Server: server}
	where := fmt.Sprintf("server '%s' (toolbox '%s')", server, toolbox)
	fields, err := fixedMembers(content, 2, "serverVersion", "tools", "instructions")
	if err != nil {
		return locked, fmt.Errorf("%s: %w", where, err)
	}
	var ok bool
	if locked.Version, ok = fields[0].Text(); !ok {
		return locked, fmt.Errorf("%s: 'serverVersion' is no text", where)
	}
	if !fields[2].IsAbsent() {
		record, err := parseRecord(fields[2], textKey)
		if err != nil || record.First {
			return locked, fmt.Errorf("'instructions' of %s: %w", where, cmp.Or(err, errNoHash))
		}
		locked.Instructions = &record
	}
	return locked, eachMember(fields[1], "'tools' of "+where, func(name string, value wire.Payload) error {
		record, err := parseRecord(value, definitionKey)
		if err != nil {
			return fmt.Errorf("tool '%s' of %s %w", name, where, err)
		}
		locked.Tools = append(locked.Tools, LockedTool{name, record})
		return nil
	})
}

// fixedMembers returns the members of an object that must have no keys but these, and so many of the first of them.
func fixedMembers(object wire.Payload, needed int, keys ...string) ([]wire.Payload, error) {
	values := make([]wire.Payload, len(keys))
	err := eachMember(object, "the file", func(key string, value wire.Payload) error {
		i := slices.Index(keys, key)
		if i < 0 {
			return fmt.Errorf("there is an unknown key '%s'", key)
		}
		values[i] = value
		return nil
	})
	for i, key := range keys[:needed] {
		if err == nil && values[i].IsAbsent() {
			err = fmt.Errorf("'%s' is missing", key)
		}
	}
	return values, err
}

// eachMember calls take for every member of an object. Of two that have one name it could
// not be told which one was reviewed.
func eachMember(object wire.Payload, what string, take func(name string, value wire.Payload) error) error {
	if object.Kind() != "object" {
		return errors.New(what + " is no object")
	}
	seen := make(map[string]bool)
	for key, value := range object.Members() {
		name := string(key)
		if seen[name] {
			return fmt.Errorf("%s has '%s' twice", what, name)
		}
		seen[name] = true
		if err := take(name, value); err != nil {
			return err
		}
	}
	return nil
}

// approvedBy returns the snapshot with just those tools that a lock approves; nil approves all.
func (s *Snapshot) approvedBy(lock *Lock, box, server string) *Snapshot {
	if !lock.HoldsFor(box) {
		return s
	}
	approved, isKnown := lock.Find(box, server)
	records := make(map[string]Record, len(approved.Tools))
	for _, tool := range approved.Tools {
		records[tool.Name] = tool.Record
	}
	under := *s
	under.Tools = nil
	under.byName, under.withheld = make(map[string]int), make(map[string]string)
	var first Snapshot // its warnings come first
	if reason := approved.disapproves(s, isKnown); reason != "" {
		under.Instructions, under.unapproved = "", true
		first.warn("", "The instructions of server '%s' %s", server, reason)
	}
	for _, tool := range s.Tools {
		record, known := records[tool.Name]
		if known && record.IsOf(tool) {
			under.byName[tool.Name] = len(under.Tools)
			under.Tools = append(under.Tools, tool)
			continue
		}
		reason := "is not in " + toolbox.LockFile
		if known {
			reason = "is not as " + toolbox.LockFile + " has it"
		}
		// Without its name: a server could name a tool so that a shell does something else.
		reason += ", and is withheld" + untilAccepted
		under.withheld[tool.Name] = reason
		first.warn(tool.Name, "Tool '%s' of server '%s' %s", tool.Name, server, reason)
	}
	under.warnFirst(&first)
	return &under
}

const untilAccepted = " until a person accepts it; to see how, run: mcp-workbench lock"

// disapproves says why the instructions of a server are withheld; "" if they are not.
func (s *LockedServer) disapproves(snapshot *Snapshot, isKnown bool) (reason string) {
	switch {
	case snapshot.said == "", isKnown && s.Instructions == nil, isKnown && s.Instructions.Hash == snapshot.instructionsHash():
		return ""
	case !isKnown:
		return "are not in " + toolbox.LockFile + ", and are withheld" + untilAccepted
	}
	return "are not as " + toolbox.LockFile + " has them, and are withheld" + untilAccepted
}

// InstructionsWithheld reports whether a lock keeps back what the server says of how to use it.
func (s *Snapshot) InstructionsWithheld() bool { return s.unapproved }

// Withheld says why the server's tool of that name is not offered, if a lock is the reason.
func (s *Snapshot) Withheld(name string) (reason string, ok bool) {
	reason, ok = s.withheld[name]
	return reason, ok
}

// WithheldTools returns how many tools a lock keeps back.
func (s *Snapshot) WithheldTools() int { return len(s.withheld) }
