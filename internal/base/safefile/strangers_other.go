//go:build !unix

package safefile

import "io/fs"

// Strangers knows nothing here: the mode of a file does not tell who may use it.
func Strangers(fs.FileInfo, fs.FileMode) string { return "" }

func others(fs.FileInfo) string { return "" }

// Replaceable knows nothing here, either.
func Replaceable(string) string { return "" }
