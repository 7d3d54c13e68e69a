//go:build !unix

package trust

// syncFolder does nothing here: folders cannot be synced.
func syncFolder(string) error { return nil }
