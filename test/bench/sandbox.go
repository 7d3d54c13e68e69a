package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// sandboxRounds is how often a server is started with and without a sandbox, in turn.
const sandboxRounds = 31

// measureSandbox takes the time to open a toolbox of one server, with and without a sandbox, and of calls to both. Calls do not
// pass the sandbox: they should take the same.
func (b *bench) measureSandbox() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	opening, calls := map[bool][]float64{}, map[bool][]float64{}
	for range sandboxRounds {
		for _, boxed := range []bool{false, true} {
			opened, called, err := b.sandboxed(boxed)
			if err != nil {
				return err
			}
			opening[boxed], calls[boxed] = append(opening[boxed], opened), append(calls[boxed], called)
		}
	}
	note := fmt.Sprintf("median of %d", sandboxRounds)
	plain, boxed := milliseconds(opening[false]), milliseconds(opening[true])
	b.note("open a toolbox of 1 server", plain, "ms", note)
	b.note("the same in a sandbox", boxed, "ms", fmt.Sprintf("%s; %+.1f ms, of the fastest %+.1f ms", note, boxed-plain, (slices.Min(opening[true])-slices.Min(opening[false]))*1000))
	b.note("call without a sandbox", milliseconds(calls[false])*1000, "µs", "median of 200, of which the median")
	b.note("call in a sandbox", milliseconds(calls[true])*1000, "µs", "the same")
	return nil
}

// sandboxed returns how long it takes to open the toolbox of a server, and the median of calls to it, in seconds.
func (b *bench) sandboxed(boxed bool) (opening, call float64, err error) {
	server := map[string]any{"command": b.self, "args": []string{"echo"}}
	if boxed {
		server["sandbox"] = map[string]any{"network": false}
	}
	config, err := b.configure("proxy", map[string]any{"server-00": server})
	if err != nil {
		return 0, 0, err
	}
	p, err := b.start(b.binary, "--config", config)
	if err != nil {
		return 0, 0, err
	}
	if err := p.begin(); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if _, err := p.ask("tools/call", fmt.Sprintf(`{"name":"open_toolbox","arguments":{"toolbox":%q}`, boxName)); err != nil {
		return 0, 0, err
	}
	opening = time.Since(began).Seconds()
	var times []float64
	for range 200 {
		began := time.Now()
		if _, err := p.ask("tools/call", fmt.Sprintf(`{"name":"use_tool","arguments":{"tool":{"toolbox":%q,"server":"server-00","name":"echo"},"arguments":{"text":"x"}}`, boxName)); err != nil {
			return 0, 0, err
		}
		times = append(times, time.Since(began).Seconds())
	}
	return opening, median(times), p.stop()
}
