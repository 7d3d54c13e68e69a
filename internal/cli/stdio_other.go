//go:build !unix

package cli

import "os"

// pollable returns the file as it is: only unix systems need and allow more.
func pollable(file *os.File) *os.File { return file }
