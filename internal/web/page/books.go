package page

import (
	"context"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// books are the workbenches that the page knows.
type books struct {
	find func(context.Context) ([]*control.Client, error)

	mu    sync.Mutex // guards known
	known map[int]*control.Client
}

// look finds the running workbenches. One that does not answer in time is not in the result.
func (b *books) look(ctx context.Context) ([]*control.Client, error) {
	found, err := b.find(ctx)
	known := make(map[int]*control.Client, len(found))
	for _, client := range found {
		known[client.Status.PID] = client
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known = known
	return found, err
}

// get returns one workbench; nil if it does not run.
func (b *books) get(ctx context.Context, pid int) *control.Client {
	if client := b.have(pid); client != nil {
		return client
	}
	_, _ = b.look(ctx) // what does not answer is not there
	return b.have(pid)
}

func (b *books) have(pid int) *control.Client {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known[pid]
}
