package process

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// reapDelay lets those who started a child wait for it first, and lets one scan of
// /proc serve many deaths.
const reapDelay = 200 * time.Millisecond

// orphanReaper waits for processes that we did not start but inherited: as "child
// subreaper" we become the parent of what servers leave behind, so that it does not
// depend on a container's process 1 whether they stay as zombies.
type orphanReaper struct {
	deaths         chan os.Signal // holds one: it stands for any number
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
	signal.Notify(r.deaths, unix.SIGCHLD) // before there is anything that could die
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

// reapOrphans reaps our zombies that nobody else waits for. Those with our own limit
// may belong to code that uses os/exec beside this package and are left alone; all
// others were born to a marked process.
func reapOrphans() {
	pids, err := listProcesses()
	if err != nil {
		return // the next death brings another try
	}
	var zombies []int
	for _, pid := range pids {
		if isOurZombie(pid) {
			zombies = append(zombies, pid)
		}
	}
	// From here on no child is started, so an id that is not registered now cannot
	// become that of a child which somebody waits for.
	spawning.Lock()
	defer spawning.Unlock()
	var own unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_LOCKS, nil, &own); err != nil {
		return
	}
	for _, pid := range zombies {
		limit, ok := readLockLimit(pid)
		if ok && limit != own.Cur && !spawning.children[pid] && isOurZombie(pid) {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // there is nothing to do about a failure
		}
	}
}

func isOurZombie(pid int) bool {
	s, ok := readStat(pid)
	return ok && s.parent == os.Getpid() && !s.alive()
}
