package tty

import (
	"context"
	"io"
	"os"
	"sync"
)

// Output is the standard output of a command. It remembers that a write failed, so that no command has to check each
// of its writes: what cannot be written is an error of the command in the end.
type Output struct {
	file *os.File

	mu     sync.Mutex
	err    error
	failed chan struct{} // closed with the first error
}

// NewOutput makes an output of a file.
func NewOutput(file *os.File) *Output { return &Output{file: file, failed: make(chan struct{})} }

// Write implements io.Writer. After an error, nothing more is written: half a table with a hole in it helps nobody.
func (o *Output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.file.Write(text)
	if err != nil {
		o.err = err
		close(o.failed)
	}
	return n, err
}

// Err returns why the output could not be written; nil if it could.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// WhileWritable returns a context for a command that writes until it is stopped: it ends when the output cannot be
// written any more. The caller calls stop.
func WhileWritable(ctx context.Context, out io.Writer) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	checked, ok := out.(*Output)
	if !ok {
		return ctx, cancel
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-checked.failed:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel()
		watching.Wait()
	}
}

// fileOf returns the file that is written to; nil if it is not known to be one.
func fileOf(out io.Writer) *os.File {
	switch out := out.(type) {
	case *os.File:
		return out
	case *Output:
		return out.file
	}
	return nil
}
