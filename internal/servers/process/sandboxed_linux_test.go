//go:build amd64 || arm64

package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/sandbox"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// TestHostileServerOfNobody tries everything again as a user without rights, if the tests run as root.
func TestHostileServerOfNobody(t *testing.T) {
	needSandbox(t)
	if err := mcptest.AsNobody(t.TempDir(), "^(TestHostileServer|TestSandboxed.*|TestForeignPrograms|TestOlderLandlock)$"); err != nil {
		t.Error(err)
	}
}

// What is not hostile works: files, modes and times in the folder, temporary files, processes, the list of addresses.
func TestSandboxedServerWorks(t *testing.T) {
	copyProgram(t)
	h := newTestHost(t, HostOptions{StateDir: t.TempDir()})
	for _, policy := range []sandbox.Policy{{ReadAll: true}, {}, {ReadAll: true, Network: true}} {
		s := newScene(t)
		policy.Write = []string{s.within}
		if result := attempt(t, h, &Sandbox{Policy: policy, Name: "ordinary"}, "ordinary", s.victim, s.within); result != "done" {
			t.Errorf("%+v: %s", policy, result)
		}
		s.check()
	}
}

// A launcher that ends by itself, as one does now and then that has too little memory, tells of the setting.
func TestSandboxedLauncherLacksMemory(t *testing.T) {
	needSandbox(t)
	h := newTestHost(t, HostOptions{Executable: "/bin/false"})
	_, err := h.Start(Spec{Command: "true", Dir: t.TempDir(), Sandbox: &Sandbox{Policy: sandbox.Policy{ReadAll: true, Memory: 1 << 20}}})
	if wrong, ok := errors.AsType[*sandbox.Error](err); !ok || !strings.Contains(wrong.Fix, "'sandbox.memory', which is 1 MiB") {
		t.Errorf("the start: %v", err)
	}
}

// A network lets a server speak TCP and UDP.
func TestSandboxedNetwork(t *testing.T) {
	h := newTestHost(t, HostOptions{})
	s := newScene(t)
	s.listen()
	for name, address := range map[string]string{"tcp": s.tcp, "udp": s.udp, "listen": ""} {
		if result := attempt(t, h, &Sandbox{Policy: sandbox.Policy{ReadAll: true, Network: true}}, name, address); result != "done" {
			t.Errorf("%s: %s", name, result)
		}
	}
}

