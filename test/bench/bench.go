package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// bench is one run of all measurements.
type bench struct {
	binary string
	rounds int
	only   string
	sizes  string // of calls, separated by commas; "" for all
	before string // other workbenches to compare with, separated by commas
	others string // a file
	data   string // a file

	self    string // this program
	folder  string
	runtime string // folder of the workbenches' sockets
	env     []string
	configs int

	found figures
}

// figures are all that a run found out.
type figures struct {
	Machine string      `json:"machine"`
	Load    string      `json:"load,omitempty"` // of the machine before, over 1, 5 and 15 minutes
	Calls   []figure    `json:"calls"`
	Single  []quantity  `json:"single"`
	Goals   []goalFound `json:"goals"`
}

// figure is one way under one load: medians over the rounds, ratios to the same round.
type figure struct {
	Lane string `json:"lane"`
	load
	Way      string  `json:"way"`
	Median   sample  `json:"median"`
	ToDirect float64 `json:"p50_to_direct"`
	ToPump   float64 `json:"p50_to_pump,omitempty"`
	RateTo   float64 `json:"rate_to_pump,omitempty"`
}

// quantity is a figure by itself.
type quantity struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Note  string  `json:"note,omitempty"`
}

func (b *bench) run(out io.Writer) (err error) {
	if err := b.setUp(); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{"start", b.measureStart},
		{"sandbox", b.measureSandbox},
		{"memory", b.measureMemory},
		{"open", b.measureOpening},
		{"tools", b.measureManyTools},
		{"login", b.measureLogin},
		{"token", b.measureTokens},
		{"policy", b.measurePolicy},
		{"observe", b.measureObserving},
	} {
		if b.wants(part.name) {
			if err := part.measure(); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	b.printSingle(out)
	for _, modern := range []bool{false, true} {
		for _, transports := range [][2]string{{"stdio", "stdio"}, {"http", "stdio"}, {"stdio", "http"}, {"http", "http"}} {
			if !b.wants(transports[0] + "-" + transports[1] + map[bool]string{true: " modern"}[modern]) {
				continue
			}
			l, err := b.prepare(transports[0], transports[1], modern)
			if err == nil {
				err = l.measure(b.rounds)
			}
			if err = errors.Join(err, l.stop()); err != nil {
				return err
			}
			b.printLane(out, l)
			b.printBefore(out, l)
		}
	}
	b.printGoals(out)
	if b.data == "" {
		return nil
	}
	content, err := json.MarshalIndent(b.found, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(b.data, append(content, '\n'), 0o644)
}

func (b *bench) wants(part string) bool { return strings.Contains(part, b.only) }

func (b *bench) setUp() (err error) {
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.binary, err = filepath.Abs(b.binary); err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp("/tmp", "bench"); err != nil {
		return err
	}
	b.runtime = filepath.Join(b.folder, "run")
	if err := os.Mkdir(b.runtime, 0o700); err != nil {
		return err
	}
	b.env = append(os.Environ(), "XDG_STATE_HOME="+b.folder, "XDG_CONFIG_HOME="+b.folder, "XDG_RUNTIME_DIR="+b.runtime)
	b.found.Machine = fmt.Sprintf("%s/%s, %d cores, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		b.found.Load = strings.Join(strings.Fields(string(load))[:3], " ")
	}
	return nil
}

func newPeer(command string, args ...string) *peer {
	p := &peer{command: exec.Command(command, args...)}
	p.command.Stderr = os.Stderr
	return p
}

func median[T float64 | int](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
