//go:build !unix

package trust

// syncFolder does nothing here: a folder cannot be synced.
func syncFolder(string) error { return nil }
