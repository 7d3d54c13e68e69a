//go:build !unix

package browser

import "os/exec"

func detach(*exec.Cmd) {}
