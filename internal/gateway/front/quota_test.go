package front

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestAccountOf(t *testing.T) {
	for _, test := range []struct {
		owner, remote string
		want          account
	}{
		{"token", "192.0.2.1:5", "token"},
		{"", "192.0.2.1:5", "address 192.0.2.1/32"},
		{"", "[::ffff:192.0.2.1]:7", "address 192.0.2.1/32"},
		{"", "[2001:db8:1:2:3::4]:7", "address 2001:db8:1:2::/64"},
		{"", "[fe80::1%eth0]:7", "address fe80::/64"},
		{"", "@", "address invalid Prefix"},
	} {
		if got := accountOf(test.owner, test.remote); got != test.want {
			t.Errorf("%q at %s: %q, want %q", test.owner, test.remote, got, test.want)
		}
	}
}

// One account that sends large bodies slowly does not keep others from sending theirs.
func TestBodiesOfOneAccountLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBodies()
		soon := func() context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), bodyWait)
			t.Cleanup(cancel)
			return ctx
		}
		release, err := b.acquire(soon(), "slow", bodyBudget)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.acquire(soon(), "slow", smallBody+1); err == nil {
			t.Error("the account has more than its share")
		}
		for i := range 3 {
			done, err := b.acquire(soon(), account(strconv.Itoa(i)), bodyBudget)
			if err != nil {
				t.Fatalf("account %d found no room: %v", i, err)
			}
			defer done()
		}
		if _, err := b.acquire(soon(), "one more", smallBody+1); err == nil {
			t.Error("there is no limit for all")
		}
		release()
		done, err := b.acquire(soon(), "slow", smallBody+1)
		if err != nil {
			t.Fatal(err)
		}
		done()
		if len(b.byAccount) != 3 {
			t.Errorf("%d accounts are known, want 3", len(b.byAccount))
		}
	})
}

// What others do not read takes no room from an account that does.
func TestAnswersOfOthersAreKept(t *testing.T) {
	s := newSpillBuffer()
	s.memory, s.disk = 8<<20, 64<<20
	for i := range 8 {
		hog := s.of(account("hog " + strconv.Itoa(i)))
		for range 1000 {
			if _, err := hog.store(make([]byte, 1<<20)); err != nil {
				break
			}
		}
	}
	if s.inFiles < s.disk/2 {
		t.Fatalf("only %d bytes are kept in files", s.inFiles)
	}
	other := s.of("other")
	for _, size := range []int{1, smallestFile - 1, smallestFile, 16 << 20} {
		h, err := other.store(make([]byte, size))
		if err != nil {
			t.Errorf("an answer of %d bytes was dropped: %v", size, err)
			continue
		}
		h.free()
	}
	if used := s.used["other"]; used != nil {
		t.Errorf("%+v is still held", used)
	}
}

func TestAccountHasItsShareOfTheSpillBuffer(t *testing.T) {
	s := newSpillBuffer()
	s.memory, s.disk = 8<<20, 0
	one, kept := s.of("one"), 0
	for ; kept < 1000; kept++ {
		if _, err := one.store(make([]byte, 60<<10)); err != nil {
			break
		}
	}
	if kept == 0 || kept*60<<10 > 4<<20 {
		t.Errorf("one account keeps %d messages of 60 KiB in 8 MiB", kept)
	}
}

// Sessions of one account make room for one another, not for those of others.
func TestSessionsMakeRoomWithinTheirAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 4
		g := newRegistry[*httpSession](limit, keepSession)
		server, spill := newServer(Options{}), newSpillBuffer()
		add := func(of account) (client, ended *httpSession, ok bool) {
			client = newHTTPSession(server, spill.of(of), sender{})
			entered, ended := g.enter([]byte(client.id), of, func() *httpSession { return client })
			if entered != nil {
				client.idle.release()
			}
			return client, ended, entered != nil
		}
		other, _, _ := add("other")
		<-time.After(2 * keepSession) // of the bubble
		first, _, _ := add("many")
		<-time.After(time.Second)
		add("many")
		if _, ended, ok := add("many"); !ok || ended != first {
			t.Error("the account's own oldest session did not make room")
		}
		for i := range limit - 3 {
			if _, ended, ok := add(account(strconv.Itoa(i))); !ok || ended != nil {
				t.Fatalf("there was no room for account %d", i)
			}
		}
		<-time.After(keepSession)
		if _, ended, ok := add("late"); !ok || ended == nil || ended.account != "many" {
			t.Error("the account with most sessions did not make room")
		}
		if _, ok := g.find(other.id); !ok {
			t.Error("the session of an account with one had to go")
		}
		for _, client := range g.all() {
			g.remove(client)
		}
		if len(g.byAccount) != 0 {
			t.Errorf("counts are left: %v", g.byAccount)
		}
	})
}

func TestStatelessClientsMakeRoomWithinTheirAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStatelessClients(newServer(Options{}), 4)
		defer g.finish(nil, answerTime)
		enter := func(of account, capabilities string) *statelessClient {
			client := g.enter(sender{person: string(of), account: of, audience: Audience{}}, declaring(capabilities))
			if client != nil {
				client.idle.release()
			}
			return client
		}
		other := enter("other", `{}`)
		<-time.After(time.Second) // of the bubble
		for i := range 100 {
			if enter("many", `{"x":`+strconv.Itoa(i)+`}`) == nil {
				t.Fatal("a client was refused that could have made room itself")
			}
		}
		if len(g.all()) != 3 || enter("other", `{}`) != other {
			t.Errorf("%d clients are left, want two of many and the other one", len(g.all()))
		}
	})
}

func TestAnswersOfABatchAreBounded(t *testing.T) {
	room := &quota{most: 1000}
	to := new(answers)
	b := &batch{to: to, room: room, account: "a", waiting: 3}
	b.respond(resultTo([]byte("1"), []byte(`"`+strings.Repeat("x", 500)+`"`)))
	b.respond(resultTo([]byte("2"), []byte(`"`+strings.Repeat("y", 500)+`"`)))
	b.respond(resultTo([]byte("3"), []byte(`"z"`)))
	messages, rejected, err := wire.ParseBatch(wire.NewFrame([]byte(strings.TrimSpace(to.only(t)))))
	if err != nil || len(rejected) > 0 || len(messages) != 3 {
		t.Fatalf("%s: %v, %v", to.sent, rejected, err)
	}
	for i, isError := range []bool{false, true, false} {
		if id := string(messages[i].ID.Bytes()); id != strconv.Itoa(i+1) || messages[i].Error.IsAbsent() == isError {
			t.Errorf("answer %d: id %s, error %s", i+1, id, messages[i].Error.Bytes())
		}
	}
	if len(room.used) != 0 {
		t.Errorf("room is still taken: %v", room.used)
	}
}
