package app

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// keeping writes the history to files while the configuration says so.
type keeping struct {
	folder string // the state folder; "": nothing is written

	mu      sync.Mutex
	span    time.Duration // history.keep; 0: nothing is written
	keeper  *history.Keeper
	stopped bool
}

// keepHistory begins to write the history, or ends it, as a configuration says.
func (a *App) keepHistory(cfg *config.Config) {
	k := &a.keeping
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.folder == "" || k.stopped || cfg.History.Keep == k.span {
		return
	}
	if err := k.end(context.Background()); err != nil {
		a.log.Warn("the last calls may be missing in the history", "reason", err)
	}
	if k.span = cfg.History.Keep; k.span > 0 {
		k.keeper = a.history.Keep(history.Folder(k.folder), k.span, a.started, a.log)
	}
}

// stopKeeping writes the last calls.
func (a *App) stopKeeping(ctx context.Context) error {
	k := &a.keeping
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
	return k.end(ctx)
}

// end ends the writing. The caller holds mu.
func (k *keeping) end(ctx context.Context) error {
	if k.keeper == nil {
		return nil
	}
	keeper := k.keeper
	k.keeper = nil
	return keeper.Close(ctx)
}
