package mcptest

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

// Direction says which way a line went through a tap.
type Direction byte

// The directions, as they are recorded.
const (
	Down Direction = '>' // from the client to the server
	Up   Direction = '<' // from the server to the client
)

// Tap runs a command in place of this process: it passes on the lines of stdin and stdout,
// and SIGTERM, SIGINT and SIGHUP. Each line, with its line end, is recorded before it is
// passed on, so that whoever has an answer can rely on all records before it. Calls of
// record do not overlap. The error says that the command could not run or failed; its exit
// status is in cmd.ProcessState.
func Tap(cmd *exec.Cmd, record func(direction Direction, line []byte) error) error {
	cmd.Stderr = os.Stderr
	stdin, inErr := cmd.StdinPipe()
	stdout, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() { // ends with this process
		for s := range signals {
			_ = cmd.Process.Signal(s) // it may be gone by now
		}
	}()
	var mu sync.Mutex
	pass := func(direction Direction, dst io.Writer, src io.Reader) {
		reader := bufio.NewReaderSize(src, 1<<16)
		for {
			line, err := reader.ReadBytes('\n')
			if err != nil {
				return
			}
			mu.Lock()
			err = record(direction, line)
			mu.Unlock()
			if err != nil {
				return
			}
			if _, err := dst.Write(line); err != nil {
				return
			}
		}
	}
	go func() { // ends with our input, or with this process
		pass(Down, stdin, os.Stdin)
		stdin.Close()
	}()
	pass(Up, os.Stdout, stdout)
	return cmd.Wait()
}
