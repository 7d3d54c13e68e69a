// Package sandbox runs a server with the rights that its configuration gives it, and no others. The workbench makes a
// [Plan], starts its own binary once more as a launcher, and the launcher gives up every other right before it becomes the
// server: files by Landlock, system calls by seccomp, capabilities, memory. What is given up cannot be had back, neither by
// the server nor by what it starts.
//
// It works on Linux only. Elsewhere, and where the kernel lacks what is needed, a server does not start.
package sandbox

import (
	"fmt"
	"strings"
)

// LauncherName is the argv[0] under which the workbench's binary runs as the launcher. A main that starts sandboxed
// servers begins with:
//
//	if os.Args[0] == sandbox.LauncherName {
//		os.Exit(sandbox.LauncherMain())
//	}
const LauncherName = "mcp-sandbox"

// Policy is what a server may do. The zero value reads nothing but what programs need to run, and has no network.
type Policy struct {
	ReadAll bool     // all files, but no devices
	Read    []string // absolute paths, or Cwd
	Write   []string // likewise; they can also be read

	Network    bool  // TCP and UDP
	Memory     int64 // of each process, in bytes; 0: no limit
	BestEffort bool  // start although the kernel lacks something

	// Bound, if set, is a policy that also holds: of the files, those count that both allow. The rest of it is ignored.
	Bound *Policy

	// Settings are the files of the configuration: that a server may write to a folder with one in it is never proposed.
	Settings []string

	// LandlockVersion pretends that the kernel has no newer version of Landlock, for tests; negative: that it has none.
	// Default: what the kernel has.
	LandlockVersion int
}

// Cwd stands in a list of paths for the folder in which the server runs.
const Cwd = "cwd"

// Error says why a server cannot be sandboxed.
type Error struct {
	Message string
	Fix     string
}

func (e *Error) Error() string { return e.Message }

func failure(fix, format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), Fix: fix}
}

// missing is the error for a kernel that lacks something, unless the policy makes do with what there is.
func missing(gaps []string) *Error {
	return failure(
		`Run it on Linux 6.12 or newer with Landlock ("lsm=" of the boot options must include it), in a container ("docs/sandbox.md" has a recipe), or with what this system has: "sandbox": {"bestEffort": true}`,
		"the sandbox cannot be had on this system: %s", strings.Join(gaps, "; "))
}
