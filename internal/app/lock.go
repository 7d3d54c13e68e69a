package app

import (
	"context"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
)

// lockOf returns the lock that a configuration demands; nil if it demands none.
func lockOf(cfg *config.Config) (*catalog.Lock, error) {
	if !cfg.Locked {
		return nil, nil
	}
	if cfg.Lock == nil {
		return nil, &toolbox.Error{
			Code:    toolbox.LockMissing,
			Message: fmt.Sprintf("'locked' is true in %s, but there is no %s beside it, so that nothing is approved", cfg.Path, toolbox.LockFile),
			Hint:    "See what the servers offer, and approve it: mcp-workbench lock",
		}
	}
	return ParseLock(cfg.LockPath(), cfg.Lock)
}

// ParseLock reads the content of a lock. The error is for people.
func ParseLock(path string, data []byte) (*catalog.Lock, error) {
	lock, err := catalog.ParseLock(data)
	if err != nil {
		return nil, &toolbox.Error{
			Code:    toolbox.LockDamaged,
			Message: fmt.Sprintf("%s is damaged, and approves nothing: %v", path, err),
			Hint:    "Restore it from version control. Or remove it, run 'mcp-workbench lock', and look at what it approves.",
			Cause:   err,
		}
	}
	return lock, nil
}

// CheckLock says what is wrong with the lock that a configuration demands, if anything.
func CheckLock(cfg *config.Config) error {
	_, err := lockOf(cfg)
	return err
}

// Offer is what one server offers, or why that is not known.
type Offer struct {
	Toolbox, Server string
	Tools           *catalog.Snapshot // nil with an error
	Err             error
}

// Offers connects all servers, and returns what they offer to any client, in the order of
// the configuration.
func (a *App) Offers(ctx context.Context) []Offer {
	var servers []*fleet.Server
	for _, box := range a.fleet.Toolboxes() {
		servers = append(servers, box.Servers...)
	}
	party := NewOnlooker(ByAnyone)
	defer party.Close()
	offers := make([]Offer, len(servers))
	for i, opened := range fleet.Connect(ctx, servers, party, nil) {
		offers[i] = Offer{Toolbox: servers[i].Toolbox(), Server: servers[i].Name(), Err: opened.Err}
		if opened.Lease != nil {
			offers[i].Tools = opened.Lease.Tools
			opened.Lease.Release()
		}
	}
	return offers
}
