package fleet

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// kind returns a member that declares something that no other one does.
func kind(t *testing.T, account string, n int) *member {
	m := newMember(t, fmt.Sprintf(`{"experimental":{"kind":{"n":%d}}}`, n))
	m.options.Account = account
	return m
}

// up counts the variants of a server that run.
func up(server *Server) (n int) {
	for _, variant := range server.allVariants() {
		if variant.isUp() {
			n++
		}
	}
	return n
}

func TestSessionsOfAnAccountMakeRoomForOthersOfIt(t *testing.T) {
	r := newRig(t, map[string]string{"S": askTools}, nil, Options{})
	server := r.server(t, "S")
	other := kind(t, "other", -1)
	<-other.begin(t, server, "hi") // and is idle for longer than all that follow
	var first *member
	for i := range maxRunning + 3 {
		m := kind(t, "one", i)
		if first == nil {
			first = m
		}
		<-m.begin(t, server, "hi")
		if n := up(server); n > maxRunning+1 {
			t.Fatalf("%d sessions run", n)
		}
	}
	if !server.For(other.ClientProfile).isUp() {
		t.Error("the session of another account was stopped")
	}
	if server.For(first.ClientProfile).isUp() {
		t.Error("the session that was idle for longest goes on")
	}
	starts := r.starts(t, "S")
	<-first.begin(t, server, "hi") // it begins anew
	if got := r.starts(t, "S"); got != starts+1 || up(server) != maxRunning+1 {
		t.Errorf("%d starts, and %d sessions run", got-starts, up(server))
	}
}

func TestSessionsThatAreInUseMakeNoRoom(t *testing.T) {
	r := newRig(t, map[string]string{"S": askTools}, nil, Options{})
	server := r.server(t, "S")
	var leases []*Lease
	for i := range maxRunning {
		lease, err := server.LeaseFor(t.Context(), kind(t, "one", i).ClientProfile)
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, lease)
	}
	late := kind(t, "one", maxRunning)
	_, err := server.LeaseFor(t.Context(), late.ClientProfile)
	const want = "you have 8 sessions with this server already, and all are in use: clients that declare different capabilities do not share one; " +
		"try again when a call has ended, or have your clients declare the same capabilities"
	if err == nil || err.Error() != want {
		t.Errorf("one more: %v", err)
	}
	if lease, err := server.LeaseFor(t.Context(), kind(t, "two", maxRunning+1).ClientProfile); err != nil {
		t.Errorf("another account: %v", err)
	} else {
		lease.Release()
	}
	leases[3].Release()
	if lease, err := server.LeaseFor(t.Context(), late.ClientProfile); err != nil {
		t.Errorf("after the end of a call: %v", err)
	} else {
		lease.Release()
	}
	for i, lease := range leases {
		if i != 3 {
			lease.Release()
		}
	}
}

// However many start at once, no more run than may.
func TestSessionsThatBeginAtOnceAreLimited(t *testing.T) {
	r := newRig(t, map[string]string{"S": askTools}, nil, Options{})
	server := r.server(t, "S")
	var work sync.WaitGroup
	var mu sync.Mutex
	var leases []*Lease
	refused := 0
	for i := range 3 * maxRunning {
		m := kind(t, "one", i)
		work.Go(func() {
			lease, err := server.LeaseFor(t.Context(), m.ClientProfile)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				leases = append(leases, lease)
			} else if refused++; !strings.Contains(err.Error(), "all are in use") {
				t.Error(err)
			}
		})
	}
	work.Wait()
	if len(leases) != maxRunning || refused != 2*maxRunning || r.starts(t, "S") != maxRunning {
		t.Errorf("%d have a session, %d were refused, %d were started", len(leases), refused, r.starts(t, "S"))
	}
	for _, lease := range leases {
		lease.Release()
	}
}

// Clients that share a workbench each in a folder of its own are no flood.
func TestFoldersAreLimitedEachByItself(t *testing.T) {
	r := newRig(t, map[string]string{"S": askTools}, nil, Options{})
	server := r.server(t, "S")
	for i := range maxRunning + 2 {
		m := newMember(t, "")
		m.options.Folder = t.TempDir()
		<-m.begin(t, server, "hi")
		if n := up(server); n != i+1 {
			t.Fatalf("%d sessions run for %d folders", n, i+1)
		}
	}
}

func TestWhichSessionMakesRoom(t *testing.T) {
	gone := spareVariant{0, time.Second}
	uncalled, uncalledLonger := spareVariant{1, time.Second}, spareVariant{1, time.Minute}
	called := spareVariant{2, time.Hour}
	for _, pair := range [][2]spareVariant{{gone, uncalledLonger}, {uncalledLonger, uncalled}, {uncalled, called}} {
		if !pair[0].before(pair[1]) || pair[1].before(pair[0]) {
			t.Errorf("%v is not before %v", pair[0], pair[1])
		}
	}
}

// One account cannot use up the variants that all clients have.
func TestVariantsOfAnAccountAreBounded(t *testing.T) {
	server := lone(t)
	for i := range 2 * accountVariants {
		server.For(kind(t, "one", i).ClientProfile)
	}
	if n := len(server.allVariants()) - 1; n != accountVariants {
		t.Errorf("there are %d variants", n)
	}
	other := kind(t, "other", -1)
	if server.For(other.ClientProfile) == server {
		t.Error("another account has no variant")
	}
	// Who lost its place gets another when it needs it.
	late := kind(t, "one", 0)
	if variant := server.For(late.ClientProfile); variant == server || variant.isDismissed() {
		t.Error("who comes back has no variant")
	}
}
