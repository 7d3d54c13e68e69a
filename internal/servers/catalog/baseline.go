package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"slices"
	"sync"
)

// Hash is a sha256. In texts it is written in hexadecimal digits.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Baseline remembers in which form each tool was last offered, and what instructions a server gave, so that what
// changed is noticed: within a run, and with a folder also from one run to the
// next. What is compared is what the server says, not what is left of it when it is cleaned. It is safe for concurrent
// use, and blocks on the disk.
type Baseline struct {
	store store
	log   *slog.Logger

	mu      sync.Mutex // guards the map alone, never held during work
	servers map[Hash]*seen
}

// Change is a tool that is offered in another form than before, or instructions that are others.
type Change struct {
	Tool          string // "" for the server's instructions
	Before, After Record
}

// Limits of what is remembered of one server: what it offers, and what it offered once.
// Without the second, a server with new names at every start would fill the disk.
const (
	maxOffered  = 10_000 // tools of a server whose changes are detected
	maxVanished = 1_000  // tools that are remembered after they vanished; further ones are forgotten
)

// seen is what is remembered of one server.
type seen struct {
	mu     sync.Mutex // held while the file is read or written: only starts and refreshes wait
	loaded bool
	failed bool // the file could not be written, which is said once
	file   Hash // of the content that the file had when it was last read or written
	known
	instructed bool // in this run, in other words than before
}

// known is what the file of a server holds.
type known struct {
	instructions *Record    // those that it gave last; nil if that is not known
	tools        []seenTool // those offered last, then those that vanished, the latest first
}

type seenTool struct {
	name    Hash
	record  Record
	changed bool // at some time in this run
}

// NewBaseline makes a baseline that keeps a file per server in a folder, which is made
// when there is something to keep. Without a folder it remembers only this run. What
// goes wrong with files is told to the log, and stops nothing.
func NewBaseline(folder string, log *slog.Logger) *Baseline {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	files := store{folder: folder, suffix: seenSuffix, maxFile: maxStoredFile, maxAll: maxStoredBytes}
	return &Baseline{store: files, log: log, servers: make(map[Hash]*seen)}
}

// Compare compares what a server offers with what it offered before, and remembers it.
// The returned snapshot warns of every tool that changed in this run, however long ago;
// the changes are those since the last reading. The key tells one configured server
// from another; its name is for the warnings. Words that mask changes are kept as it makes them.
func (b *Baseline) Compare(server string, key Hash, snapshot *Snapshot, mask func(string) string) (*Snapshot, []Change) {
	s := b.server(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	log := b.log.With("server", server)
	if !s.loaded {
		s.loaded = true
		var err error
		if s.known, s.file, err = b.store.load(key); err != nil {
			log.Warn("could not read the definitions seen before; a change since then goes unnoticed", "reason", err)
		}
	}
	changes, marked := s.observe(snapshot.Tools, mask)
	changes = append(s.listen(snapshot, mask), changes...)
	if len(snapshot.Tools) > maxOffered {
		log.Warn("the server has too many tools to notice a change in each", "tools", len(snapshot.Tools), "remembered", maxOffered)
	}
	if err := b.store.save(key, s); err != nil && !s.failed {
		s.failed = true
		log.Warn("could not keep the definitions; a change may go unnoticed in the next run", "reason", err)
	}
	return snapshot.warnOfChanges(server, marked, s.instructed), changes
}

// listen takes note of the server's instructions. Those that a server gives no longer stay remembered. Called with mu
// held.
func (s *seen) listen(snapshot *Snapshot, mask func(string) string) (changes []Change) {
	if snapshot.said == "" && s.instructions != nil {
		return nil
	}
	now := snapshot.Instructed(mask)
	if was := s.instructions; was != nil && was.Hash != now.Hash {
		s.instructed = true
		changes = []Change{{Before: *was, After: *now}}
	}
	s.instructions = now
	return changes
}

func (b *Baseline) server(key Hash) *seen {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.servers[key]
	if !ok {
		s = &seen{}
		b.servers[key] = s
	}
	return s
}

// observe takes note of what is offered now. It returns what changed since the last
// time, and the names of all tools that changed in this run. Called with mu held.
func (s *seen) observe(tools []Tool, mask func(string) string) (changes []Change, marked []string) {
	before := make(map[Hash]seenTool, len(s.tools))
	for _, tool := range s.tools {
		before[tool.name] = tool
	}
	// Whoever was known comes before newcomers, so that a crowd of new tools cannot make
	// us forget an old one.
	var known, added []seenTool
	for _, tool := range tools {
		now := seenTool{name: sha256.Sum256([]byte(tool.Name)), record: tool.Record(mask)}
		was, ok := before[now.name]
		if !ok {
			added = append(added, now)
			continue
		}
		delete(before, now.name)
		isSame := was.record.IsOf(tool)
		if !isSame {
			changes = append(changes, Change{Tool: tool.Name, Before: was.record, After: now.record})
		}
		now.changed = was.changed || !isSame
		if now.changed {
			marked = append(marked, tool.Name)
		}
		known = append(known, now)
	}
	known = append(known, added...)
	known = known[:min(len(known), maxOffered)]
	vanished := 0
	for _, tool := range s.tools {
		if _, gone := before[tool.name]; gone && vanished < maxVanished {
			delete(before, tool.name) // once, whatever the file held
			known = append(known, tool)
			vanished++
		}
	}
	s.tools = known
	return changes, marked
}

// warnOfChanges returns the snapshot with a warning for each of these tools, which it marks. Warnings of changes come
// first.
func (s *Snapshot) warnOfChanges(server string, tools []string, instructed bool) *Snapshot {
	if len(tools) == 0 && !instructed {
		return s
	}
	var first Snapshot
	if instructed {
		first.warn("", "Instructions of server '%s' changed", server)
	}
	warned := *s
	warned.Tools = slices.Clone(s.Tools)
	for _, tool := range tools {
		first.warn(tool, "Definition of tool '%s' in server '%s' changed", tool, server)
		warned.Tools[s.byName[tool]].Changed = true
	}
	warned.warnFirst(&first)
	return &warned
}
