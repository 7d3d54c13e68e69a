//go:build !unix

package httpauth

// maxDescriptors returns how many files and connections the process can have open. Here, that is not limited.
func maxDescriptors() int { return 2 * maxConnections }
