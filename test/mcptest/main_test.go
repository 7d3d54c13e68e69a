package mcptest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	PlayRole(func(role string, args []string) int {
		switch role {
		case "echo":
			_, _ = io.Copy(os.Stdout, os.Stdin)
			return 3
		case "tap":
			cmd := exec.Command(args[0], args[1:]...)
			err := Tap(cmd, func(direction Direction, line []byte) error {
				_, err := fmt.Fprintf(os.Stderr, "%c%s", direction, line)
				return err
			})
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				return exit.ExitCode()
			}
		}
		return 1
	})
	goleak.VerifyTestMain(m)
}

// A tap records each line before it passes it on, and leaves the exit status as it is.
func TestTap(t *testing.T) {
	cmd := exec.Command(Self(), RoleArgs("tap", append([]string{Self()}, RoleArgs("echo")...)...)...)
	var recorded strings.Builder
	cmd.Stderr = &recorded
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"one\n", "two\n"} {
		if _, err := io.WriteString(stdin, line); err != nil {
			t.Fatal(err)
		}
		echoed := make([]byte, len(line))
		if _, err := io.ReadFull(stdout, echoed); err != nil || string(echoed) != line {
			t.Errorf("%q came back as %q (%v)", line, echoed, err)
		}
	}
	stdin.Close()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 3 {
		t.Error("the tap ended with ", err)
	}
	if got, want := recorded.String(), ">one\n<one\n>two\n<two\n"; got != want {
		t.Errorf("recorded %q, want %q", got, want)
	}
}

func TestPlayFakeServer(t *testing.T) {
	spec := t.TempDir() + "/fake.json"
	if err := os.WriteFile(spec, []byte(`{"start":[{"exit":7}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(Self(), RoleArgs(FakeServer, spec)...)
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 7 {
		t.Error("the fake server ended with ", err)
	}
}
