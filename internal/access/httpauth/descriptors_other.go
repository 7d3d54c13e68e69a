//go:build !unix

package httpauth

// maxDescriptors returns how many files and connections the process may have open: here
// there is no such limit.
func maxDescriptors() int { return 2 * maxConnections }
