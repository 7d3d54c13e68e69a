// Command tree is a server for Windows that starts a child, and that never answers. Both write into a file as long as they live.
package main

import (
	"os"
	"os/exec"
	"time"
)

// beat is the time between two marks. The test waits for many of them.
const beat = 50 * time.Millisecond

func main() {
	file := os.Args[1]
	mark := "c"
	if len(os.Args) == 2 {
		mark = "s"
		if exec.Command(os.Args[0], file, "child").Start() != nil {
			os.Exit(1)
		}
	}
	for range time.Tick(beat) {
		out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			os.Exit(1)
		}
		_, _ = out.WriteString(mark) // a mark that is missing does no harm
		_ = out.Close()
	}
}
