package fleet

import (
	"errors"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// Changes returns a number that differs when the open changes of a server may. It is cheap.
func (f *Fleet) Changes() uint64 { return f.changes.Load() }

// CountChanges returns how many definitions and instructions changed that no person has accepted. It may read files of
// servers that were not looked at yet.
func (s *Server) CountChanges() int {
	var only *catalog.Snapshot
	for _, variant := range s.allVariants() {
		offered := variant.Offered()
		switch {
		case offered.OpenChanges() == 0:
		case only == nil:
			only = offered
		default:
			return len(s.changedVariants())
		}
	}
	return only.OpenChanges()
}

// changedVariants returns a variant for each open change.
func (s *Server) changedVariants() map[catalog.ChangeID]*Server {
	all := make(map[catalog.ChangeID]*Server)
	for _, variant := range s.allVariants() {
		for _, id := range variant.Offered().ChangeIDs() {
			if all[id] == nil {
				all[id] = variant
			}
		}
	}
	return all
}

// OpenChanges returns what changed of the server and was not accepted, in any of its copies, each change once.
func (s *Server) OpenChanges() (all []catalog.OpenChange) {
	seen := make(map[catalog.ChangeID]bool)
	mask := s.fleet.masker.Load().Mask
	for _, variant := range s.allVariants() {
		offered := variant.Offered()
		if offered.OpenChanges() == 0 {
			continue
		}
		for _, change := range s.fleet.options.Baseline.OpenChanges(definitionKey(variant.toolbox, variant.config), offered, mask) {
			if id := (catalog.ChangeID{Tool: change.Tool, Hash: change.After.Hash}); !seen[id] {
				seen[id] = true
				all = append(all, change)
			}
		}
	}
	return all
}

// AcceptChange makes a definition that the server offers the accepted one, in all its copies that offer it. It becomes
// visible with ReviewHints.
func (s *Server) AcceptChange(id catalog.ChangeID) error {
	accepted := false
	mask := s.fleet.masker.Load().Mask
	for _, variant := range s.allVariants() {
		offered := variant.Offered()
		if offered == nil {
			continue
		}
		err := s.fleet.options.Baseline.AcceptChange(definitionKey(variant.toolbox, variant.config), offered, id, mask)
		switch {
		case err == nil:
			accepted = true
		case !errors.Is(err, catalog.ErrNotOffered):
			return err
		}
	}
	if !accepted {
		return catalog.ErrNotOffered
	}
	return nil
}
