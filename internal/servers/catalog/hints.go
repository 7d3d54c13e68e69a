package catalog

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Hints are what the annotations of a tool claim about it. Those that are absent have the defaults of MCP.
type Hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld bool }

// Hints returns the claims of the tool, whether they are doubted or not. One that is made twice in different ways, or is
// not a boolean, is none.
func (t Tool) Hints() Hints {
	hints := Hints{Destructive: true, OpenWorld: true}
	for _, claim := range []struct {
		name string
		hint *bool
	}{
		{"readOnlyHint", &hints.ReadOnly},
		{"destructiveHint", &hints.Destructive},
		{"idempotentHint", &hints.Idempotent},
		{"openWorldHint", &hints.OpenWorld},
	} {
		if value, ok := t.claim(claim.name); ok {
			*claim.hint = value
		}
	}
	hints.Destructive = hints.Destructive && !hints.ReadOnly
	return hints
}

// claim returns the value of an annotation, if it has one.
func (t Tool) claim(name string) (value, ok bool) {
	for key, annotations := range t.Definition.Members() {
		if string(key) != "annotations" {
			continue
		}
		for key, member := range annotations.Members() {
			if string(key) != name {
				continue
			}
			isTrue := string(member.Bytes()) == "true"
			if member.Kind() != "boolean" || ok && value != isTrue {
				return false, false
			}
			value, ok = isTrue, true
		}
	}
	return value, ok
}

// encode returns a digit for each hint.
func (h Hints) encode() string {
	text := ""
	for _, hint := range []bool{h.ReadOnly, h.Destructive, h.Idempotent, h.OpenWorld} {
		text += map[bool]string{true: "1", false: "0"}[hint]
	}
	return text
}

func parseHints(text string) (h Hints, ok bool) {
	if len(text) != 4 || strings.Trim(text, "01") != "" {
		return h, false
	}
	return Hints{text[0] == '1', text[1] == '1', text[2] == '1', text[3] == '1'}, true
}

// HintChange is a tool whose hints changed, which nobody accepted.
type HintChange struct {
	Tool          string
	Before, After Hints
}

// ChangedHints returns the tools whose hints do not count because they changed, in order.
func (s *Snapshot) ChangedHints() (changes []HintChange) {
	if s.restricted != nil {
		s = s.restricted.settled
	}
	for _, tool := range s.Tools {
		if tool.hintsChanged {
			changes = append(changes, HintChange{tool.Name, tool.hintsBefore, tool.Hints()})
		}
	}
	return changes
}

// WithoutTrust returns the snapshot with all hints doubted.
func (s *Snapshot) WithoutTrust() *Snapshot {
	if s == nil {
		return nil
	}
	doubted := *s
	doubted.hintsDistrusted = true
	doubted.Tools = slices.Clone(s.Tools)
	for i := range doubted.Tools {
		doubted.Tools[i].HintsDoubted = true
	}
	return &doubted
}

// knownHints are the accepted hints of a server's tools, by the hash of the name.
type knownHints struct {
	order []Hash // those offered last come first
	hints map[Hash]Hints
}

// maxHints bounds the tools of a server whose hints are remembered, removed ones included; those that were removed first
// are forgotten. Hints of tools beyond maxOffered are doubted.
const maxHints = maxOffered + maxVanished

const (
	hintsSuffix  = ".hints"
	maxHintsFile = 2 << 20 // bytes of a file of hints that is read; it has room for maxHints
)

// Doubt marks the tools of a cached snapshot whose definitions or hints are not those that were accepted, and warns of
// the definitions. It remembers nothing. The server's name is used in warnings.
func (b *Baseline) Doubt(server string, key Hash, snapshot *Snapshot) *Snapshot {
	if b == nil || snapshot == nil {
		return snapshot
	}
	if snapshot.restricted != nil {
		snapshot = snapshot.restricted.whole
	}
	s := b.memoryOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	known, _ := b.loadHints(key, s)
	_ = b.loadFormer(key, s) // what is known stays
	return s.former.mark(server, known.mark(snapshot))
}

// Accept makes the present hints of the named tools those that count.
func (b *Baseline) Accept(key Hash, snapshot *Snapshot, names []string) error {
	if snapshot.restricted != nil {
		snapshot = snapshot.restricted.whole
	}
	s := b.memoryOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	known, err := b.loadHints(key, s)
	if err != nil {
		return err
	}
	for _, name := range names {
		if tool, ok := snapshot.Find(name); ok {
			known.set(sha256.Sum256([]byte(name)), tool.Hints())
		}
	}
	return b.saveHints(key, s, known)
}

