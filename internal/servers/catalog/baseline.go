package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

// Hash is a SHA-256 hash. Its text form is hexadecimal.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Baseline remembers each tool's last definition and each server's instructions, to detect changes within a run and,
// with a folder, between runs. Of what changed it also remembers what was accepted.
// It compares what the server sent, before cleaning. It is safe for concurrent use, and blocks on the disk.
type Baseline struct {
	store       store
	changeStore store // of what was accepted before it changed; see formerContent
	hintStore   store // of accepted hints; see knownHints
	log         *slog.Logger

	mu      sync.Mutex // guards only the map; never held during work
	servers map[Hash]*serverMemory
}

// Change is a changed definition of a tool, or changed instructions.
type Change struct {
	Tool          string // "" for the server's instructions
	Before, After Record
}

// Limits of what is remembered of one server. Without the second, a server with new tool names at every start would
// fill the disk.
const (
	maxOffered  = 10_000 // tools of a server whose changes are detected
	maxVanished = 1_000  // removed tools of a server that are remembered; further ones are forgotten
)

// serverMemory is what is remembered of one server.
type serverMemory struct {
	mu     sync.Mutex // held while the file is read or written; only starts and refreshes wait for it
	loaded bool
	unread bool // reading what was accepted failed, which is logged once
	failed bool // writing the file failed, which is logged once
	file   Hash // hash of the file's content when it was last read or written
	fileContent

	former     formerContent
	formerFile Hash // hash of its file's content when it was last read or written; zero if there is none

	hints     *knownHints // those that were accepted; nil before they are needed
	hintsFile Hash        // hash of their file's content when it was last read or written
}

// fileContent is the content of a server's file.
type fileContent struct {
	instructions *Record          // the last ones; nil if unknown
	tools        []rememberedTool // the ones offered last, then removed ones, the latest first
}

type rememberedTool struct {
	name   Hash
	record Record
}

// NewBaseline returns a baseline that stores one file per server in a folder, which is created when first needed.
// Without a folder it remembers only this run. Errors with files are logged, and stop nothing.
func NewBaseline(folder string, log *slog.Logger) *Baseline {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	files := store{folder: folder, suffix: seenSuffix, kind: stored.Definitions, maxFile: maxStoredFile, maxAll: maxStoredBytes}
	changes := store{folder: folder, suffix: changesSuffix, kind: stored.Changes, maxFile: maxStoredFile, maxAll: maxStoredBytes}
	hints := store{folder: folder, suffix: hintsSuffix, kind: stored.Hints, maxFile: maxHintsFile, maxAll: maxStoredBytes}
	return &Baseline{store: files, changeStore: changes, hintStore: hints, log: log, servers: make(map[Hash]*serverMemory)}
}

// Compare compares a snapshot with what the server offered before, and remembers it. The returned snapshot warns of
// every tool that changed in this run and was not accepted since, and its tools are marked whose hints changed since they
// were first seen or accepted; the changes are those since the last comparison. key identifies the configured
// server; its name is used in warnings. Every stored string passes through mask first.
func (b *Baseline) Compare(server string, key Hash, snapshot *Snapshot, mask func(string) string) (*Snapshot, []Change) {
	s := b.memoryOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	log := b.log.With("server", server)
	if err := b.loadFormer(key, s); err != nil && !s.unread {
		s.unread = true
		log.Warn("could not read which definitions were accepted", "reason", err)
	}
	if !s.loaded {
		s.loaded = true
		var err error
		if s.fileContent, s.file, err = b.store.load(key); err != nil {
			log.Warn("could not read the definitions seen before; a change since then goes unnoticed", "reason", err)
		}
	}
	changes := s.compareTools(snapshot.Tools, mask)
	changes = append(s.compareInstructions(snapshot, mask), changes...)
	s.keep(changes)
	if len(snapshot.Tools) > maxOffered {
		log.Warn("the server has too many tools to detect a change in each", "tools", len(snapshot.Tools), "remembered", maxOffered)
	}
	// What was accepted is written first: without it, a change would go unnoticed.
	if err := errors.Join(b.saveFormer(key, s), b.store.save(key, &s.fileContent, &s.file)); err != nil && !s.failed {
		s.failed = true
		log.Warn("could not store the definitions; a change may go unnoticed in the next run", "reason", err)
	}
	snapshot, err := b.compareHints(key, s, snapshot)
	if err != nil && !s.failed {
		s.failed = true
		log.Warn("could not read or store the hints of tools; a change of them may go unnoticed in the next run", "reason", err)
	}
	return s.former.mark(server, snapshot), changes
}

