//go:build !unix || darwin

package keyring

// Absence returns nil: the system always has a keyring.
func Absence(func(string) string) error { return nil }
