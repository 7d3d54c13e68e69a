//go:build !linux

package process

import "os"

// unread is not known: these systems do not tell it at our end of the pipe.
func unread(*os.File) (n int, known bool) { return 0, false }
