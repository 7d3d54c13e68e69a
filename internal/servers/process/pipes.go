package process

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// maxRoomy bounds the processes of a host that get large pipes. The pipes of a user share a budget of 64 MiB by
// default, and beyond it Linux makes all new ones tiny, also for other programs. Two large pipes for each of 16
// processes use half of it.
const maxRoomy = 16

// roomySize is the size of a large pipe. clientSize is that of a pipe to the client: these are not counted, so that it
// has to be modest for many workbenches.
const (
	roomySize  = 1 << 20
	clientSize = 256 << 10
)

// EnlargePipes enlarges the pipes that this program was started with, if they are pipes and smaller.
func EnlargePipes(files ...*os.File) {
	for _, file := range files {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
			enlargePipe(file, clientSize)
		}
	}
}

// pipes are the three pipes of one child. os/exec does not create them, because its Wait would then wait for every
// grandchild that holds one.
type pipes struct {
	stdin, stdout, stderr                *os.File // the workbench's ends
	childStdin, childStdout, childStderr *os.File
}

func openPipes(roomy bool) (*pipes, error) {
	p := &pipes{}
	var errs [3]error
	p.childStdin, p.stdin, errs[0] = os.Pipe()
	p.stdout, p.childStdout, errs[1] = os.Pipe()
	p.stderr, p.childStderr, errs[2] = os.Pipe()
	if err := errors.Join(errs[:]...); err != nil {
		p.closeChildEnds()
		p.closeOurEnds()
		return nil, err
	}
	if roomy {
		enlargePipe(p.stdin, roomySize)
		enlargePipe(p.stdout, roomySize)
	}
	return p, nil
}

func (p *pipes) closeChildEnds() { closeAll(p.childStdin, p.childStdout, p.childStderr) }

func (p *pipes) closeOurEnds() { closeAll(p.stdin, p.stdout, p.stderr) }

// closeAll closes files; nil ones are skipped.
func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // nothing was buffered
		}
	}
}

// output is the workbench's end of a child's stdout. It ends with the child, even if another process holds the other
// end.
type output struct {
	file *os.File
}

func (o *output) Read(b []byte) (int, error) {
	n, err := o.file.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return readAvailable(o.file, b)
	}
	return n, err
}

// SyscallConn implements syscall.Conn, for readers that can poll. Where it fails, as after the child has exited, Read
// returns what is left.
func (o *output) SyscallConn() (syscall.RawConn, error) { return o.file.SyscallConn() }

func (o *output) Close() error { return o.file.Close() }

// endWithChild unblocks Read. From then on, each Read returns what is in the pipe, or io.EOF.
func (o *output) endWithChild() {
	_ = o.file.SetReadDeadline(time.Unix(1, 0)) // fails where pipes do not support deadlines
}
