//go:build !unix

package safefile

import "io/fs"

// AccessProblem returns "" here: the mode of a file does not show who has access.
func AccessProblem(fs.FileInfo, fs.FileMode) string { return "" }

func changeProblem(fs.FileInfo) string { return "" }

// ReplaceProblem returns "" here, for the same reason.
func ReplaceProblem(string) string { return "" }
