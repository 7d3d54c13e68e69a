//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"os"
	"runtime"
)

// Line is the line to a launcher. There is none on this system.
type Line struct{}

// Warden does not exist on this system.
type Warden struct{}

// Close does nothing.
func (*Warden) Close() {}

// Supported returns an error: there are no sandboxes on this system, and a server that should run in one does not start.
func Supported() error {
	return failure(`Run it in a container ("docs/sandbox.md" has a recipe), or say that it runs without: "sandbox": false`,
		"the sandbox cannot be had on this system: it needs Linux on an x86-64 or ARM64 processor, and this is %s on %s", runtime.GOOS, runtime.GOARCH)
}

// Gaps returns why there are no sandboxes.
func Gaps() []string { return []string{Supported().Error()} }

// Open returns what Supported does.
func Open(*Plan) (*Line, error) { return nil, Supported() }

// Files returns nothing.
func (*Line) Files() []*os.File { return nil }

// Close does nothing.
func (*Line) Close() {}

// Await is not reached: Open returns an error.
func (*Line) Await() (*Warden, []string, error) { return nil, nil, nil }

// LauncherMain returns an exit status: there is no launcher on this system.
func LauncherMain() int { return 2 }
