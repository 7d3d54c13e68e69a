package process

import (
	"os"
	"testing"
	"time"
)

func TestMemoryOfTrees(t *testing.T) {
	r := newReport(t)
	p := start(t, newTestHost(t, HostOptions{}), roleSpec("mix", r))
	r.await(mixSize)
	const gone = 1 << 30
	sums := Measure([]int{os.Getpid(), p.PID(), gone})
	own, child := sums[os.Getpid()].Memory, sums[p.PID()].Memory
	if child < 1<<20 || own <= child {
		t.Errorf("the child has %d bytes, and we with it %d", child, own)
	}
	eventually(t, "that the process counts which the child left behind", func() bool {
		left := Measure([]int{p.PID()})[p.PID()].Memory
		for _, one := range Tree(p.PID()) {
			left -= one.Memory
		}
		return left >= 1<<20
	})
	if sums[gone] != (Usage{}) {
		t.Errorf("a process that is gone has %+v", sums[gone])
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
	if sum := Measure([]int{os.Getpid()})[os.Getpid()].Memory; sum < resident/2 {
		t.Errorf("this process has %d bytes, and Measure says %d", resident, sum)
	}
}

// What a child used that has ended and was waited for still counts.
func TestTimeOfTrees(t *testing.T) {
	r := newReport(t)
	began := time.Now()
	p := start(t, newTestHost(t, HostOptions{}), roleSpec("employer", r))
	r.await(2)
	var use Usage
	eventually(t, "that the child has ended", func() bool {
		use = Measure([]int{p.PID()})[p.PID()]
		return use.CPU >= burnTime && len(Tree(p.PID())) == 1
	})
	took := time.Since(began)
	if use.Age <= 0 || use.Age > took+tick {
		t.Errorf("it is %s old, and was started %s ago", use.Age, took)
	}
	own, ok := readStat(p.PID())
	if !ok {
		t.Fatal("it has no state")
	}
	if share := use.Share(Usage{}); share <= 0 || share > float64(time.Duration(own.cpu)*tick)/float64(use.Age)+.01 {
		t.Errorf("it used %s in %s, which is said to be %.2f of a processor", use.CPU, use.Age, share)
	}
	stop(t, p)
}

func TestShare(t *testing.T) {
	for name, test := range map[string]struct {
		earlier, now Usage
		want         float64
	}{
		"since the start":          {Usage{}, Usage{CPU: time.Second, Age: 4 * time.Second}, .25},
		"since a look":             {Usage{CPU: time.Second, Age: 4 * time.Second}, Usage{CPU: 5 * time.Second, Age: 6 * time.Second}, 2},
		"another process":          {Usage{CPU: time.Second, Age: time.Hour}, Usage{CPU: 2 * time.Second, Age: time.Second}, 0},
		"what was left behind end": {Usage{CPU: 9 * time.Second, Age: time.Second}, Usage{CPU: time.Second, Age: 2 * time.Second}, 0},
		"unknown":                  {Usage{}, Usage{}, 0},
	} {
		if got := test.now.Share(test.earlier); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
