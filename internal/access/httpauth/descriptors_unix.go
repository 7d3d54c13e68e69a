//go:build unix

package httpauth

import "golang.org/x/sys/unix"

// maxDescriptors returns how many files and connections the process can have open.
func maxDescriptors() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 2 * maxConnections
	}
	return int(min(limit.Cur, 2*maxConnections)) //nolint:unconvert // signed on some platforms
}
