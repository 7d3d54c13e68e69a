package catalog

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
)

// formerContent is what was accepted of a server, as far as it changed since it was first seen: the instructions, and
// definitions by the hash of the tool's name. What never changed is not in it, so that most servers have no file. An entry
// stays when the server returns to it: several workbenches, or several copies of the server, may see it in turns.
type formerContent struct {
	instructions *Record
	tools        map[Hash]Record

	// earlier is what was accepted before that in this run, by the hash of the tool's name: other copies of the server may
	// offer it until they are started again. It is not stored.
	earlier map[[2]Hash]bool

	// recent has the names of tools that changed in this run, and were not accepted since; a name of zeros is for the
	// instructions. Clients are warned of them, even if they changed back. It is not stored.
	recent map[Hash]bool
}

const changesSuffix = ".changes"

// isEmpty reports whether nothing has ever changed.
func (f *formerContent) isEmpty() bool { return f.instructions == nil && len(f.tools) == 0 }

// changedTool reports whether a tool differs from what was accepted.
func (f *formerContent) changedTool(tool Tool) bool {
	name := Hash(sha256.Sum256([]byte(tool.Name)))
	former, ok := f.tools[name]
	return ok && !former.IsOf(tool) && !f.earlier[[2]Hash{name, tool.Hash()}]
}

// changedInstructions reports whether a server has instructions that differ from the accepted ones.
func (f *formerContent) changedInstructions(s *Snapshot) bool {
	return f.instructions != nil && s.HasInstructions() && f.instructions.Hash != s.instructionsHash() && !f.earlier[[2]Hash{{}, s.instructionsHash()}]
}

// mark returns the snapshot with what changed marked, and a warning for what changed in this run; the same one if nothing
// changes.
func (f *formerContent) mark(server string, s *Snapshot) *Snapshot {
	marks := changeMarks{instructions: changeMark{f.recent[Hash{}], f.changedInstructions(s)}}
	same := s.instructions == marks.instructions
	for i, tool := range s.Tools {
		mark := changeMark{f.recent[sha256.Sum256([]byte(tool.Name))], f.changedTool(tool)}
		same = same && mark == changeMark{tool.Changed, tool.unaccepted}
		if mark != (changeMark{}) {
			marks.tools = append(marks.tools, markedTool{i, mark})
		}
	}
	if same {
		return s
	}
	return s.withoutChangeMarks().withChangeMarks(server, marks)
}

// noteRecent notes that something changed in this run. What was accepted before is no change: another copy of the server
// still offers it. A name of zeros is for the instructions.
func (f *formerContent) noteRecent(name, now Hash) {
	if f.earlier[[2]Hash{name, now}] {
		return
	}
	if f.recent == nil {
		f.recent = make(map[Hash]bool)
	}
	f.recent[name] = true
}

// setEarlier notes what was accepted until now. A name of zeros is for the instructions.
func (f *formerContent) setEarlier(name Hash, record Record) {
	if f.earlier == nil {
		f.earlier = make(map[[2]Hash]bool)
	}
	f.earlier[[2]Hash{name, record.Hash}] = true
}

// nameHash returns the hash of a tool's name, and zeros for the instructions.
func nameHash(tool string) (name Hash) {
	if tool != "" {
		name = sha256.Sum256([]byte(tool))
	}
	return name
}

// setTool makes a record the accepted one of a tool.
func (f *formerContent) setTool(name Hash, record Record) {
	if f.tools == nil {
		f.tools = make(map[Hash]Record)
	}
	f.tools[name] = record
}

// keep remembers what was accepted before these changes, unless that is known, and that they are of this run. The caller
// holds mu.
func (s *serverMemory) keep(changes []Change) {
	f := &s.former
	for _, change := range changes {
		name := nameHash(change.Tool)
		_, known := f.tools[name]
		f.noteRecent(name, change.After.Hash)
		switch {
		case change.Tool == "" && f.instructions == nil:
			f.instructions = &change.Before
		case change.Tool != "" && !known:
			f.setTool(name, change.Before)
		}
	}
	if len(f.tools) == 0 {
		return
	}
	known := make(map[Hash]bool, len(s.tools))
	for _, tool := range s.tools {
		known[tool.name] = true
	}
	for name := range f.tools {
		if !known[name] { // it vanished, and was forgotten
			delete(f.tools, name)
		}
	}
}

// loadFormer reads what was accepted. It reads the file each time, since a person may have accepted the changes
// meanwhile. The caller holds mu.
func (b *Baseline) loadFormer(key Hash, s *serverMemory) error {
	st := b.changeStore
	if st.folder == "" {
		return nil
	}
	data, _, err := safefile.Read(st.path(key), st.maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		s.formerFile = Hash{} // it is written again
		return nil
	}
	if err != nil {
		return err
	}
	content := Hash(sha256.Sum256(data))
	if content == s.formerFile {
		return nil
	}
	if err := st.kind.Check(st.path(key), data); err != nil {
		return err
	}
	decoded, err := decode(data, st.kind)
	if err != nil {
		return fmt.Errorf("%s is damaged: %w", st.path(key), err)
	}
	st.touch(key)
	s.formerFile = content
	before := s.former
	s.former = formerContent{instructions: decoded.instructions, earlier: before.earlier, recent: before.recent, tools: make(map[Hash]Record, len(decoded.tools))}
	for _, tool := range decoded.tools {
		s.former.tools[tool.name] = tool.record
	}
	if s.loaded {
		s.settleAccepted(&before)
	}
	return nil
}

// settleAccepted ends the warnings about what was accepted in another workbench meanwhile. The caller holds mu.
func (s *serverMemory) settleAccepted(before *formerContent) {
	settle := func(name Hash, accepted Record) {
		s.former.setEarlier(name, accepted)
		delete(s.former.recent, name)
	}
	for _, tool := range s.tools {
		accepted, ok := s.former.tools[tool.name]
		was, known := before.tools[tool.name]
		if !known {
			was = tool.record
		}
		if ok && accepted.Hash != was.Hash {
			settle(tool.name, accepted)
		}
	}
	was := before.instructions
	if was == nil {
		was = s.instructions
	}
	if now := s.former.instructions; now != nil && was != nil && now.Hash != was.Hash {
		settle(Hash{}, *now)
	}
}

// saveFormer writes what was accepted if it changed. The caller holds mu.
func (b *Baseline) saveFormer(key Hash, s *serverMemory) error {
	st := b.changeStore
	if st.folder == "" || s.former.isEmpty() {
		return nil
	}
	content := fileContent{instructions: s.former.instructions}
	for name, record := range s.former.tools {
		content.tools = append(content.tools, rememberedTool{name, record})
	}
	slices.SortFunc(content.tools, func(a, b rememberedTool) int { return bytes.Compare(a.name[:], b.name[:]) })
	return st.save(key, &content, &s.formerFile)
}
