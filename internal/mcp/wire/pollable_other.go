//go:build !unix

package wire

import "os"

// Pollable returns the file as it is: only unix systems need and allow more.
func Pollable(file *os.File) *os.File { return file }
