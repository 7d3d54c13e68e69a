package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// playHardened tells what it is like after Harden, and then what its child inherits.
func playHardened() {
	Harden()
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	fmt.Println("dumpable", dumpable, err)
	var limit unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_CORE, &limit)
	fmt.Println("core", limit.Cur)
	inherited := exec.Command("sh", "-c", "for fd in 3 4 5; do [ -e /proc/$$/fd/$fd ] && echo inherited $fd; done; true")
	inherited.Stdout, inherited.Stderr = os.Stdout, os.Stderr
	_ = inherited.Run()
}

func TestHarden(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, user := range []uint32{uint32(os.Getuid()), 65534} {
		if user != uint32(os.Getuid()) && os.Getuid() != 0 {
			continue // only root can try another one
		}
		command := roleCommand("hardened", os.DevNull)
		command.ExtraFiles = []*os.File{file, file}
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user, NoSetGroups: user == uint32(os.Getuid())}}
		if os.Getuid() != 0 {
			command.SysProcAttr = nil
		}
		var output bytes.Buffer
		command.Stdout, command.Stderr = &output, &output
		if err := command.Run(); err != nil {
			t.Fatalf("%v: %s", err, output.String())
		}
		if got, want := strings.TrimSpace(output.String()), "dumpable 0 <nil>\ncore 0"; got != want {
			t.Errorf("as user %d: %s\nwant: %s", user, got, want)
		}
	}
}

// Where the system cannot mark descriptors all at once, each is marked.
func TestKeepEachDescriptor(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	flags := func() int {
		flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFD, 0)
		if err != nil {
			t.Fatal(err)
		}
		return flags
	}
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	if flags() != 0 {
		t.Fatal("the descriptor would not be inherited in any case")
	}
	setEachCloseOnExec("/proc/self/fd")
	if flags()&unix.FD_CLOEXEC == 0 {
		t.Error("the descriptor is inherited")
	}
}
