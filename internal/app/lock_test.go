package app

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Of a name that is in both files, the user's lock approves nothing: the toolbox is the
// project's.
func TestLocksOfTwoFiles(t *testing.T) {
	project, user := filepath.FromSlash("/p/c.json"), filepath.FromSlash("/u/c.json")
	of := func(box, tool string) catalog.LockedServer {
		return catalog.LockedServer{Toolbox: box, Server: "s", Tools: []catalog.LockedTool{{Name: tool}}}
	}
	encode := func(servers ...catalog.LockedServer) []byte { return (&catalog.Lock{Servers: servers}).Encode() }
	boxes := []config.Toolbox{{Name: "p", File: project}, {Name: "both", File: project}, {Name: "u", File: user}}
	for _, test := range []struct {
		name                  string
		projects, users       []byte // nil: not locked
		approved              map[string]bool
		projectHolds, usersDo bool
	}{
		{"both locked", encode(of("p", "x"), of("u", "x")), encode(of("both", "x"), of("u", "x")), map[string]bool{"p": true, "u": true}, true, true},
		{"the project's locked", encode(of("p", "x"), of("both", "x")), nil, map[string]bool{"p": true, "both": true}, true, false},
		{"the user's locked", nil, encode(of("u", "x"), of("p", "x")), map[string]bool{"u": true}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			lock, err := lockOf(&config.Config{Toolboxes: boxes, Files: []config.File{
				{Path: project, Locked: test.projects != nil, Lock: test.projects}, {Path: user, Locked: test.users != nil, Lock: test.users},
			}})
			if err != nil {
				t.Fatal(err)
			}
			for _, box := range []string{"p", "both", "u"} {
				if _, ok := lock.Find(box, "s"); ok != test.approved[box] {
					t.Errorf("of toolbox %s something is approved: %t", box, ok)
				}
			}
			if lock.HoldsFor("p") != test.projectHolds || lock.HoldsFor("both") != test.projectHolds || lock.HoldsFor("u") != test.usersDo {
				t.Errorf("the lock holds for others: %+v", lock)
			}
		})
	}
	_, err := lockOf(&config.Config{Toolboxes: boxes, Files: []config.File{{Path: project, Locked: true}, {Path: user}}})
	if wrong, ok := errors.AsType[*toolbox.Error](err); !ok || wrong.Code != toolbox.LockMissing {
		t.Errorf("without a lock: %v", err)
	}
	if lock, err := lockOf(&config.Config{Toolboxes: boxes, Files: []config.File{{Path: project}, {Path: user}}}); lock != nil || err != nil {
		t.Errorf("where nothing is locked: %v, %v", lock, err)
	}
}
