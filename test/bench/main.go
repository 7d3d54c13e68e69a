// Command bench measures what the workbench costs: the time of a call as a ratio to a
// plain byte pump between the same client and the same echo server, interleaved in one
// run; the time from start to the answer of initialize; and memory when idle.
//
// The program plays all other parts itself: "bench echo" is the server at the bottom,
// "bench pump" forwards lines between its own stdin and stdout and an echo server.
package main

import (
	"flag"
	"fmt"
	"os"
	"syscall"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "echo":
			exit(echo(pollable(os.Stdin), pollable(os.Stdout)))
		case "pump":
			exit(pump(pollable(os.Stdin), pollable(os.Stdout)))
		}
	}
	var b bench
	flag.StringVar(&b.binary, "binary", "bin/mcp-workbench", "the workbench to measure")
	flag.IntVar(&b.rounds, "rounds", 9, "how often each way is measured, in turn")
	flag.Parse()
	exit(b.run(os.Stdout))
}

// pollable makes an inherited pipe go through Go's poller. A blocking read would keep its
// processor until the runtime takes it away, which makes large messages very slow: no
// fair floor.
func pollable(file *os.File) *os.File {
	if err := syscall.SetNonblock(int(file.Fd()), true); err != nil {
		return file
	}
	return os.NewFile(file.Fd(), file.Name())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
