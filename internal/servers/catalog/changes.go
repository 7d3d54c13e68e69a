package catalog

import (
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
)

// OpenChange is a definition of a tool, or instructions, that changed and that no person has accepted.
type OpenChange struct {
	Tool   string  // "" for the server's instructions
	Before *Record // what was accepted; nil if nothing was
	After  Record  // what is offered

	Withheld string // why clients do not get it; "" if they do
	Hints    bool   // the hints changed, and do not count
}

// ChangeID identifies an open change.
type ChangeID struct {
	Tool string
	Hash Hash // of what is offered
}

// ErrNotOffered is the error for accepting what a server does not offer, or not any more.
var ErrNotOffered = errors.New("the server does not offer this now")

// OpenChanges returns how many changes of a snapshot no person has accepted.
func (s *Snapshot) OpenChanges() int {
	switch {
	case s == nil:
		return 0
	case s.restricted != nil:
		return s.restricted.open
	}
	return s.open
}

// lockOfView returns the lock that holds for a view, and what it approves of the server.
func (s *Snapshot) lockOfView() (approved LockedServer, isKnown, holds bool) {
	of := s.restricted
	if of == nil || !of.restrictions.Lock.HoldsFor(of.box) {
		return approved, false, false
	}
	approved, isKnown = of.restrictions.Lock.Find(of.box, of.server)
	return approved, isKnown, true
}

// settled returns the whole snapshot, with the hints that count.
func (s *Snapshot) settled() *Snapshot {
	if s.restricted != nil {
		return s.restricted.settled
	}
	return s
}

// ChangeIDs returns the open changes of a snapshot, the instructions first.
func (s *Snapshot) ChangeIDs() (ids []ChangeID) {
	if s.OpenChanges() == 0 {
		return nil
	}
	approved, isKnown, holds := s.lockOfView()
	s = s.settled()
	if s.instructions.open || holds && approved.withholdReason(s, isKnown) != "" {
		ids = append(ids, ChangeID{Hash: s.instructionsHash()})
	}
	records := approved.records()
	for _, tool := range s.Tools {
		record, known := records[tool.Name]
		if holds && (!known || !record.IsOf(tool)) || !holds && tool.unaccepted {
			ids = append(ids, ChangeID{tool.Name, tool.Hash()})
		}
	}
	return ids
}

// OpenChanges returns the changes of a snapshot that no person has accepted, the instructions first. Every string of
// what is offered passes through mask.
func (b *Baseline) OpenChanges(key Hash, s *Snapshot, mask func(string) string) (all []OpenChange) {
	ids := s.ChangeIDs()
	if len(ids) == 0 {
		return nil
	}
	approved, isKnown, holds := s.lockOfView()
	records := approved.records()
	former := b.formerOf(key)
	s = s.settled()
	for _, id := range ids {
		change := OpenChange{Tool: id.Tool}
		if id.Tool == "" {
			if !holds && !former.changedInstructions(s) {
				continue
			}
			change.After = *s.InstructionsRecord(mask)
			if change.Before = former.instructions; holds && approved.Instructions != nil {
				change.Before = approved.Instructions
			}
			if holds {
				change.Withheld = approved.withholdReason(s, isKnown)
			}
		} else {
			tool, _ := s.Find(id.Tool)
			if !holds && !former.changedTool(tool) {
				continue // a person has just accepted it
			}
			change.After, change.Hints = tool.Record(mask), tool.hintsChanged
			before, known := former.tools[sha256.Sum256([]byte(id.Tool))]
			if holds {
				before, known = records[id.Tool]
				change.Withheld = withheldTool(known)
			}
			if known {
				change.Before = &before
			}
		}
		if change.Before != nil && change.Tool == "" && change.Before.Hash == noInstructions {
			change.Before = nil
		}
		all = append(all, change)
	}
	return all
}

// formerOf returns what was accepted of a server.
func (b *Baseline) formerOf(key Hash) formerContent {
	s := b.memoryOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = b.loadFormer(key, s) // what is known stays
	former := formerContent{instructions: s.former.instructions, earlier: maps.Clone(s.former.earlier), tools: make(map[Hash]Record, len(s.former.tools))}
	for name, record := range s.former.tools {
		former.tools[name] = record
	}
	return former
}

// AcceptChange makes what a snapshot offers the accepted definition of a tool, with its hints, or the accepted
// instructions if no tool is named. It is refused if the hash is not that of what is offered.
func (b *Baseline) AcceptChange(key Hash, snapshot *Snapshot, id ChangeID, mask func(string) string) error {
	if snapshot.restricted != nil {
		snapshot = snapshot.restricted.whole
	}
	tool, ok := snapshot.Find(id.Tool)
	switch {
	case id.Tool == "" && (!snapshot.HasInstructions() || snapshot.instructionsHash() != id.Hash),
		id.Tool != "" && (!ok || tool.Hash() != id.Hash):
		return ErrNotOffered
	}
	if id.Tool != "" {
		if err := b.Accept(key, snapshot, []string{id.Tool}); err != nil {
			return err
		}
	}
	s := b.memoryOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := b.loadFormer(key, s); err != nil {
		return err
	}
	if id.Tool == "" {
		if was := s.former.instructions; was != nil {
			s.former.setEarlier(Hash{}, *was)
		}
		delete(s.former.recent, Hash{})
		s.former.instructions = snapshot.InstructionsRecord(mask)
	} else {
		name := Hash(sha256.Sum256([]byte(id.Tool)))
		if was, ok := s.former.tools[name]; ok {
			s.former.setEarlier(name, was)
		}
		delete(s.former.recent, name)
		s.former.setTool(name, tool.Record(mask))
	}
	return b.saveFormer(key, s)
}

// Approve returns the lock with one change accepted, and nothing else changed. version is that of the server, for one
// that the lock does not have yet: of it, nothing but this is approved.
func (l *Lock) Approve(box, server, version string, change OpenChange) *Lock {
	approved := *l
	approved.Servers = slices.Clone(l.Servers)
	at := slices.IndexFunc(approved.Servers, func(s LockedServer) bool { return s.Toolbox == box && s.Server == server })
	if at < 0 {
		at = len(approved.Servers)
		for i, other := range approved.Servers {
			if other.Toolbox == box {
				at = i + 1 // servers of one toolbox are adjacent
			}
		}
		approved.Servers = slices.Insert(approved.Servers, at, LockedServer{
			Toolbox: box, Server: server, Version: version, Instructions: &Record{Hash: noInstructions},
		})
	}
	entry := &approved.Servers[at]
	if change.Tool == "" {
		entry.Instructions = &change.After
		return &approved
	}
	entry.Tools = slices.Clone(entry.Tools)
	if i := slices.IndexFunc(entry.Tools, func(t LockedTool) bool { return t.Name == change.Tool }); i >= 0 {
		entry.Tools[i].Record = change.After
	} else {
		entry.Tools = append(entry.Tools, LockedTool{change.Tool, change.After})
	}
	return &approved
}
