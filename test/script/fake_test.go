//go:build unix

package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

// fakeChecks are about the log of a fake server; the first argument is the log file.
var fakeChecks = map[string]struct {
	least int
	run   func(log string, args []string) error
}{
	"starts": {1, fakeStarts},
	"count":  {2, fakeCount},
	"got":    {3, fakeGot},
	"line":   {1, fakeLine},
	"wait":   {1, fakeWait},
	"alive":  {1, fakeAlive},
}

// fake is the command of that name: COMMAND LOG ARGS.
func fake(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: fake COMMAND LOG [ARGS]; see README.md")
	}
	check, ok := fakeChecks[args[0]]
	if !ok || len(args)-2 < check.least {
		ts.Fatalf("fake %s: no such command, or too few arguments", args[0])
	}
	log := ts.MkAbs(args[1])
	err := check.run(log, args[2:])
	switch {
	case err != nil && !neg:
		text, _ := os.ReadFile(log)
		ts.Fatalf("%v\n%s:\n%.4000s", err, args[1], text)
	case err == nil && neg:
		ts.Fatalf("this holds, and it should not")
	}
}

// lines returns the lines of a log that begin with a word, without it. A fake that was
// never started has no log.
func lines(log, word string) ([]string, error) {
	text, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), word+" "); ok {
			found = append(found, rest)
		}
	}
	return found, nil
}

func received(log, method string) ([]string, error) {
	all, err := lines(log, "recv")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, line := range all {
		var message struct{ Method string }
		if json.Unmarshal([]byte(line), &message) == nil && message.Method == method {
			found = append(found, line)
		}
	}
	return found, nil
}

func expectCount(what string, got int, want string) error {
	if strconv.Itoa(got) != want {
		return fmt.Errorf("%s: %d; want %s", what, got, want)
	}
	return nil
}

// fakeStarts counts how often the server was started: N.
func fakeStarts(log string, args []string) error {
	starts, err := lines(log, "start")
	return errors.Join(err, expectCount("starts", len(starts), args[0]))
}

// fakeCount counts what the server received: METHOD N.
func fakeCount(log string, args []string) error {
	found, err := received(log, args[0])
	return errors.Join(err, expectCount(args[0], len(found), args[1]))
}

// fakeGot compares bytes of what the server received last: METHOD PATH JSON.
func fakeGot(log string, args []string) error {
	found, err := received(log, args[0])
	if err != nil || len(found) == 0 {
		return errors.Join(err, fmt.Errorf("the server received no '%s'", args[0]))
	}
	got, err := pick([]byte(found[len(found)-1]), args[1])
	if err == nil && string(got) != args[2] {
		err = fmt.Errorf("%s is\n%s\nwant\n%s", args[1], got, args[2])
	}
	return err
}

// fakeLine looks for a line that the server received, byte for byte: LINE.
func fakeLine(log string, args []string) error {
	all, err := lines(log, "recv")
	if err != nil {
		return err
	}
	for _, line := range all {
		if line == args[0] {
			return nil
		}
	}
	return errors.New("the server did not receive that line")
}

// fakeWait waits until the log holds a text: TEXT.
func fakeWait(log string, args []string) error {
	return mcptest.Eventually(replyTime, func() error {
		text, err := os.ReadFile(log)
		if err == nil && !bytes.Contains(text, []byte(args[0])) {
			err = fmt.Errorf("the log lacks %q", args[0])
		}
		return err
	})
}

// fakeAlive waits until so many of the processes in the log live: N.
func fakeAlive(log string, args []string) error {
	return mcptest.Eventually(endTime, func() error {
		pids, err := pidsOf(log)
		if err != nil {
			return err
		}
		count := 0
		for _, pid := range pids {
			if processtable.Alive(pid) {
				count++
			}
		}
		return expectCount("processes alive", count, args[0])
	})
}

// pidsOf returns the servers, and what they started.
func pidsOf(log string) ([]int, error) {
	starts, err := lines(log, "start")
	spawns, spawnErr := lines(log, "spawn")
	var pids []int
	for _, text := range append(starts, spawns...) {
		pid, parseErr := strconv.Atoi(text)
		if parseErr != nil {
			return nil, parseErr
		}
		pids = append(pids, pid)
	}
	return pids, errors.Join(err, spawnErr)
}
