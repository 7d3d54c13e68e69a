//go:build !unix

package wire

import "io"

// newPollReader returns the source itself: non-blocking reads are for unix systems only.
func newPollReader(src io.Reader, _ func()) io.Reader { return src }

// tryWriter is for unix systems only.
type tryWriter struct{}

func newTryWriter(io.Writer) *tryWriter { return nil }

func (*tryWriter) write([]byte) (int, error) { return 0, nil }
