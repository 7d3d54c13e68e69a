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
	if sums[gone] != 0 {
		t.Errorf("a process that is gone has %d", sums[gone])
	}
	stop(t, p)
}
