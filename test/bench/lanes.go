package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// lane is a pair of transports in one era, with the ways that are compared on it. The first
// way is the direct one, and the second the pump if there is one.
type lane struct {
	name  string
	loads []load
	ways  []*way
}

// fewestCalls is how many calls a round has at least.
const fewestCalls = 25

const (
	boxName    = "dev-tools"
	serverName = "everything"
	// ours is the way through the workbench that is measured.
	ours = "use_tool"
)

// versionsBefore returns the binaries of other versions to compare with.
func (b *bench) versionsBefore() []string {
	return strings.FieldsFunc(b.before, func(c rune) bool { return c == ',' })
}

// newLane returns a lane without peers, and the flags that tell our own peers its era.
func (b *bench) newLane(above, below string, modern bool) (l *lane, era []string) {
	l = &lane{name: above + "-" + below}
	for _, load := range loads {
		if b.sizes == "" || slices.Contains(strings.Split(b.sizes, ","), load.Size) {
			l.loads = append(l.loads, load)
		}
	}
	if modern {
		l.name, era = l.name+" modern", []string{"-modern"}
	}
	if above == "http" || below == "http" { // where a call takes several times as long
		for i := range l.loads {
			l.loads[i].calls = max(l.loads[i].calls/4, fewestCalls, l.loads[i].Concurrency)
		}
	}
	return l, era
}

// prepare starts all peers of a lane. What was started is in the lane even with an error.
func (b *bench) prepare(above, below string, modern bool) (*lane, error) {
	l, era := b.newLane(above, below, modern)
	self := b.self
	add := func(name string, p *peer, err error) (*way, error) {
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", l.name, name, err)
		}
		p.modern = modern
		w := &way{name: name, peer: p, samples: make(map[load][]sample)}
		w.native("echo")
		l.ways = append(l.ways, w)
		if err := p.begin(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", l.name, name, err)
		}
		return w, nil
	}
	server := map[string]any{"command": self, "args": append([]string{"echo"}, era...)}
	if above == "http" || below == "http" {
		direct, err := startHTTP(self, append([]string{"echo", "-http"}, era...)...)
		if _, err := add("direct", direct, err); err != nil {
			return l, err
		}
		if below == "http" {
			server = map[string]any{"url": direct.address}
		} else {
			pump, err := startHTTP(self, append([]string{"pump", "-http"}, era...)...)
			w, err := add("pump", pump, err)
			if err != nil {
				return l, err
			}
			w.meter = &meter{pid: pump.command.Process.Pid}
		}
	} else {
		direct, err := start(self, append([]string{"echo"}, era...)...)
		if _, err := add("direct", direct, err); err != nil {
			return l, err
		}
		pump, err := start(self, append([]string{"pump"}, era...)...)
		w, err := add("pump", pump, err)
		if err != nil {
			return l, err
		}
		w.meter = &meter{pid: pump.command.Process.Pid}
	}
	if err := b.addWorkbench(b.binary, ours, above, "proxy", server, add); err != nil {
		return l, err
	}
	for _, binary := range b.versionsBefore() {
		if err := b.addWorkbench(binary, ours+" of "+binary, above, "proxy", server, add); err != nil {
			return l, err
		}
	}
	if above == "stdio" && below == "stdio" && !modern && b.before == "" {
		for _, mode := range []string{"dynamic", "direct"} {
			if err := b.addWorkbench(b.binary, mode+" mode", above, mode, server, add); err != nil {
				return l, err
			}
		}
	}
	return l, b.addOthers(l, add)
}

// addWorkbench starts a workbench in a mode with the server, and opens its toolbox.
func (b *bench) addWorkbench(binary, name, above, mode string, server map[string]any, add func(string, *peer, error) (*way, error)) error {
	config, err := b.configure(mode, map[string]any{serverName: server})
	if err != nil {
		return err
	}
	return b.addConfigured(binary, name, above, mode, config, add)
}

