package rig

import (
	"bufio"
	"bytes"
	"io"
)

// nextEvent reads one server-sent event and returns its data, without an end of line. What
// was begun when the stream ends is no event.
func nextEvent(in *bufio.Reader) ([]byte, error) {
	var data [][]byte
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return bytes.Join(data, []byte("\n")), nil
		}
		if field, value, _ := bytes.Cut(line, []byte(":")); string(field) == "data" {
			data = append(data, bytes.TrimPrefix(value, []byte(" ")))
		}
	}
}

// gated holds a body back while the client does not read.
type gated struct {
	io.Reader
	client *Client
}

func (g gated) Read(p []byte) (int, error) {
	g.client.gate.RLock()
	g.client.gate.RUnlock() //nolint:staticcheck // the gate is all that is wanted
	return g.Reader.Read(p)
}
