package process

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestHostsAreIndependent(t *testing.T) {
	state := t.TempDir()
	mine, theirs := newReport(t), newReport(t)
	first := newTestHost(t, HostOptions{StateDir: state})
	second := newTestHost(t, HostOptions{StateDir: state})
	start(t, first, roleSpec("mix", mine))
	p := start(t, second, roleSpec("mix", theirs))
	mine.await(mixSize)
	theirs.await(mixSize)
	closeHost(t, first)
	mine.noneAlive()
	alive := func() (n int) {
		for _, person := range theirs.read() {
			if person.alive() {
				n++
			}
		}
		return n
	}
	// The one that only starts another ends by itself, perhaps later.
	eventually(t, "the processes of the other host live", func() bool { return alive() <= mixStays })
	if n := alive(); n != mixStays {
		t.Errorf("%d processes of the other host live, want %d", n, mixStays)
	}
	stop(t, p)
	theirs.noneAlive()
}

func TestNeighboursAreUntouched(t *testing.T) {
	h := newTestHost(t, HostOptions{})
	stopped, neighbour := newReport(t), newReport(t)
	p := start(t, h, roleSpec("mix", stopped))
	q := start(t, h, roleSpec("plain", neighbour))
	stopped.await(mixSize)
	neighbour.await(1)
	stop(t, p)
	select {
	case <-q.Done():
		t.Errorf("the neighbour %s", q.Exit())
	default:
	}
	stop(t, q)
}

func TestUnusedHostCloses(t *testing.T) {
	h := NewHost(HostOptions{StateDir: t.TempDir()})
	closeHost(t, h)
	closeHost(t, h)
}

func TestLimitIsRestored(t *testing.T) {
	limit := func() uint64 {
		var l unix.Rlimit
		if err := unix.Prlimit(0, unix.RLIMIT_LOCKS, nil, &l); err != nil {
			t.Fatal(err)
		}
		return l.Cur
	}
	before := limit()
	h := newTestHost(t, HostOptions{})
	p := start(t, h, roleSpec("plain", newReport(t)))
	if got, ok := readLockLimit(p.PID()); !ok || mark(got) != p.tree.mark {
		t.Errorf("the child has mark %x, want %x", got, p.tree.mark)
	}
	if _, err := h.Start(Spec{Command: script(t, "#!/nonexistent/interpreter\n")}); err == nil {
		t.Error("a script without interpreter was started")
	}
	if after := limit(); after != before {
		t.Errorf("our own limit is %x, before it was %x", after, before)
	}
	stop(t, p)
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestServerNumbersAreReused(t *testing.T) {
	pl := newPlatform(HostOptions{})
	first, err := pl.allocateServer()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * int(serverOf) {
		server, err := pl.allocateServer()
		if err != nil {
			t.Fatal(err)
		}
		if server == guardServer || server == first {
			t.Fatalf("number %d was given twice", server)
		}
		pl.freeServer(server)
	}
}

func TestMarkRoundTrip(t *testing.T) {
	id := randomRun()
	m := newMark(id, 0x7abc, true)
	if m.run() != id || m.server() != 0x7abc || !m.keepsDetached() {
		t.Errorf("mark %x gives %x, %x, %v", m, m.run(), m.server(), m.keepsDetached())
	}
	r := run{id: id, session: 17, marking: byLimit}
	if got, err := parseRun(r.String()); err != nil || got != r {
		t.Errorf("parseRun(%q) = %v, %v", r, got, err)
	}
}

func TestLedgerIsPrivate(t *testing.T) {
	state := t.TempDir()
	h := newTestHost(t, HostOptions{StateDir: state})
	start(t, h, roleSpec("plain", newReport(t)))
	for path, want := range map[string]os.FileMode{
		filepath.Join(state, ledgerFolder): os.ModeDir | 0o700,
		h.platform.ledger.path:             0o200,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
	closeHost(t, h)
	if _, err := os.Stat(h.platform.ledger.path); !os.IsNotExist(err) {
		t.Errorf("the run is still noted: %v", err)
	}
}

// A run of before a reboot is only forgotten: its number means nothing any more.
func TestLedgerOfAnotherBoot(t *testing.T) {
	r := newReport(t)
	state := t.TempDir()
	h := newTestHost(t, HostOptions{})
	p := start(t, h, roleSpec("plain", r))
	r.await(1)
	path := filepath.Join(state, ledgerFolder, h.platform.run.String())
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another boot"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := newTestHost(t, HostOptions{StateDir: state})
	stop(t, start(t, other, roleSpec("plain", newReport(t))))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the old run is still noted: %v", err)
	}
	if p.Exit() != "still running" {
		t.Errorf("the process of the run that the file names %s", p.Exit())
	}
}

func TestUnwritableStateDir(t *testing.T) {
	var log logBuffer
	r := newReport(t)
	file := script(t, "")
	h := newTestHost(t, HostOptions{StateDir: file, Log: log.logger()})
	stop(t, start(t, h, roleSpec("plain", r)))
	r.noneAlive()
	if !log.contains("cannot be recorded") {
		t.Error("nothing was logged")
	}
}
