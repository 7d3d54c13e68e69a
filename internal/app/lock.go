package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// restrictionsOf returns which tools the locks and the policy of a configuration show to clients; nil for all.
func restrictionsOf(cfg *config.Config) (*catalog.Restrictions, error) {
	lock, err := lockOf(cfg)
	if err != nil {
		return nil, err
	}
	rules := policy.New(cfg)
	switch {
	case rules != nil:
		denies := func(caller string, ref toolbox.Ref, tool catalog.Tool) bool {
			return rules.AlwaysDenies(&policy.Query{Caller: caller, Ref: ref, Tool: tool.Definition, HintsDoubted: tool.HintsDoubted})
		}
		return &catalog.Restrictions{Lock: lock, Denies: denies, Callers: rules.Callers()}, nil
	case lock != nil:
		return &catalog.Restrictions{Lock: lock}, nil
	}
	return nil, nil
}

// lockOf returns the lock of a configuration; nil if it requires none. Each file's lock applies to its own toolboxes
// only, not to a toolbox of the same name in another file.
func lockOf(cfg *config.Config) (*catalog.Lock, error) {
	all, isLocked := &catalog.Lock{}, false
	for _, file := range cfg.Files {
		if !file.Locked {
			for _, box := range cfg.Toolboxes {
				if box.File == file.Path {
					all.Free = append(all.Free, box.Name)
				}
			}
			continue
		}
		isLocked = true
		lock, err := lockOfFile(file)
		if err != nil {
			return nil, err
		}
		for _, server := range lock.Servers {
			if isFrom(cfg, server.Toolbox, file) {
				all.Servers = append(all.Servers, server)
			}
		}
	}
	if !isLocked {
		return nil, nil
	}
	return all, nil
}

func isFrom(cfg *config.Config, name string, file config.File) bool {
	return slices.ContainsFunc(cfg.Toolboxes, func(box config.Toolbox) bool { return box.Name == name && box.File == file.Path })
}

func lockOfFile(file config.File) (*catalog.Lock, error) {
	if file.Lock == nil {
		beside := "it"
		if file.LockedBy != file.Path {
			beside = file.Path
		}
		if file.Assumed {
			return nil, &toolbox.Error{
				Code:    toolbox.LockMissing,
				Message: fmt.Sprintf("%s cannot be read and may say 'locked', and there is no %s beside %s, so nothing is approved", file.LockedBy, toolbox.LockFile, beside),
				Hint:    "Fix " + file.LockedBy + " first.",
			}
		}
		return nil, &toolbox.Error{
			Code:    toolbox.LockMissing,
			Message: fmt.Sprintf("'locked' is true in %s, but there is no %s beside %s, so nothing is approved", file.LockedBy, toolbox.LockFile, beside),
			Hint:    "To review and approve what the servers offer: mcp-workbench lock",
		}
	}
	return ParseLock(file.LockPath(), file.Lock)
}

// ParseLock reads the content of a lock. The error is for people.
func ParseLock(path string, data []byte) (*catalog.Lock, error) {
	if err := stored.Lock.Check(path, data); err != nil {
		return nil, err
	}
	lock, err := catalog.ParseLock(data)
	if err != nil {
		return nil, &toolbox.Error{
			Code:    toolbox.LockDamaged,
			Message: fmt.Sprintf("%s is damaged and approves nothing: %v", path, err),
			Hint:    "Restore it from version control. Or remove it, run 'mcp-workbench lock', and review what it approves.",
			Cause:   err,
		}
	}
	return lock, nil
}

// CheckLock returns the problem of the locks that a configuration requires, or nil.
func CheckLock(cfg *config.Config) error {
	_, err := lockOf(cfg)
	return err
}

// Offer is the tools and instructions of one server, or the error of connecting it.
type Offer struct {
	Toolbox, Server string
	Tools           *catalog.Snapshot // nil with an error
	Err             error
}

// Offers connects all servers and returns their offers, in the order of the configuration.
func (a *App) Offers(ctx context.Context) []Offer {
	var servers []*fleet.Server
	for _, box := range a.fleet.Toolboxes() {
		servers = append(servers, box.Servers...)
	}
	profile := NewOnlooker(ByAnyone)
	defer profile.Close()
	offers := make([]Offer, len(servers))
	for i, opened := range fleet.Connect(ctx, servers, profile, nil) {
		offers[i] = Offer{Toolbox: servers[i].Toolbox(), Server: servers[i].Name(), Err: opened.Err}
		if opened.Lease != nil {
			offers[i].Tools = opened.Lease.Tools
			opened.Lease.Release()
		}
	}
	return offers
}
