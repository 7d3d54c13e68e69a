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

// mark returns the snapshot with what changed marked, and a warning for each; the same one if nothing changes.
func (f *formerContent) mark(server string, s *Snapshot) *Snapshot {
	var tools []string
	same := s.instructed == f.changedInstructions(s)
	for _, tool := range s.Tools {
		is := f.changedTool(tool)
		same = same && is == tool.Changed
		if is {
			tools = append(tools, tool.Name)
		}
	}
	if same {
		return s
	}
	return s.withoutChangeMarks().warnOfChanges(server, tools, f.changedInstructions(s))
}

// setEarlier notes what was accepted until now. A name of zeros is for the instructions.
func (f *formerContent) setEarlier(name Hash, record Record) {
	if f.earlier == nil {
		f.earlier = make(map[[2]Hash]bool)
	}
	f.earlier[[2]Hash{name, record.Hash}] = true
}

// setTool makes a record the accepted one of a tool.
func (f *formerContent) setTool(name Hash, record Record) {
	if f.tools == nil {
		f.tools = make(map[Hash]Record)
	}
	f.tools[name] = record
}

// keep remembers what was accepted before these changes, unless that is known. The caller holds mu.
func (s *serverMemory) keep(changes []Change) {
	f := &s.former
	for _, change := range changes {
		name := Hash(sha256.Sum256([]byte(change.Tool)))
		_, known := f.tools[name]
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
	s.former = formerContent{instructions: decoded.instructions, earlier: s.former.earlier, tools: make(map[Hash]Record, len(decoded.tools))}
	for _, tool := range decoded.tools {
		s.former.tools[tool.name] = tool.record
	}
	return nil
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