// compareHints remembers the hints of new tools, and marks those whose hints are not the accepted ones. The caller holds
// mu.
func (b *Baseline) compareHints(key Hash, s *serverMemory, snapshot *Snapshot) (*Snapshot, error) {
	known, err := b.loadHints(key, s)
	var order []Hash
	for _, tool := range snapshot.Tools {
		name := Hash(sha256.Sum256([]byte(tool.Name)))
		if _, seen := known.hints[name]; seen {
			order = append(order, name)
		}
	}
	for _, tool := range snapshot.Tools {
		name := Hash(sha256.Sum256([]byte(tool.Name)))
		if _, seen := known.hints[name]; !seen && len(order) < maxOffered {
			known.hints[name] = tool.Hints()
			order = append(order, name)
		}
	}
	known.offer(order)
	return known.mark(snapshot), errors.Join(err, b.saveHints(key, s, known))
}

// offer moves names to the front, and forgets those that were offered least recently.
func (k *knownHints) offer(names []Hash) {
	offered := make(map[Hash]bool, len(names))
	for _, name := range names {
		offered[name] = true
	}
	order := names
	for _, name := range k.order {
		switch {
		case offered[name]:
		case len(order) < maxHints:
			order = append(order, name)
		default:
			delete(k.hints, name)
		}
	}
	k.order = order
}

func (k *knownHints) set(name Hash, hints Hints) {
	if _, known := k.hints[name]; !known {
		k.order = append(k.order, name)
	}
	k.hints[name] = hints
}

// mark returns the snapshot with the tools marked whose hints are others than these; the same one if nothing changes.
func (k *knownHints) mark(s *Snapshot) *Snapshot {
	marked := s
	for i := range s.Tools {
		tool := s.Tools[i]
		before, known := k.hints[sha256.Sum256([]byte(tool.Name))]
		if !known {
			// Nothing is remembered of tools beyond the limit, so that nobody can tell whether their hints changed.
			before = tool.Hints()
		}
		changed := before != tool.Hints() || !known && len(k.hints) >= maxOffered
		if changed == tool.hintsChanged && (!changed || before == tool.hintsBefore) {
			continue
		}
		if marked == s {
			clone := *s
			clone.Tools = slices.Clone(s.Tools)
			marked = &clone
		}
		tool.hintsChanged, tool.hintsBefore, tool.HintsDoubted = changed, before, changed || s.hintsDistrusted
		marked.Tools[i] = tool
	}
	return marked
}

// loadHints returns the accepted hints. It reads the file each time, since a person may have accepted hints meanwhile.
// The caller holds mu.
func (b *Baseline) loadHints(key Hash, s *serverMemory) (*knownHints, error) {
	if s.hints == nil {
		s.hints = &knownHints{hints: make(map[Hash]Hints)}
	}
	if b.hintStore.folder == "" {
		return s.hints, nil
	}
	data, _, err := safefile.Read(b.hintStore.path(key), b.hintStore.maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s.hints, nil
	}
	if err != nil {
		return s.hints, err
	}
	content := Hash(sha256.Sum256(data))
	if content == s.hintsFile {
		return s.hints, nil
	}
	if err := b.hintStore.kind.Check(b.hintStore.path(key), data); err != nil {
		return s.hints, err
	}
	known, err := decodeHints(data)
	if err != nil {
		return s.hints, fmt.Errorf("%s is damaged: %w", b.hintStore.path(key), err)
	}
	b.hintStore.touch(key)
	s.hints, s.hintsFile = known, content
	return known, nil
}

// saveHints writes the accepted hints if they changed. The caller holds mu.
func (b *Baseline) saveHints(key Hash, s *serverMemory, known *knownHints) error {
	s.hints = known
	if b.hintStore.folder == "" || len(known.order) == 0 {
		return nil
	}
	data := known.encode()
	content := Hash(sha256.Sum256(data))
	if content == s.hintsFile {
		return nil
	}
	isNew := s.hintsFile == Hash{}
	if err := b.hintStore.replaceFile(key, data); err != nil {
		return err
	}
	s.hintsFile = content
	if isNew {
		b.hintStore.prune()
	}
	return nil
}

// encode returns the content of a file. Names are hashed, which bounds their length.
func (k *knownHints) encode() []byte {
	out := fmt.Appendf(nil, `{"version":%d,"tools":{`, stored.Hints.Format)
	for i, name := range k.order {
		if i > 0 {
			out = append(out, ",\n"...)
		}
		out = fmt.Appendf(out, `"%s":"%s"`, name, k.hints[name].encode())
	}
	return append(out, "}}\n"...)
}

func decodeHints(data []byte) (*knownHints, error) {
	root, err := wire.ParseValue(data)
	if err != nil {
		return nil, err
	}
	if version := string(root.Member("version").Bytes()); version != strconv.Itoa(stored.Hints.Format) {
		return nil, fmt.Errorf("its version is %.20s, not %d", version, stored.Hints.Format)
	}
	known := &knownHints{hints: make(map[Hash]Hints)}
	return known, eachMember(root.Member("tools"), "'tools'", func(name string, value wire.Payload) error {
		var hash Hash
		text, _ := value.Text()
		hints, ok := parseHints(text)
		if !ok || !parseHash(name, &hash) {
			return fmt.Errorf("tool number %d has no hints", len(known.order)+1)
		}
		known.set(hash, hints)
		return nil
	})
}
