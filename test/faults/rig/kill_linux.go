package rig

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// killWindow is when after the opening the workbench is killed.
const killWindow = 400 * time.Millisecond

// roundsVariable asks for more rounds of killing than a test has by itself.
const roundsVariable = "FAULTS_KILL_ROUNDS"

// KillRounds returns how often a test kills the workbench.
func KillRounds(usual int) int {
	if n, err := strconv.Atoi(os.Getenv(roundsVariable)); err == nil {
		return n
	}
	return usual
}

// KillFleet is ten servers that are hard to get rid of, and those of npm that are installed
// in the folder modules, behind the shell scripts that npm makes.
func KillFleet(self, dir, modules string) map[string]Server {
	fleet := make(map[string]Server)
	for i, role := range []string{"good", "stubborn", "children", "stubborn-tree", "slow-stubborn", "never-reads", "hangs-stubborn"} {
		fleet[fmt.Sprintf("s%d-%s", i, role)] = Server{Role: role}
	}
	quoted := fmt.Sprintf("'%s' %s stubborn-tree '%s'", self, ServeArg, filepath.Join(dir, "wrapped.log"))
	fleet["wrapper"] = Server{Command: "sh", Args: []string{"-c", quoted + "; true"}}
	fleet["daemon"] = Server{Command: "sh", Args: []string{"-c", "setsid sleep 300 & setsid sh -c 'trap \"\" TERM HUP; sleep 300; true' & " + quoted}}
	fleet["cleared"] = Server{Command: "sh", Args: []string{"-c", "env -i setsid sleep 300 & exec " + quoted}}
	for name, args := range map[string][]string{"everything": {"stdio"}, "filesystem": {dir}, "memory": nil} {
		script := filepath.Join(modules, ".bin", "mcp-server-"+name)
		if _, err := os.Stat(script); err == nil {
			fleet[name] = Server{Command: "sh", Args: append([]string{"-c", `"$0" "$@"; true`, script}, args...)}
		}
	}
	return fleet
}

// KillRound starts a workbench with such a fleet, kills it at a random moment and checks
// that all that it started is gone in time.
func KillRound(binary, dir, modules string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if modules, err = filepath.Abs(modules); err != nil { // the workbench runs elsewhere
		return err
	}
	return KillWhileOpening(binary, dir, KillFleet(self, dir, modules), killWindow)
}

// KillWhileOpening starts a workbench with a fleet, begins to open it, kills the workbench
// at a random moment within the window and checks that all that it started is gone in time.
func KillWhileOpening(binary, dir string, fleet map[string]Server, window time.Duration) error {
	w, err := Start(Options{Binary: binary, Dir: dir, Capabilities: "{}", Boxes: map[string]map[string]Server{"dev": fleet}})
	if w != nil {
		defer w.Discard()
	}
	if err != nil {
		return err
	}
	w.Open("dev")
	w.watch(rand.N(window))
	if err := w.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	if _, err := w.AwaitExit(patience); err != nil {
		return err
	}
	if err := w.AwaitNothingLeft(5 * time.Second); err != nil {
		return fmt.Errorf("after SIGKILL: %w", err)
	}
	if faults := w.Violations(); len(faults) > 0 && !strings.HasPrefix(faults[0], "no line end") {
		return fmt.Errorf("the client was sent this: %v", faults) // the last line may have been cut
	}
	return nil
}

// watch notes who is started during that time: a process that clears its environment
// cannot be recognized later.
func (w *Workbench) watch(during time.Duration) {
	deadline := time.Now().Add(during)
	for ticker := time.NewTicker(20 * time.Millisecond); time.Now().Before(deadline); <-ticker.C {
		w.look()
	}
}
