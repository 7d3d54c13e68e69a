package catalog

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Lock is which definitions of tools were approved: a hash of each, in the order of the
// configuration and of the servers. It is text for a review, and is read strictly, so that
// what is damaged approves nothing.
type Lock struct {
	Servers []LockedServer
	Free    []string // toolboxes that it does not hold for; not in the file
}

// LockedServer is what was approved of one server.
type LockedServer struct {
	Toolbox, Server string
	Version         string // that the server said it had; may be empty
	Tools           []LockedTool
}

// LockedTool is the definition of a tool that was approved.
type LockedTool struct {
	Name       string
	Definition Hash
}

const (
	lockVersion = 1
	hashPrefix  = "sha256:"
)

// LockTools returns what a lock holds of a server's tools if all of them are approved.
func LockTools(snapshot *Snapshot) []LockedTool {
	tools := make([]LockedTool, len(snapshot.Tools))
	for i, tool := range snapshot.Tools {
		tools[i] = LockedTool{tool.Name, sha256.Sum256(tool.Definition.Bytes())}
	}
	return tools
}

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
func (s *LockedServer) Find(tool string) (Hash, bool) {
	i := slices.IndexFunc(s.Tools, func(t LockedTool) bool { return t.Name == tool })
	if i < 0 {
		return Hash{}, false
	}
	return s.Tools[i].Definition, true
}

// Encode returns the content of the file. Servers of one toolbox must follow each other.
func (l *Lock) Encode() []byte {
	out := fmt.Appendf(nil, "{\n  \"version\": %d,\n  \"toolboxes\": {", lockVersion)
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
		out = append(out, ",\n        \"tools\": {"...)
		for j, tool := range server.Tools {
			if j > 0 {
				out = append(out, ',')
			}
			out = wire.AppendString(append(out, "\n          "...), tool.Name)
			out = fmt.Appendf(out, ": \"%s%s\"", hashPrefix, tool.Definition)
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

func appendOpening(dst []byte, indent, name string) []byte {
	return append(wire.AppendString(append(dst, indent...), name), ": {"...)
}

// ParseLock reads the content of the file. The error says what is wrong with it.
func ParseLock(data []byte) (*Lock, error) {
	root, err := wire.ParseValue(data)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	fields, err := fixedMembers(root, "version", "toolboxes")
	if err != nil {
		return nil, err
	}
	if version := string(fields[0].Bytes()); version != strconv.Itoa(lockVersion) {
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
	fields, err := fixedMembers(content, "serverVersion", "tools")
	if err != nil {
		return locked, fmt.Errorf("%s: %w", where, err)
	}
	var ok bool
	if locked.Version, ok = fields[0].Text(); !ok {
		return locked, fmt.Errorf("%s: 'serverVersion' is no text", where)
	}
	return locked, eachMember(fields[1], "'tools' of "+where, func(name string, value wire.Payload) error {
		tool := LockedTool{Name: name}
		text, _ := value.Text()
		digits, ok := strings.CutPrefix(text, hashPrefix)
		if !ok || !parseHash(digits, &tool.Definition) {
			return fmt.Errorf("tool '%s' of %s has no hash", name, where)
		}
		locked.Tools = append(locked.Tools, tool)
		return nil
	})
}

// fixedMembers returns the members of an object that must have just these keys.
func fixedMembers(object wire.Payload, keys ...string) ([]wire.Payload, error) {
	values := make([]wire.Payload, len(keys))
	err := eachMember(object, "the file", func(key string, value wire.Payload) error {
		i := slices.Index(keys, key)
		if i < 0 {
			return fmt.Errorf("there is an unknown key '%s'", key)
		}
		values[i] = value
		return nil
	})
	for i, key := range keys {
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

// Under returns the snapshot with just those tools that a lock approves; nil approves all.
// It may be called on a snapshot that another lock restricts.
func (s *Snapshot) Under(lock *Lock, box, server string) *Snapshot {
	if s == nil {
		return nil
	}
	if s.whole != nil {
		s = s.whole
	}
	if !lock.HoldsFor(box) {
		return s
	}
	approved, _ := lock.Find(box, server)
	definitions := make(map[string]Hash, len(approved.Tools))
	for _, tool := range approved.Tools {
		definitions[tool.Name] = tool.Definition
	}
	under := *s
	under.whole, under.Tools = s, nil
	under.byName, under.withheld = make(map[string]int), make(map[string]string)
	var first Snapshot // its warnings come first and are counted by themselves, as those of changes
	for _, tool := range s.Tools {
		definition, known := definitions[tool.Name]
		if known && definition == sha256.Sum256(tool.Definition.Bytes()) {
			under.byName[tool.Name] = len(under.Tools)
			under.Tools = append(under.Tools, tool)
			continue
		}
		reason := "is not in " + toolbox.LockFile
		if known {
			reason = "is not as " + toolbox.LockFile + " has it"
		}
		// Without its name: a server could name a tool so that a shell does something else.
		reason += ", and is withheld until a person accepts it; to see how, run: mcp-workbench lock"
		under.withheld[tool.Name] = reason
		first.warn("Tool '%s' of server '%s' %s", tool.Name, server, reason)
	}
	under.Warnings = slices.Concat(first.Warnings, s.Warnings)
	return &under
}

// Withheld says why the server's tool of that name is not offered, if a lock is the reason.
func (s *Snapshot) Withheld(name string) (reason string, ok bool) {
	reason, ok = s.withheld[name]
	return reason, ok
}

// WithheldTools returns how many tools a lock keeps back.
func (s *Snapshot) WithheldTools() int { return len(s.withheld) }
