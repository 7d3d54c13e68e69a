package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Lock records the approved tool definitions and server instructions, in the order of the configuration and of the
// servers. The file is text for a review. It is parsed strictly, so that a damaged lock approves nothing.
type Lock struct {
	Servers []LockedServer
	Free    []string // toolboxes that are not locked; not in the file
}

// LockedServer is the approved content of one server.
type LockedServer struct {
	Toolbox, Server string
	Version         string // the server's version at the time; may be empty
	// Instructions are the approved instructions; nil in a lock from a version that did not lock them.
	Instructions *Record
	Tools        []LockedTool
}

// LockedTool is the approved definition of a tool.
type LockedTool struct {
	Name   string
	Record Record
}

// firstLockVersion is the first format of stored.Lock. It had no instructions, and only the hashes of definitions.
const firstLockVersion = 1

// maxLockContent bounds the definitions and instructions in a lock, in bytes; beyond it, only hashes are stored. It is
// far below the size of a file that is read.
const maxLockContent = 4 << 20

// HoldsFor reports whether a toolbox offers approved content only. A nil lock holds for no toolbox.
func (l *Lock) HoldsFor(toolbox string) bool { return l != nil && !slices.Contains(l.Free, toolbox) }

// Find returns the approved content of a server.
func (l *Lock) Find(toolbox, server string) (LockedServer, bool) {
	for _, locked := range l.Servers {
		if locked.Toolbox == toolbox && locked.Server == server {
			return locked, true
		}
	}
	return LockedServer{}, false
}

// Find returns the approved definition of a tool.
func (s *LockedServer) Find(tool string) (Record, bool) {
	i := slices.IndexFunc(s.Tools, func(t LockedTool) bool { return t.Name == tool })
	if i < 0 {
		return Record{}, false
	}
	return s.Tools[i].Record, true
}

// records returns the approved definitions by name.
func (s *LockedServer) records() map[string]Record {
	records := make(map[string]Record, len(s.Tools))
	for _, tool := range s.Tools {
		records[tool.Name] = tool.Record
	}
	return records
}

// Encode returns the content of the file. Servers of one toolbox must be adjacent.
func (l *Lock) Encode() []byte {
	out := fmt.Appendf(nil, "{\n  \"version\": %d,\n  \"toolboxes\": {", stored.Lock.Format)
	room := maxLockContent
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

// appendIndented appends a record in lines, so that a review shows a diff by line. Without room, it leaves out the
// definition.
func appendIndented(dst []byte, r Record, key, indent string, room *int) []byte {
	if *room -= len(r.Content); *room < 0 {
		*room, r.Content = 0, nil
	}
	var lines bytes.Buffer
	if err := json.Indent(&lines, r.append(nil, key), indent, "  "); err != nil { // nested too deeply
		r.Content = nil
		return r.append(dst, key)
	}
	return append(dst, lines.Bytes()...)
}

func appendOpening(dst []byte, indent, name string) []byte {
	return append(wire.AppendString(append(dst, indent...), name), ": {"...)
}

// ParseLock parses the content of the file.
func ParseLock(data []byte) (*Lock, error) {
	root, err := wire.ParseValue(data)
	if err != nil {
		return nil, fmt.Errorf("it is not valid JSON: %w", err)
	}
	fields, err := fixedMembers(root, 2, "version", "toolboxes")
	if err != nil {
		return nil, err
	}
	if version := string(fields[0].Bytes()); version != strconv.Itoa(stored.Lock.Format) && version != strconv.Itoa(firstLockVersion) {
		return nil, fmt.Errorf("its version is %.20s, not %d", version, stored.Lock.Format)
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
		return locked, fmt.Errorf("%s: 'serverVersion' is not a string", where)
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

// fixedMembers returns the values of the given keys. Other keys are errors, and the first ones, as many as needed, are
// required.
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

// eachMember calls visit for every member of an object. A duplicate name is an error: it would be unclear which one was
// reviewed.
func eachMember(object wire.Payload, what string, visit func(name string, value wire.Payload) error) error {
	if object.Kind() != "object" {
		return errors.New(what + " is not an object")
	}
	seen := make(map[string]bool)
	for key, value := range object.Members() {
		name := string(key)
		if seen[name] {
			return fmt.Errorf("%s has '%s' twice", what, name)
		}
		seen[name] = true
		if err := visit(name, value); err != nil {
			return err
		}
	}
	return nil
}

// approvedBy returns the snapshot with only the tools that a lock approves; a nil lock approves all.
func (s *Snapshot) approvedBy(lock *Lock, box, server string) *Snapshot {
	if !lock.HoldsFor(box) {
		return s
	}
	approved, isKnown := lock.Find(box, server)
	records := approved.records()
	under := *s
	under.Tools = nil
	under.byName, under.withheld = make(map[string]int), make(map[string]string)
	var first Snapshot // its warnings come first
	if reason := approved.withholdReason(s, isKnown); reason != "" {
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
		reason := withheldTool(known)
		under.withheld[tool.Name] = reason
		first.warn(tool.Name, "Tool '%s' of server '%s' %s", tool.Name, server, reason)
	}
	under.warnFirst(&first)
	return &under
}

// withheldTool says why a tool is withheld: the lock has it otherwise, or not. It has no name of the tool: a server could
// choose one that a shell interprets.
func withheldTool(known bool) string {
	if known {
		return "is not as " + toolbox.LockFile + " has it, and is withheld" + untilAccepted
	}
	return "is not in " + toolbox.LockFile + ", and is withheld" + untilAccepted
}

const untilAccepted = " until a person accepts it; to see how, run: mcp-workbench lock"

// withholdReason returns why a server's instructions are withheld, or "".
func (s *LockedServer) withholdReason(snapshot *Snapshot, isKnown bool) (reason string) {
	switch {
	case snapshot.rawInstructions == "", isKnown && s.Instructions == nil, isKnown && s.Instructions.Hash == snapshot.instructionsHash():
		return ""
	case !isKnown:
		return "are not in " + toolbox.LockFile + ", and are withheld" + untilAccepted
	}
	return "are not as " + toolbox.LockFile + " has them, and are withheld" + untilAccepted
}

// InstructionsWithheld reports whether a lock withholds the server's instructions.
func (s *Snapshot) InstructionsWithheld() bool { return s.unapproved }

// Withheld returns why a lock withholds the tool with a name; ok is false if none does.
func (s *Snapshot) Withheld(name string) (reason string, ok bool) {
	reason, ok = s.withheld[name]
	return reason, ok
}

// WithheldTools returns the number of tools that a lock withholds.
func (s *Snapshot) WithheldTools() int { return len(s.withheld) }
