//go:build !unix && !windows

package safefile

import (
	"io/fs"
	"os"
)

// AccessProblem returns "" here: the mode of a file does not show who has access.
func AccessProblem(fs.FileInfo, fs.FileMode) string { return "" }

// IsForeign returns false here: the owner is not in a file's info.
func IsForeign(fs.FileInfo) bool { return false }

// StrangerProblem returns "" here, for the same reason.
func StrangerProblem(fs.FileInfo, fs.FileMode) string { return "" }

func changeProblem(fs.FileInfo) string { return "" }

// ReplaceProblem returns "" here, for the same reason.
func ReplaceProblem(string) string { return "" }

// Identity returns zeros here: the numbers of a file are not in its info.
func Identity(fs.FileInfo) (device, file uint64) { return 0, 0 }

// SyncFolder does nothing here: a folder cannot be synced.
func SyncFolder(string) error { return nil }

// Stat is os.Stat here.
func Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// SameFile is os.SameFile here.
func SameFile(a, b fs.FileInfo) bool { return os.SameFile(a, b) }

func withAccess(_ *os.File, info fs.FileInfo) (fs.FileInfo, error) { return info, nil }
