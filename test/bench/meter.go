package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// meter reads what one process has used, of which a workbench tells its allocations.
type meter struct {
	pid     int
	control *control.Client // nil: no workbench
}

// usage is what a process has used since its start.
type usage struct {
	cpu         time.Duration
	allocations uint64
}

// newMeter finds the workbench of a process in a runtime folder.
func newMeter(pid int, runtimeFolder string) (*meter, error) {
	dir, err := runtimedir.Open(func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return runtimeFolder
		}
		return ""
	}, "")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		found, err := control.Find(ctx, dir)
		if err != nil {
			return nil, err
		}
		for _, client := range found {
			if client.Status.PID == pid {
				return &meter{pid, client}, nil
			}
		}
	}
	return nil, errors.New("the workbench has no control socket")
}

// begin reads what was used until now. Asking costs allocations itself, which is found out
// by asking twice and counted in advance.
func (m *meter) begin() (u usage, err error) {
	if m == nil {
		return usage{}, nil
	}
	if m.control != nil {
		first, err := m.control.Refresh(context.Background())
		if err != nil {
			return u, err
		}
		second, err := m.control.Refresh(context.Background())
		if err != nil {
			return u, err
		}
		u.allocations = second.Allocations + (second.Allocations - first.Allocations)
	}
	u.cpu, err = cpuTime(m.pid)
	return u, err
}

// since returns what was used since begin.
func (m *meter) since(before usage) (u usage, err error) {
	if m == nil {
		return usage{}, nil
	}
	if u.cpu, err = cpuTime(m.pid); err != nil {
		return u, err
	}
	u.cpu -= before.cpu
	if m.control != nil {
		status, err := m.control.Refresh(context.Background())
		if err != nil {
			return u, err
		}
		u.allocations = max(status.Allocations, before.allocations) - before.allocations
	}
	return u, nil
}

// cpuTime returns what all threads of a process have used, to the nanosecond on Linux.
func cpuTime(pid int) (total time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that has ended
		}
		used, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseInt(used, 10, 64) // the kernel wrote it
		total += time.Duration(n)
	}
	return total, nil
}
