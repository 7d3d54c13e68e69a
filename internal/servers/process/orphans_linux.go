package process

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// reapDelay is the delay between the death of a child and the scan for orphans. It lets those who started a child wait
// for it first, and one scan of /proc serve many deaths.
const reapDelay = 200 * time.Millisecond

// orphanReaper reaps processes that this program inherited. As "child subreaper" it becomes the parent of processes
// that servers leave behind, so that they do not stay zombies where process 1 of a container does not reap.
type orphanReaper struct {
	deaths         chan os.Signal // capacity 1: one signal stands for any number of deaths
	stopping, done chan struct{}
}

func startOrphanReaper() (*orphanReaper, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	r := &orphanReaper{
		deaths:   make(chan os.Signal, 1),
		stopping: make(chan struct{}),
		done:     make(chan struct{}),
	}
	signal.Notify(r.deaths, unix.SIGCHLD) // before any child can die
	go r.run()                            // until stop
	return r, nil
}

func (r *orphanReaper) stop() {
	close(r.stopping)
	<-r.done
}

func (r *orphanReaper) run() {
	defer close(r.done)
	defer signal.Stop(r.deaths)
	for {
		select {
		case <-r.deaths:
		case <-r.stopping:
			return
		}
		select {
		case <-time.After(reapDelay):
			reapOrphans()
		case <-r.stopping:
			return
		}
	}
}

// reapOrphans reaps zombies that nobody else waits for. Those with this program's own limit may belong to code that
// uses os/exec directly, and are left alone; all others descend from a marked process.
func reapOrphans() {
	pids, err := listProcesses()
	if err != nil {
		return // the next death triggers another try
	}
	var zombies []int
	for _, pid := range pids {
		if isOurZombie(pid) {
			zombies = append(zombies, pid)
		}
	}
	// No child is started while the lock is held, so that an id that is not registered now cannot become that of a
	// child that somebody waits for.
	spawning.Lock()
	defer spawning.Unlock()
	var own unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_LOCKS, nil, &own); err != nil {
		return
	}
	for _, pid := range zombies {
		limit, ok := readLockLimit(pid)
		if ok && limit != own.Cur && !spawning.children[pid] && isOurZombie(pid) {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // nothing can be done about a failure
		}
	}
}

func isOurZombie(pid int) bool {
	s, ok := readStat(pid)
	return ok && s.parent == os.Getpid() && !s.alive()
}
