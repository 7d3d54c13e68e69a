package process

import (
	"os"
	"testing"
)

func TestMemory(t *testing.T) {
	r := newReport(t)
	p := start(t, newTestHost(t, HostOptions{}), roleSpec("mix", r))
	r.await(mixSize)
	const gone = 1 << 30
	sums := Memory([]int{os.Getpid(), p.PID(), gone})
	own, child := sums[os.Getpid()], sums[p.PID()]
	if child < 1<<20 || own <= child {
		t.Errorf("the child has %d bytes, and we with it %d", child, own)
	}
	eventually(t, "that the process counts which the child left behind", func() bool {
		left := Memory([]int{p.PID()})[p.PID()]
		for _, one := range Tree(p.PID()) {
			left -= one.Memory
		}
		return left >= 1<<20
	})
	if sums[gone] != 0 {
		t.Errorf("a process that is gone has %d", sums[gone])
	}
	stop(t, p)
}

// The workbench asks for its own memory as well.
func TestOwnMemory(t *testing.T) {
	own, ok := readStat(os.Getpid())
	if !ok {
		t.Fatal("this process has no state")
	}
	resident := own.pages * int64(os.Getpagesize())
	if sum := Memory([]int{os.Getpid()})[os.Getpid()]; sum < resident/2 {
		t.Errorf("this process has %d bytes, and Memory says %d", resident, sum)
	}
}
