package app

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
)

// Looks within a second are one, unless something new is asked for; shares are counted from the look before.
func TestLooksAtUse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what processes use is known on Linux only")
	}
	own, now := os.Getpid(), time.Now()
	var looks usageLooks
	if use := looks.read([]int{own}, now)[own]; use.memory == 0 {
		t.Fatal("this process uses nothing")
	}
	first := looks.now[own]
	looks.now[own] = process.Usage{Memory: 1, Age: first.Age}
	if use := looks.read([]int{own}, now.Add(countTime/2))[own]; use.memory != 1 {
		t.Error("it was looked at again at once")
	}
	const gone = 1 << 30
	if use := looks.read([]int{own, gone}, now.Add(countTime/2))[own]; use.memory == 1 {
		t.Error("it was not looked at for what was not known")
	}
	if len(looks.before) != 0 {
		t.Error("a look at once is the one that shares are counted from")
	}
	looks.now[own] = process.Usage{Memory: 1, CPU: looks.now[own].CPU, Age: first.Age - time.Hour}
	use := looks.read([]int{own}, now.Add(countTime))[own]
	if use.cpuSeconds == 0 && use.cpuPercent != 0 || use.cpuPercent > 1 {
		t.Errorf("in an hour, it used %+v", use)
	}
	looks.now[own] = process.Usage{Memory: 1, CPU: time.Hour, Age: 2 * time.Hour} // another process that had its number
	if use := looks.read([]int{own}, now.Add(2*countTime))[own]; use.cpuPercent < 0 {
		t.Errorf("since the end of another: %+v", use)
	}
}
