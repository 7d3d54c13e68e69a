package mcptest

import (
	"fmt"
	"os"
)

// This file lets a test binary play the processes that its tests start, so that nothing has
// to be built for them.

// roleArgument is the first argument of a process that plays a role. It is not a variable
// of the environment, which is filtered on the way to a server, and inherited by its children.
const roleArgument = "play-role"

// FakeServer is the role of a server that behaves as a file tells it. Its arguments are
// those of Main.
const FakeServer = "fake-server"

// Self is the path of this binary.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// RoleArgs returns the arguments with which this binary plays a role.
func RoleArgs(role string, args ...string) []string {
	return append([]string{roleArgument, role}, args...)
}

// PlayRole is for the start of TestMain. If this process was started to play a role, it
// plays that and exits. All roles but FakeServer are played by the function, which returns
// the exit status; nil has none.
func PlayRole(play func(role string, args []string) int) {
	if len(os.Args) < 3 || os.Args[1] != roleArgument {
		return
	}
	role, args := os.Args[2], os.Args[3:]
	switch {
	case role == FakeServer:
		os.Exit(Main(args))
	case play != nil:
		os.Exit(play(role, args))
	}
	fmt.Fprintf(os.Stderr, "unknown role %q\n", role)
	os.Exit(2)
}
