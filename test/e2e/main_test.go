// Package e2e runs the built workbench between peers that others wrote: servers from
// npm and of go-sdk below it, the clients of both SDKs above it. Where bytes matter, a
// raw client and a tap on the wire stand in for the SDKs, which would hide them.
package e2e

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// patience is the deadline of every single wait; nothing here comes near it.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	mcptest.PlayRole(play)
	os.Exit(released.Run(m))
}

// play plays a server, or the tap before one.
func play(role string, args []string) int {
	var err error
	switch role {
	case roleTap:
		err = playTap(args)
	case roleFake:
		err = playFake(os.Stdin, os.Stdout)
	case roleGoSDK:
		err = playGoSDK()
	case roleAsker:
		err = playAsker()
	default:
		err = errors.New("unknown role " + role)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		return 1
	}
	return 0
}
