package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
)

// bench is a workbench with what it held before the torture.
type bench struct {
	*rig.Workbench
	files int
}

// Two servers are only asked for what works, four for everything that goes wrong.
var (
	healthy = []string{"healthy-1", "healthy-2"}
	faulty  = []string{"faulty-1", "faulty-2", "faulty-3", "faulty-4"}
)

// startBench starts a workbench with an audit log, which may be required.
func startBench(binary, dir string, isRequired bool) (*bench, error) {
	servers := make(map[string]rig.Server)
	for _, name := range healthy {
		servers[name] = rig.Server{Role: "torture", More: timeouts("30s")}
	}
	for _, name := range faulty {
		servers[name] = rig.Server{Role: "torture", More: timeouts("1s")}
	}
	w, err := rig.Start(rig.Options{
		Binary: binary, Dir: dir, Capabilities: "{}", Boxes: map[string]map[string]rig.Server{"dev": servers},
		Top: map[string]any{"audit": map[string]any{"required": isRequired}},
	})
	if w == nil {
		return nil, err
	}
	b := &bench{Workbench: w}
	if err != nil {
		return b, err
	}
	a, err := w.Open("dev").Wait(settleTime)
	if err == nil && (a.IsError || strings.Contains(a.Text, "_errors")) {
		err = errors.New(a.Text)
	}
	b.files = w.Descriptors()
	return b, err
}

func timeouts(call string) map[string]any {
	return map[string]any{"timeouts": map[string]string{"connect": "20s", "call": call}}
}

// finish checks what is left; each element is one check.
func (b *bench) finish() []error {
	checks := []error{
		rig.Eventually(settleTime, b.checkProcesses),
		rig.Eventually(settleTime, func() error {
			if files := b.Descriptors(); files > b.files+moreFiles {
				return fmt.Errorf("%d files were open at the start, and %d at the end", b.files, files)
			}
			return nil
		}),
	}
	var err error
	if peak := b.PeakMemory(); peak > memoryLimit {
		err = fmt.Errorf("the workbench had %d MiB of memory", peak>>20)
	}
	fmt.Printf("a workbench in the end: %d MiB at most, %d files (%d at the start), %d threads\n",
		b.PeakMemory()>>20, b.Descriptors(), b.files, b.Threads())
	checks = append(checks, err, b.End(), b.checkAudit())
	err = nil
	if faults := b.Violations(); len(faults) > 0 {
		err = fmt.Errorf("the client was sent this, and more (%d): %s", len(faults), faults[0])
	}
	return append(checks, err)
}

// checkAudit wants that nothing is wrong with the audit log, and that no call is missing in it.
func (b *bench) checkAudit() error {
	state := filepath.Join(b.Dir, "home", ".local", "state", "mcp-workbench")
	key, err := audit.PublicKey(state)
	if err != nil {
		return err
	}
	report, err := audit.Verify(filepath.Join(state, "audit"), audit.VerifyOptions{Keys: []ed25519.PublicKey{key}})
	if err != nil {
		return err
	}
	fmt.Printf("its audit log: %d lines in %d files, %d seals, %d lost, %d calls without an end\n", report.Lines, report.Files, report.Seals, report.Lost, report.Open)
	switch {
	case len(report.Findings) > 0:
		return fmt.Errorf("the audit log is wrong: %s", report.Findings[0])
	case report.Lines == 0 || report.Sealed != report.Last:
		return fmt.Errorf("the audit log is not sealed up to its end: %+v", report)
	case report.Lost > 0 || report.Open > 0 || report.Torn > 0:
		return fmt.Errorf("the audit log is not complete: %+v", report)
	}
	return nil
}

// checkProcesses wants no zombie, and one process for each server at most.
func (b *bench) checkProcesses() error {
	if zombies := b.Zombies(); len(zombies) > 0 {
		return fmt.Errorf("%d zombies are left", len(zombies))
	}
	for _, name := range append(append([]string{}, healthy...), faulty...) {
		if living := b.Living(name); len(living) > 1 {
			return fmt.Errorf("%s has %d processes: %v", name, len(living), living)
		}
	}
	return nil
}

// honest makes a call of 45 s without a sign of life, within a timeout of 60 s.
func honest(binary, dir string) error {
	w, err := rig.Start(rig.Options{
		Binary: binary, Dir: dir, Capabilities: "{}",
		Boxes: map[string]map[string]rig.Server{"dev": {"slow": {Role: "calls", More: timeouts("60s")}}},
	})
	if w != nil {
		defer w.Discard()
	}
	if err != nil {
		return err
	}
	if _, err := w.Open("dev").Wait(settleTime); err != nil {
		return err
	}
	a, err := w.Use("dev", "slow", "silent-45s", "{}").Wait(65 * time.Second)
	if err == nil && a.Text != "honest" {
		err = fmt.Errorf("the honest 45 s call: %.300s", a.Line)
	}
	return errors.Join(err, w.End())
}
