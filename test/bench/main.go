// Command bench measures what the workbench costs: the time, rate, CPU and allocations of a
// call as ratios to a direct call and to a plain byte pump between the same client and the
// same echo server, interleaved in one run, and to other versions of itself with -before; start, memory and the opening of toolboxes.
//
// The program plays all other parts itself: "bench echo" is the server at the bottom,
// "bench pump" forwards lines between its own stdin and stdout and an echo server, and with
// -http between HTTP and an echo server. They poll, as the workbench does: blocking reads
// would be no fair floor for large messages. "bench chart" and "bench page" show what a run
// with -data found.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "echo":
			exit(runEcho(os.Args[2:]))
		case "pump":
			exit(runPump(os.Args[2:]))
		case browserRole:
			exit(runBrowser(os.Args[2:]))
		case "chart":
			exit(runChart(os.Args[2:]))
		case "page":
			exit(runPage(os.Args[2:]))
		}
	}
	var b bench
	flag.StringVar(&b.binary, "binary", "bin/mcp-workbench", "the workbench to measure")
	flag.StringVar(&b.sizes, "sizes", "", "measure only calls of these sizes, separated by commas, such as '10 B,64 KB'")
	flag.IntVar(&b.rounds, "rounds", 7, "how often each way is measured, in turn")
	flag.StringVar(&b.only, "only", "", "measure only what contains this: a lane such as 'stdio-stdio', 'start', 'sandbox', 'memory', 'open', 'login', 'token', 'policy', 'observe'")
	flag.StringVar(&b.before, "before", "", "measure this workbench, too, in the same rounds: the binary of another version; several are separated by commas")
	flag.StringVar(&b.others, "others", "", "JSON file with other systems to compare with; docs/performance.md says what it holds")
	flag.StringVar(&b.data, "data", "", "write all figures to this file, as JSON")
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
