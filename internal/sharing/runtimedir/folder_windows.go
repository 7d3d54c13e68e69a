package runtimedir

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// foreignAccess returns "": the folder is in the user's profile and has its access lists.
func foreignAccess(fs.FileInfo) string { return "" }

func isRefused(err error) bool {
	return errors.Is(err, windows.WSAECONNREFUSED) || errors.Is(err, windows.WSAENETDOWN)
}
