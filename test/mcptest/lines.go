package mcptest

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"sync"
)

// This file is a server for one client, over a pair of pipes: a message is a line.

// Serve serves one client until its side ends. It returns nil then, and an *Exit if a
// step ended it; with IgnoreEOF only a step ends it. It closes in and out where it can.
func (s *Server) Serve(in io.Reader, out io.Writer) error {
	c := newConn(s, &lineOutlet{to: out, end: s.LineEnd})
	defer func() {
		closeIf(out)
		// A reader that cannot be closed may go on reading, so it is not waited for.
		if closeIf(in) {
			c.work.Wait()
		}
	}()
	c.logf("start %d", os.Getpid())
	c.work.Go(func() {
		if !c.do(request{}, s.Start) {
			c.readLines(bufio.NewReader(in))
		}
	})
	<-c.quit
	return c.err
}

// readLines takes the client's messages until they end.
func (c *conn) readLines(in *bufio.Reader) {
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 {
			if !c.isUntoldProbe(line) {
				c.logf("recv %s", line)
			}
			if message, ok := c.take(line, ""); ok {
				c.receive(message)
			}
		}
		if err != nil {
			break
		}
	}
	select {
	case <-c.quit: // the input was closed by ourselves
		return
	default:
	}
	c.inputEnded()
}

// inputEnded ends a server that has nobody to serve any more, unless it is stubborn.
func (c *conn) inputEnded() {
	c.logf("eof")
	c.update(func() { c.eof = true })
	if !c.server.IgnoreEOF {
		c.end(nil)
	}
}

// lineOutlet writes one message at a time.
type lineOutlet struct {
	mu  sync.Mutex
	to  io.Writer
	end string
}

func (o *lineOutlet) write(message []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	end := o.end
	if end == "" {
		end = "\n"
	}
	_, err := o.to.Write(append(message, end...))
	return err
}

func (o *lineOutlet) cut() { closeIf(o.to) }

func closeIf(stream any) bool {
	closer, ok := stream.(io.Closer)
	if ok {
		_ = closer.Close() // it may be closed already
	}
	return ok
}
