//go:build unix

package script

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcptest"
)

// stop ends the workbench as a client does and expects exit code 0.
func (s *state) stop([]string) error {
	s.began = time.Now()
	_ = s.stdin.Close() // it may be closed already
	return s.exit(nil)
}

// exit waits for the workbench's end, in time and with a code: [CODE], 0 unless given.
func (s *state) exit(args []string) error {
	code := 0
	if len(args) > 0 {
		var err error
		if code, err = strconv.Atoi(args[0]); err != nil {
			return err
		}
	}
	limit := time.NewTimer(endTime - time.Since(s.began))
	if s.began.IsZero() {
		limit = time.NewTimer(endTime)
	}
	defer limit.Stop()
	select {
	case <-s.exited:
	case <-limit.C:
		return fmt.Errorf("the workbench has not ended within %s", endTime)
	}
	ended := s.cmd
	s.cmd, s.began = nil, time.Time{}
	if got := ended.ProcessState.ExitCode(); got != code {
		return fmt.Errorf("exit code %d (%s); want %d", got, ended.ProcessState, code)
	}
	return s.checkOutput()
}

// checkOutput sees that stdout carried protocol messages only, to its end.
func (s *state) checkOutput() error {
	ctx, cancel := context.WithTimeout(context.Background(), replyTime)
	defer cancel()
	_, _, err := s.client.Await(ctx, 0, func(m mcptest.Message) bool { return m.Bad != nil })
	if err == nil || ctx.Err() != nil {
		for _, message := range s.client.Received() {
			if message.Bad != nil {
				return fmt.Errorf("stdout holds a line that is no message: %.300q: %w", message.Raw, message.Bad)
			}
		}
		return fmt.Errorf("stdout did not end with the workbench: %w", err)
	}
	return nil
}

// save writes what is at a path into a file: PATH FILE.
func (s *state) save(args []string) error {
	value, err := s.pick(args[0])
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, args[1]), append(bytes.Clone(value), '\n'), 0o600)
}

func (s *state) stderr() []byte {
	text, _ := os.ReadFile(filepath.Join(s.dir, "stderr")) // none before the first start
	return text
}

// cleanUp ends what a failed script left: the workbench, and the processes of its fakes.
func (s *state) cleanUp() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		<-s.exited
	}
	logs, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, log := range logs {
		pids, _ := pidsOf(log)
		for _, pid := range pids {
			if alive(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}
