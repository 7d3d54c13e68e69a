package catalog

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/ownfile"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// ListKind is a kind of list that a server may have besides its tools.
type ListKind struct {
	Method     string // that asks for it
	Capability string // that the server declares then
	Extension  string // or the extension; "": none
	Array      string // the member of the result that is the list
	Key        string // the member of an entry that names it
	Changed    string // the notification that it changed
}

// The kinds of lists that are kept.
var (
	Resources = &ListKind{
		Method: protocol.MethodResourcesList, Capability: "resources", Array: "resources", Key: "uri", Changed: protocol.NotifyResourcesList,
	}
	Templates = &ListKind{
		Method: protocol.MethodTemplatesList, Capability: "resources", Array: "resourceTemplates", Key: "uriTemplate", Changed: protocol.NotifyResourcesList,
	}
	Prompts = &ListKind{
		Method: protocol.MethodPromptsList, Capability: "prompts", Array: "prompts", Key: "name", Changed: protocol.NotifyPromptsList,
	}
	// Skills have no notification of their own; their files are resources.
	Skills = &ListKind{
		Method: protocol.MethodSkillsList, Extension: protocol.ExtensionSkills, Array: "skills", Key: "uri", Changed: protocol.NotifyResourcesList,
	}
	ListKinds = []*ListKind{Resources, Templates, Prompts, Skills}
)

// IsDeclared reports whether a server with these capabilities has such a list.
func (k *ListKind) IsDeclared(capabilities wire.Payload) bool {
	if k.Extension != "" && Declares(capabilities.Member("extensions").Member(k.Extension)) {
		return true
	}
	return k.Capability != "" && Declares(capabilities.Member(k.Capability))
}

// Declares reports whether a capability is there: some peers write null or false for one
// that is not.
func Declares(capability wire.Payload) bool {
	switch capability.Kind() {
	case "undefined", "null":
		return false
	case "boolean":
		return string(capability.Bytes()) == "true"
	}
	return true
}

// List is what a server listed of one kind. It never changes.
type List struct {
	Entries []wire.Payload // the server's own objects, without invisible text where people read
	Cut     string         // why it is not all of it; "" if it is
}

// Lists are what a server listed, by kind; of a kind that is missing nothing is known. They
// never change.
type Lists map[*ListKind]*List

// Limits of one list. They are beyond what clients can make use of.
const (
	maxListEntries = 20_000
	maxListBytes   = 8 << 20
)

// NewList makes a list of what a server answered.
func NewList(kind *ListKind, entries []wire.Payload, cut string) *List {
	list := &List{Cut: cut}
	size := 0
	for i, entry := range entries {
		if size += len(entry.Bytes()); i == maxListEntries || size > maxListBytes {
			list.Cut = fmt.Sprintf("it has more than %d entries or %d bytes", maxListEntries, maxListBytes)
			break
		}
		var edits []wire.Edit
		if kind != Skills { // clients compare those with what the skill itself says
			edits = cleaningEntry(entry)
		}
		list.Entries = append(list.Entries, wire.Raw(wire.AppendEdited(make([]byte, 0, len(entry.Bytes())), entry, edits...)))
	}
	return list
}

// Same reports whether two lists say the same.
func (l *List) Same(other *List) bool {
	if l == nil || other == nil || len(l.Entries) != len(other.Entries) {
		return l == other
	}
	for i, entry := range l.Entries {
		if !bytes.Equal(entry.Bytes(), other.Entries[i].Bytes()) {
			return false
		}
	}
	return true
}

const (
	listsSuffix  = ".lists"
	listsVersion = 1
)

// LoadLists returns the lists that are kept of a server, or nil. A file that is damaged counts
// as none.
func (c *Copies) LoadLists(server string, key Hash) Lists {
	if c.lists.folder == "" {
		return nil
	}
	data, _, err := ownfile.Read(c.lists.path(key), maxCopy)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var lists Lists
	if err == nil {
		lists, err = decodeLists(data)
	}
	if err != nil {
		c.log.Warn("could not read what the server listed before; it is not known until it starts", "server", server, "reason", err)
		return nil
	}
	c.lists.touch(key)
	c.note(c.lists, key, sha256.Sum256(data))
	return lists
}

// SaveLists keeps the lists of a server, unless the file has them already. Words that mask
// changes are kept as it makes them.
func (c *Copies) SaveLists(server string, key Hash, lists Lists, mask func(string) string) {
	if c.lists.folder == "" {
		return
	}
	data, err := encodeLists(lists, mask)
	c.keep(c.lists, server, key, data, err)
}

func encodeLists(lists Lists, mask func(string) string) ([]byte, error) {
	body := strconv.AppendInt([]byte(`{"version":`), listsVersion, 10)
	for _, kind := range ListKinds {
		list, ok := lists[kind]
		if !ok {
			continue
		}
		body = append(wire.AppendString(append(body, ','), kind.Method), ":["...)
		empty := len(body)
		for _, entry := range list.Entries {
			masked := wire.AppendEdited(nil, entry, masking(nil, entry, mask, 0)...)
			own, _ := entry.Member(kind.Key).Text()
			if kept, _ := wire.Raw(masked).Member(kind.Key).Text(); kept != own {
				continue // its name holds a secret: nobody could ask for it
			}
			if len(body) > empty {
				body = append(body, ",\n"...)
			}
			if body = append(body, masked...); len(body) > maxCopy-copyFrame {
				return nil, fmt.Errorf("it is longer than %d bytes", maxCopy)
			}
		}
		body = append(body, ']')
	}
	return sealed(append(body, "}\n"...), mask)
}

func decodeLists(data []byte) (Lists, error) {
	root, err := unsealed(data, listsVersion)
	if err != nil {
		return nil, err
	}
	lists := make(Lists)
	for _, kind := range ListKinds {
		kept := root.Member(kind.Method)
		if kept.Kind() != "array" {
			continue
		}
		lists[kind] = NewList(kind, slices.Collect(kept.Elements()), "")
	}
	return lists, nil
}
