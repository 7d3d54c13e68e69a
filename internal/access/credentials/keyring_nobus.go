//go:build !unix || darwin

package credentials

// keyringAbsence returns nil: the system always has a keyring.
func keyringAbsence(func(string) string) error { return nil }
