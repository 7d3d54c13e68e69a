//go:build !linux

package process

import "os"

// unread returns false: these systems do not report it at the writing end of a pipe.
func unread(*os.File) (n int, known bool) { return 0, false }