// add begins with a way that was started.
func (l *lane) add(name string, p *peer, err error) (*way, error) {
	if err != nil {
		return nil, err
	}
	w := &way{name: name, peer: p, samples: make(map[load][]sample)}
	l.ways = append(l.ways, w)
	return w, p.begin()
}

// addConfigured is addWorkbench with a configuration file.
func (b *bench) addConfigured(binary, name, above, mode, config string, add func(string, *peer, error) (*way, error)) error {
	var p *peer
	var err error
	if above == "http" {
		p, err = startServe(b.env, binary, "", "--config", config)
	} else {
		p, err = b.start(binary, "--config", config)
	}
	return b.addStarted(binary, name, mode, p, err, add)
}

// addStarted is addWorkbench with one that was started.
func (b *bench) addStarted(binary, name, mode string, p *peer, err error, add func(string, *peer, error) (*way, error)) error {
	w, err := add(name, p, err)
	if err != nil {
		return err
	}
	if w.meter, err = newMeter(p.command.Process.Pid, b.runtime); err != nil && binary == b.binary {
		return err
	} else if err != nil { // another version may report its allocations in another way
		w.meter = &meter{pid: p.command.Process.Pid}
	}
	if mode != "direct" {
		if _, err := p.ask("tools/call", fmt.Sprintf(`{"name":"open_toolbox","arguments":{"toolbox":%q}`, boxName)); err != nil {
			return err
		}
	}
	switch mode {
	case "proxy":
		w.proxied(boxName, serverName, "echo")
	case "dynamic":
		listed, err := p.ask("tools/list", "{")
		if err != nil {
			return err
		}
		name, err := nativeName(listed)
		if err != nil {
			return err
		}
		w.native(name)
	}
	return nil
}

func nativeName(listed []byte) (string, error) {
	var answer struct {
		Result struct {
			Tools []struct{ Name string }
		}
	}
	if err := json.Unmarshal(listed, &answer); err != nil {
		return "", err
	}
	for _, tool := range answer.Result.Tools {
		if strings.HasSuffix(tool.Name, "echo") {
			return tool.Name, nil
		}
	}
	return "", errors.New("the echo tool is not listed")
}

// configure writes a configuration of one toolbox and returns its path.
func (b *bench) configure(mode string, servers map[string]any) (string, error) {
	return b.write(map[string]any{"toolMode": mode, "toolboxes": map[string]any{boxName: map[string]any{
		"description": "bench", "mcpServers": servers,
	}}})
}

// write writes a configuration and returns its path.
func (b *bench) write(config map[string]any) (string, error) {
	content, err := json.Marshal(config)
	if err != nil {
		return "", err
	}
	b.configs++
	path := filepath.Join(b.folder, fmt.Sprintf("config-%d.json", b.configs))
	return path, os.WriteFile(path, content, 0o600)
}

// start starts the workbench over stdio.
func (b *bench) start(binary string, args ...string) (*peer, error) {
	p := newPeer(binary, args...)
	p.command.Env = b.env
	return p, p.launch()
}

// measure makes all rounds of a lane, each of its ways in turn.
func (l *lane) measure(rounds int) error {
	for round := range rounds + 1 {
		for _, load := range l.loads {
			for i := range l.ways {
				w := l.ways[(i+round)%len(l.ways)] // so that none always follows the same one
				if err := w.measure(load, round > 0); err != nil {
					return fmt.Errorf("%s, %s, %s x %d: %w", l.name, w.name, load.Size, load.Concurrency, err)
				}
			}
		}
		fmt.Fprintf(os.Stderr, "\r%s: round %d of %d ", l.name, round, rounds)
	}
	fmt.Fprint(os.Stderr, "\r\x1b[K")
	return nil
}

func (l *lane) stop() (err error) {
	for i := len(l.ways) - 1; i >= 0; i-- { // the server of others last
		err = errors.Join(err, l.ways[i].peer.stop())
	}
	return err
}
