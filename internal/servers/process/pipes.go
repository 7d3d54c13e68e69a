package process

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// maxRoomy is how many processes of a host get large pipes. A user's pipes share a
// budget of 64 MiB by default, and beyond it Linux makes all new ones tiny, those
// of other programs too; two large pipes each for 16 processes are half of it.
const maxRoomy = 16

// roomySize is how much a large pipe holds, clientSize how much one to our client does: that
// is made larger without being counted, so that many workbenches must not ask for much.
const (
	roomySize  = 1 << 20
	clientSize = 256 << 10
)

// EnlargePipes makes the pipes that this program was started with hold more, if they are
// pipes, and smaller than that.
func EnlargePipes(files ...*os.File) {
	for _, file := range files {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
			enlargePipe(file, clientSize)
		}
	}
}

// pipes are the three pipes of one child. They are made here and not by os/exec,
// whose Wait would otherwise wait for every grandchild that holds one.
type pipes struct {
	stdin, stdout, stderr                *os.File // ours
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

// closeAll closes files of which some may be nil.
func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // nothing was buffered
		}
	}
}

// output is our end of a child's stdout. It ends with the child, not with the last
// process that inherited the other end.
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

// SyscallConn implements syscall.Conn, for readers that know how to poll. Where it fails, as
// it does after the child's end, Read says what is left.
func (o *output) SyscallConn() (syscall.RawConn, error) { return o.file.SyscallConn() }

func (o *output) Close() error { return o.file.Close() }

// endWithChild lets a blocked Read return, and from now on each Read returns what
// is there or io.EOF.
func (o *output) endWithChild() {
	_ = o.file.SetReadDeadline(time.Unix(1, 0)) // fails where pipes know no deadlines
}