// compareInstructions remembers the server's instructions. If a server no longer sends any, the last ones stay remembered. The
// caller holds mu.
func (s *serverMemory) compareInstructions(snapshot *Snapshot, mask func(string) string) (changes []Change) {
	if snapshot.rawInstructions == "" && s.instructions != nil {
		return nil
	}
	now := snapshot.InstructionsRecord(mask)
	if was := s.instructions; was != nil && was.Hash != now.Hash {
		changes = []Change{{Before: *was, After: *now}}
	}
	s.instructions = now
	return changes
}

func (b *Baseline) memoryOf(key Hash) *serverMemory {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.servers[key]
	if !ok {
		s = &serverMemory{}
		b.servers[key] = s
	}
	return s
}

// compareTools remembers the offered tools, and returns the changes since the last call. The caller holds mu.
func (s *serverMemory) compareTools(tools []Tool, mask func(string) string) (changes []Change) {
	before := make(map[Hash]rememberedTool, len(s.tools))
	for _, tool := range s.tools {
		before[tool.name] = tool
	}
	// Known tools come before new ones, so that a crowd of new tools cannot displace an old one.
	var known, added []rememberedTool
	for _, tool := range tools {
		now := rememberedTool{name: sha256.Sum256([]byte(tool.Name)), record: tool.Record(mask)}
		was, ok := before[now.name]
		if !ok {
			added = append(added, now)
			continue
		}
		delete(before, now.name)
		if !was.record.IsOf(tool) {
			changes = append(changes, Change{Tool: tool.Name, Before: was.record, After: now.record})
		}
		known = append(known, now)
	}
	known = append(known, added...)
	known = known[:min(len(known), maxOffered)]
	vanished := 0
	for _, tool := range s.tools {
		if _, gone := before[tool.name]; gone && vanished < maxVanished {
			delete(before, tool.name) // once, even if the file has it twice
			known = append(known, tool)
			vanished++
		}
	}
	s.tools = known
	return changes
}

// changeMark is what is known about a change: recent, if it was in this run, of which clients are warned, and open, until a
// person accepts it.
type changeMark struct{ recent, open bool }

// changeMarks are the changes of a snapshot.
type changeMarks struct {
	instructions changeMark
	tools        []markedTool
}

// markedTool is a tool that changed, by its index.
type markedTool struct {
	index int
	changeMark
}

// withChangeMarks returns the snapshot, which has no such marks, with these, and a warning for each change of this run.
// These warnings come first.
func (s *Snapshot) withChangeMarks(server string, marks changeMarks) *Snapshot {
	if marks.instructions == (changeMark{}) && len(marks.tools) == 0 {
		return s
	}
	var first Snapshot
	marked := *s
	marked.Tools, marked.instructions = slices.Clone(s.Tools), marks.instructions
	if marks.instructions.recent {
		first.warn("", "Instructions of server '%s' changed", server)
	}
	if marks.instructions.open {
		marked.open++
	}
	for _, mark := range marks.tools {
		tool := &marked.Tools[mark.index]
		tool.Changed, tool.unaccepted = mark.recent, mark.open
		if mark.recent {
			first.warn(tool.Name, "Definition of tool '%s' in server '%s' changed", tool.Name, server)
		}
		if mark.open {
			marked.open++
		}
	}
	marked.changeWarnings = len(first.Warnings)
	marked.warnFirst(&first)
	return &marked
}

// withoutChangeMarks undoes withChangeMarks.
func (s *Snapshot) withoutChangeMarks() *Snapshot {
	if !s.hasChangeMarks() {
		return s
	}
	plain := *s
	plain.Warnings, plain.about = s.Warnings[s.changeWarnings:], s.about[s.changeWarnings:]
	plain.Tools, plain.instructions, plain.open, plain.changeWarnings = slices.Clone(s.Tools), changeMark{}, 0, 0
	for i := range plain.Tools {
		plain.Tools[i].Changed, plain.Tools[i].unaccepted = false, false
	}
	return &plain
}

func (s *Snapshot) hasChangeMarks() bool { return s.open > 0 || s.changeWarnings > 0 }