// Its temporary folder is gone with it, its cache stays, and nobody else has either.
func TestSandboxedFolders(t *testing.T) {
	needSandbox(t)
	state := t.TempDir()
	h := newTestHost(t, HostOptions{StateDir: state})
	p := start(t, h, attackSpec(&Sandbox{Policy: sandbox.Policy{ReadAll: true}, Name: "one"}, "wait", "1"))
	temp, _ := filepath.Glob(filepath.Join(state, boxTempFolder, "*", "*"))
	if len(temp) != 1 || temp[0] != p.box.temp {
		t.Fatalf("temporary folders: %q", temp)
	}
	deep := filepath.Join(p.box.temp, "a", "b")
	if err := errors.Join(os.MkdirAll(deep, 0o700), os.Chmod(deep, 0), os.Chmod(filepath.Dir(deep), 0)); err != nil {
		t.Fatal(err)
	}
	stop(t, p)
	for path, stays := range map[string]bool{p.box.temp: false, filepath.Join(state, boxCacheFolder, "one"): true} {
		if info, err := os.Stat(path); (err == nil) != stays || stays && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

// What a server downloaded is removed 90 days after its last start.
func TestSandboxedCachesEnd(t *testing.T) {
	needSandbox(t)
	state := t.TempDir()
	h := newTestHost(t, HostOptions{StateDir: state})
	old, recent := filepath.Join(state, boxCacheFolder, "old"), filepath.Join(state, boxCacheFolder, "recent")
	for folder, age := range map[string]time.Duration{old: 91 * 24 * time.Hour, recent: 89 * 24 * time.Hour} {
		then := time.Now().Add(-age)
		if err := errors.Join(os.MkdirAll(filepath.Join(folder, "sub"), 0o700), os.Chtimes(folder, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	attempt(t, h, &Sandbox{Policy: sandbox.Policy{ReadAll: true}, Name: "one"}, "read", os.DevNull)
	for folder, stays := range map[string]bool{old: false, recent: true} {
		if _, err := os.Stat(folder); (err == nil) != stays {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// A kernel with an older Landlock cannot keep all promises: the server does not start, or it says what is open.
func TestOlderLandlock(t *testing.T) {
	needSandbox(t)
	h := newTestHost(t, HostOptions{})
	for _, test := range []struct {
		version, gaps int
		names         string // in the first gap
	}{
		{-1, 1, "no Landlock"}, {1, 4, "moved between folders"}, {2, 3, "cut off"}, {3, 2, "devices"}, {4, 2, "devices"}, {5, 1, "signals"}, {6, 0, ""}, {7, 0, ""},
	} {
		s := newScene(t)
		box := &Sandbox{Policy: sandbox.Policy{ReadAll: true, Write: []string{s.within}, LandlockVersion: test.version}}
		p, err := h.Start(attackSpec(box, "write", s.victim, s.within))
		if err == nil {
			stop(t, p)
		}
		wrong, ok := errors.AsType[*sandbox.Error](err)
		if ok != (test.gaps > 0) || ok && (!strings.Contains(wrong.Message, test.names) || !strings.Contains(wrong.Fix, "bestEffort")) {
			t.Errorf("Landlock %d: %v", test.version, err)
		}
		box.Policy.BestEffort = true
		p = start(t, h, attackSpec(box, "write", s.victim, s.within))
		output, _ := io.ReadAll(p.Stdout())
		stop(t, p)
		if len(p.Gaps()) != test.gaps {
			t.Errorf("Landlock %d: gaps %q", test.version, p.Gaps())
		}
		if test.version > 0 {
			if !strings.HasPrefix(string(output), "refused") {
				t.Errorf("Landlock %d: %s", test.version, output)
			}
			s.check()
		}
		if result := attempt(t, h, box, "unix-pair", s.victim); !strings.HasPrefix(result, "refused") {
			t.Errorf("Landlock %d: the filter does not hold: %s", test.version, result)
		}
	}
}

// What cannot be allowed or executed keeps the server from starting, and says what to do.
func TestSandboxedStartFails(t *testing.T) {
	needSandbox(t)
	h := newTestHost(t, HostOptions{})
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/nowhere/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		command string
		policy  sandbox.Policy
		want    string
	}{
		{"/bin/true", sandbox.Policy{ReadAll: true, Write: []string{"/nowhere/at/all"}}, "'sandbox.write' names /nowhere/at/all, which does not exist"},
		{"/bin/true", sandbox.Policy{Read: []string{"/nowhere/at/all"}}, "'sandbox.read' names"},
		{script, sandbox.Policy{ReadAll: true}, "the interpreter that " + script + " names in its first line was not found"},
		{"/nowhere/program", sandbox.Policy{ReadAll: true}, "there is no /nowhere/program"},
		{"/bin/true", sandbox.Policy{Read: slices.Repeat([]string{t.TempDir()}, 1), ReadAll: true, Write: manyFolders(t)}, "too many paths"},
	} {
		p, err := h.Start(Spec{Command: test.command, Sandbox: &Sandbox{Policy: test.policy}})
		if err == nil {
			stop(t, p)
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.command, err, test.want)
		}
	}
}

func manyFolders(t *testing.T) (folders []string) {
	base := filepath.Join(t.TempDir(), strings.Repeat("a", 250), strings.Repeat("b", 250))
	if err := os.MkdirAll(base, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		folder := filepath.Join(base, fmt.Sprintf("%0200d", i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	return folders
}

// The guard ends sandboxed servers that try to lose their mark and to kill it, with what they started, and removes their files.
func TestSandboxedServersEndWithTheWorkbench(t *testing.T) {
	needSandbox(t)
	state, r := t.TempDir(), newReport(t)
	cmd := roleCommand("sandboxed-workbench", r.path, state)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for range 2 {
		line, err := lines.ReadString('\n')
		if err != nil || strings.Contains(line, "<nil>") {
			t.Errorf("%q, %v", line, err)
		}
	}
	r.await(mixSize)
	if found, _ := filepath.Glob(filepath.Join(state, boxTempFolder, "*", "*")); len(found) != 2 {
		t.Errorf("temporary folders: %q", found)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	r.allGone()
	eventually(t, "the temporary files are gone", func() bool {
		_, err := os.Stat(filepath.Join(state, boxTempFolder))
		return err != nil
	})
}

// A server that could lock the note of its run would outlive a workbench that is killed together with its guard.
func TestSandboxedServerCannotLockItsRun(t *testing.T) {
	needSandbox(t)
	h := newTestHost(t, HostOptions{StateDir: t.TempDir()})
	box := &Sandbox{Policy: sandbox.Policy{ReadAll: true}}
	if result := attempt(t, h, box, "read", ownExecutable); result != "done" {
		t.Fatalf("it cannot read: %s", result)
	}
	if result := attempt(t, h, box, "read", h.platform.ledger.path); !strings.HasPrefix(result, "refused: ") {
		t.Errorf("it can open the note of the run: %s", result)
	}
}

// playSandboxedWorkbench runs servers in sandboxes, and prints what one of them says, until it is killed.
func playSandboxedWorkbench(report, state string) {
	h := NewHost(HostOptions{StateDir: state})
	folder := filepath.Dir(report)
	_, err := h.Start(Spec{
		Command: ownExecutable, Args: mcptest.RoleArgs("mix", report), Env: os.Environ(),
		Sandbox: &Sandbox{Policy: sandbox.Policy{ReadAll: true, Write: []string{folder}}},
	})
	must(err)
	p, err := h.Start(attackSpec(&Sandbox{Policy: sandbox.Policy{ReadAll: true}}, "wait", fmt.Sprint(h.platform.guard.pid())))
	must(err)
	_, _ = io.Copy(os.Stdout, p.Stdout())
	must(p.Stop(context.Background()))
}

// Programs of another kind than the system's have other numbers of system calls: they are killed.
func TestForeignPrograms(t *testing.T) {
	needSandbox(t)
	if unix.Access("/bin/true", unix.X_OK) != nil || !isAMD64 {
		t.Skip("no such programs for this processor")
	}
	h := newTestHost(t, HostOptions{})
	for name, program := range foreignPrograms {
		file := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(file, program, 0o700); err != nil {
			t.Fatal(err)
		}
		p := start(t, h, Spec{Command: file})
		awaitDone(t, p)
		plainly := p.Exit()
		stop(t, p)
		p = start(t, h, Spec{Command: file, Sandbox: &Sandbox{Policy: sandbox.Policy{ReadAll: true}}})
		awaitDone(t, p)
		if p.Exit() != "was killed by SIGSYS" || plainly == p.Exit() {
			t.Errorf("%s: %s; without a sandbox it %s", name, p.Exit(), plainly)
		}
		stop(t, p)
	}
}
