// Command torture runs workbenches between servers that misbehave and callers that do not
// stop, checks every answer, and counts what is left at the end.
package main

import (
	"flag"
	"os"
	"time"
)

// orders are the command line.
type orders struct {
	binary  string
	modules string
	time    time.Duration
	kills   int
}

func main() {
	if code, played := play(os.Args[1:]); played {
		os.Exit(code)
	}
	var o orders
	flag.StringVar(&o.binary, "binary", "bin/mcp-workbench", "the workbench")
	flag.StringVar(&o.modules, "modules", "test/e2e/node_modules", "servers of npm for the rounds of kill -9")
	flag.DurationVar(&o.time, "time", time.Minute, "how long calls are made")
	flag.IntVar(&o.kills, "kills", 20, "rounds of kill -9")
	flag.Parse()
	os.Exit(run(o))
}
