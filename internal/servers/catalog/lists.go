package catalog

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// ListKind is a kind of list of a server other than its tools.
type ListKind = protocol.List

// The kinds of lists that are cached.
var (
	Resources = protocol.ResourceList
	Templates = protocol.TemplateList
	Prompts   = protocol.PromptList
	Skills    = protocol.SkillList
	ListKinds = []*ListKind{Resources, Templates, Prompts, Skills}
)

// List is one list of a server. It is immutable.
type List struct {
	Entries []wire.Payload // the server's own objects, without invisible text in prose
	Cut     string         // why the list is incomplete, or ""
	// Warnings are the problems of the entries, for people.
	Warnings []string
}

// Lists are the lists of a server, by kind; a missing kind is unknown. They are immutable.
type Lists map[*ListKind]*List

// Limits of one list, higher than clients can use.
const (
	maxListEntries = 20_000  // entries of a cached list; the rest is cut off, with a warning
	maxListBytes   = 8 << 20 // size of a cached list; the rest is cut off, with a warning
)

// NewList checks and cleans the entries that a server listed. The server's name is used in warnings.
func NewList(server string, kind *ListKind, entries []wire.Payload, cut string) *List {
	list := &List{Cut: cut}
	size := 0
	for i, entry := range entries {
		if size += len(entry.Bytes()); i == maxListEntries || size > maxListBytes {
			list.Cut = fmt.Sprintf("it has more than %d entries or %d bytes", maxListEntries, maxListBytes)
			break
		}
		list.add(server, kind, wire.Raw(bytes.Clone(entry.Bytes())))
	}
	return list
}

// add adds an entry to the list if it can be offered.
func (l *List) add(server string, kind *ListKind, entry wire.Payload) {
	found := examine(entry)
	if kind == Skills { // clients compare the entry with the skill itself
		found = examined{definition: entry, fault: found.fault}
	}
	key, _ := entry.Member(kind.Key).Text()
	what := fmt.Sprintf("%s '%s' in server '%s'", kind.Entry, hidden.Show(key), server)
	if found.fault != "" {
		l.warn(fmt.Sprintf("%s '%s' of server '%s' is withheld: %s", strings.ToUpper(kind.Entry[:1])+kind.Entry[1:], hidden.Show(key), server, found.fault))
		return
	}
	for _, warning := range found.describe(what) {
		l.warn(warning)
	}
	l.Entries = append(l.Entries, found.definition)
}

func (l *List) warn(text string) {
	switch {
	case len(l.Warnings) < maxWarnings:
		l.Warnings = append(l.Warnings, text)
	case len(l.Warnings) == maxWarnings:
		l.Warnings = append(l.Warnings, moreWarnings)
	}
}

// CleanPage returns one page of a list as it can be offered: the same bytes, unless entries have to be changed or
// withheld.
func CleanPage(kind *ListKind, server string, result wire.Payload) wire.Payload {
	entries := result.Member(kind.Array)
	page := List{}
	isSame := true
	for entry := range entries.Elements() {
		before := len(page.Entries)
		page.add(server, kind, entry)
		isSame = isSame && len(page.Entries) > before && len(page.Entries[before].Bytes()) == len(entry.Bytes())
	}
	if isSame {
		return result
	}
	clean := []byte("[")
	for i, entry := range page.Entries {
		if i > 0 {
			clean = append(clean, ',')
		}
		clean = append(clean, entry.Bytes()...)
	}
	return wire.Raw(wire.AppendEdited(nil, result, wire.Edit{Part: entries, With: append(clean, ']')}))
}

// Same reports whether two lists are equal.
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

const listsSuffix = ".lists"

// LoadLists returns the cached lists of a server, or nil. A damaged file is ignored.
func (c *Copies) LoadLists(server string, key Hash) Lists {
	if c.lists.folder == "" {
		return nil
	}
	data, _, err := safefile.Read(c.lists.path(key), maxCopy)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var lists Lists
	if err == nil {
		err = c.lists.kind.Check(c.lists.path(key), data)
	}
	if err == nil {
		lists, err = decodeLists(server, data)
	}
	if err != nil {
		c.log.Warn("could not read the cached lists of the server; they are unknown until it starts", "server", server, "reason", err)
		return nil
	}
	c.lists.touch(key)
	c.recordContent(c.lists, key, sha256.Sum256(data))
	return lists
}

// SaveLists caches the lists of a server if they changed. Every string passes through mask first.
func (c *Copies) SaveLists(server string, key Hash, lists Lists, mask func(string) string) {
	if c.lists.folder == "" {
		return
	}
	data, err := encodeLists(lists, mask)
	c.writeIfChanged(c.lists, server, key, data, err)
}

func encodeLists(lists Lists, mask func(string) string) ([]byte, error) {
	body := strconv.AppendInt([]byte(`{"version":`), int64(stored.Lists.Format), 10)
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
				continue // its name contains a secret: nobody could request it
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

func decodeLists(server string, data []byte) (Lists, error) {
	root, err := unsealed(data, stored.Lists.Format)
	if err != nil {
		return nil, err
	}
	lists := make(Lists)
	for _, kind := range ListKinds {
		kept := root.Member(kind.Method)
		if kept.Kind() != "array" {
			continue
		}
		lists[kind] = NewList(server, kind, slices.Collect(kept.Elements()), "")
	}
	return lists, nil
}
