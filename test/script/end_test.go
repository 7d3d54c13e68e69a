//go:build unix

package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

// stop ends the workbench and expects exit code 0. Over stdio its client ends it; over
// HTTP it outlives them, and who runs it ends it.
func (s *state) stop([]string) error {
	s.began = time.Now()
	s.hangUp()
	if s.pairing.above == overHTTP {
		s.began = time.Now()
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
	}
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
	s.hangUp()
	return errors.Join(s.checkOutput(), s.stopShared(), s.checkRefused())
}

// checkRefused sees that no fake had to refuse something: then the workbench did what
// the specification of its transport does not allow.
func (s *state) checkRefused() error {
	logs, err := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, log := range logs {
		refused, readErr := lines(log, "refused")
		err = errors.Join(err, readErr)
		if len(refused) > 0 {
			err = errors.Join(err, fmt.Errorf("%s: a server refused: %s", filepath.Base(log), strings.Join(refused, "; ")))
		}
	}
	return err
}

// checkOutput sees that the client got protocol messages only, and stdout carried
// nothing else.
func (s *state) checkOutput() error {
	ctx, cancel := context.WithTimeout(context.Background(), replyTime)
	defer cancel()
	_, _, err := s.client.Await(ctx, 0, func(mcptest.Message) bool { return false })
	if ctx.Err() != nil {
		return fmt.Errorf("stdout did not end with the workbench: %w", err)
	}
	for _, message := range s.client.Received() {
		// Over HTTP a request that the end overtook has no bytes.
		if message.Bad != nil && message.Raw != nil {
			return fmt.Errorf("this is no message: %.300q: %w", message.Raw, message.Bad)
		}
	}
	if s.pairing.above == overHTTP {
		if text, err := os.ReadFile(filepath.Join(s.dir, servedOutput)); err != nil || len(text) > 0 {
			return fmt.Errorf("stdout holds %.300q: %w", text, err)
		}
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
	return append(text, s.sharedLog()...)
}

// cleanUp ends what a failed script left: the workbench, and the processes of its fakes.
func (s *state) cleanUp() {
	s.endScreen()
	_ = s.as(nil) // so that all are in the list
	for _, p := range s.parties {
		if p.cmd != nil {
			_ = p.cmd.Process.Kill()
			<-p.exited
		}
		if p.hangUp != nil {
			p.hangUp()
		}
	}
	for _, service := range s.services {
		service.stop()
	}
	if s.provider != nil {
		s.provider.Close()
	}
	_ = s.stopShared() // of a script that failed
	_ = os.RemoveAll(s.sockets)
	logs, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, log := range logs {
		pids, _ := pidsOf(log)
		for _, pid := range pids {
			if processtable.Alive(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}
