// Command bench measures what the workbench costs: the time of a call as a ratio to a
// plain byte pump between the same client and the same echo server, interleaved in one
// run; the time from start to the answer of initialize; and memory when idle.
//
// The program plays all other parts itself: "bench echo" is the server at the bottom,
// "bench pump" forwards lines between its own stdin and stdout and an echo server. Both
// poll, as the workbench does: blocking reads would be no fair floor for large messages.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "echo":
			exit(echo(wire.Pollable(os.Stdin), wire.Pollable(os.Stdout)))
		case "pump":
			exit(pump(wire.Pollable(os.Stdin), wire.Pollable(os.Stdout)))
		}
	}
	var b bench
	flag.StringVar(&b.binary, "binary", "bin/mcp-workbench", "the workbench to measure")
	flag.IntVar(&b.rounds, "rounds", 9, "how often each way is measured, in turn")
	flag.Parse()
	exit(b.run(os.Stdout))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
