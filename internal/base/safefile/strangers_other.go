//go:build !unix

package safefile

import "io/fs"

// Strangers returns "" here: the mode of a file does not show who has access.
func Strangers(fs.FileInfo, fs.FileMode) string { return "" }

func others(fs.FileInfo) string { return "" }

// Replaceable returns "" here, for the same reason.
func Replaceable(string) string { return "" }
