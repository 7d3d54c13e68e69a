package fleet

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// limitMemory sets http.limits.memory.
func (r *rig) limitMemory(limit int64) {
	cfg := *r.table.Load().config
	cfg.HTTP.Limits.Memory = limit
	r.Apply(&cfg)
}

// weigh has the processes of clients count with sizes in MiB.
func weigh(r *rig, sizes map[*Server]int64) {
	byPID := make(map[int]process.Usage)
	for server, size := range sizes {
		byPID[server.Status().PID] = process.Usage{Memory: size << 20}
	}
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	r.memory.read = func([]int) map[int]process.Usage { return byPID }
}

// lookByHand has nobody look but the test.
func lookByHand(r *rig) {
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	r.memory.active = true
}

// looksAgain looks, and reports whether somebody looks later.
func (r *rig) looksAgain() bool {
	pause, _ := r.memory.look()
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	r.memory.active = true
	return pause > 0
}

const hungry = `{"tools":[{"name":"hi","inputSchema":{}},{"name":"wait","inputSchema":{}}],"calls":{"wait":[{"wait":"forever"}]}}`

func TestPersonOverTheLimitOfMemory(t *testing.T) {
	r := newRig(t, map[string]string{"A": hungry, "B": hungry, "C": hungry}, perPerson, Options{})
	lookByHand(r)
	a, b := person(t, "alice", ""), person(t, "bob", "")
	for _, name := range []string{"A", "B"} {
		<-a.begin(t, r.server(t, name), "hi")
		<-b.begin(t, r.server(t, name), "hi")
		if err := call(t.Context(), r.server(t, name), "hi"); err != nil { // the user's
			t.Fatal(err)
		}
	}
	used := func(m *member, name string) *Server { return r.server(t, name).For(m.ClientProfile) }
	lease, err := used(a, "A").Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	end := a.begin(t, r.server(t, "A"), "wait") // the call that made it grow
	weigh(r, map[*Server]int64{
		used(a, "A"): 5 << 10, used(a, "B"): 1536, used(b, "A"): 1000, used(b, "B"): 1024, r.server(t, "A"): 100 << 10,
	})
	r.limitMemory(1 << 30) // before anybody has looked, nobody is over it
	if !r.looksAgain() {
		t.Error("nobody looks again")
	}
	const want = "it was stopped, because the servers of one person used 6.5 GiB of memory, it the most of them with 5 GiB; the limit is 1 GiB (http.limits.memory); " +
		"let it do less at a time, or ask those who run the workbench for a higher limit"
	if err := lease.Explain(<-end); err == nil || err.Error() != want {
		t.Errorf("its call failed with: %v", err)
	}
	lease.Release()
	eventually(t, "its end", func() bool { return used(a, "A").Status().State == Idle })
	if status := used(a, "A").Status(); status.LastError != want {
		t.Errorf("its status is %+v", status)
	}
	if used(a, "B").Status().State != Ready || used(b, "A").Status().State != Ready || r.server(t, "A").Status().State != Ready {
		t.Error("something else was stopped as well")
	}

	// One process is enough for bob, too: his are over the limit only together.
	if used(b, "B").Status().State == Ready {
		t.Error("the servers of another one who is over the limit go on")
	}

	// What is left of hers is still too much.
	const refused = "it is not started, because your servers use 1.5 GiB of memory (T/B 1.5 GiB), and the limit for one person is 1 GiB (http.limits.memory); " +
		"end what you do not need of these and try again, or ask those who run the workbench for a higher limit"
	for _, name := range []string{"A", "C"} {
		if _, err := r.server(t, name).LeaseFor(t.Context(), a.ClientProfile); err == nil || err.Error() != refused {
			t.Errorf("%s: the next start fails with: %v", name, err)
		}
		if _, err := r.server(t, name).LeaseFor(t.Context(), person(t, "alice", `{"roots":{}}`).ClientProfile); err == nil || err.Error() != refused {
			t.Errorf("%s: another client of hers is told: %v", name, err)
		}
	}
	for who, m := range map[string]*member{"what runs": a, "another person": b} {
		lease, err := r.server(t, "B").LeaseFor(t.Context(), m.ClientProfile)
		if err != nil {
			t.Errorf("%s is refused: %v", who, err)
			continue
		}
		lease.Release()
	}
	if err := call(t.Context(), r.server(t, "C"), "hi"); err != nil {
		t.Errorf("the user of the workbench is refused: %v", err)
	}

	// Without the limit, nobody looks and nothing is refused.
	r.limitMemory(0)
	r.looksAgain() // somebody was there since the last look
	if r.looksAgain() {
		t.Error("somebody looks without a limit")
	}
	if lease, err := r.server(t, "C").LeaseFor(t.Context(), a.ClientProfile); err != nil {
		t.Error(err)
	} else {
		lease.Release()
	}
}

// A server that outgrows the limit before it is ready is stopped as well.
func TestMemoryOfAStart(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"on":{"initialize":[{"wait":"forever"}]}}`}, perPerson, Options{})
	r.limitMemory(1 << 30)
	r.memory.mu.Lock()
	r.memory.active = true // the test looks
	r.memory.read = func(leaders []int) map[int]process.Usage { return map[int]process.Usage{leaders[0]: {Memory: 2 << 30}} }
	r.memory.mu.Unlock()
	server, m := r.server(t, "S"), person(t, "alice", "")
	failed := make(chan error, 1)
	go func() {
		_, err := server.LeaseFor(t.Context(), m.ClientProfile)
		failed <- err
	}()
	eventually(t, "its process", func() bool { return len(r.runningProcesses()) == 1 })
	r.memory.look()
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "http.limits.memory") {
		t.Errorf("the start failed with: %v", err)
	}
	eventually(t, "its end", func() bool { return len(r.runningProcesses()) == 0 })
}

// The memory is that of real processes, and somebody looks without being told.
func TestMemoryIsMeasured(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of processes is known on Linux only")
	}
	r := newRig(t, map[string]string{"S": hungry}, perPerson, Options{})
	r.limitMemory(1 << 20)
	m := person(t, "alice", "")
	end := m.begin(t, r.server(t, "S"), "wait")
	<-end
	if got := r.server(t, "S").For(m.ClientProfile).Status().LastError; !strings.Contains(got, "the limit is 1 MiB (http.limits.memory)") {
		t.Errorf("it ended because of: %s", got)
	}
}

// In a session of a server for all, only what one client has alone counts, and only for that client's person.
func TestWhoseMemoryItIs(t *testing.T) {
	server := lone(t)
	alike, alone := person(t, "alice", `{"elicitation":{}}`), person(t, "alice", `{"sampling":{}}`)
	shared := server.For(alike.ClientProfile)
	server.variants.asks.add("")
	if server.For(alone.ClientProfile).owner() != "alice" || shared.owner() != "" || server.owner() != "" {
		t.Error("what is for one client is not that of its person, or what may be for several is")
	}
}

// Looks take a bounded part of the time, and end with what there is to look at.
func TestLooksAtMemoryAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := loneWith(t, perPerson)
		f := server.fleet
		cfg := *f.table.Load().config
		cfg.HTTP.Limits.Memory = 1 << 30
		f.table.Store(f.tabulate(&cfg, f.table.Load()))
		var looks atomic.Int32
		f.memory.read = func([]int) map[int]process.Usage {
			looks.Add(1)
			<-time.After(time.Second) // a machine with very many processes
			return map[int]process.Usage{}
		}
		variant := server.For(person(t, "alice", "").ClientProfile)
		variant.mu.Lock()
		variant.running = &instance{process: nil}
		variant.mu.Unlock()
		f.memory.wake()
		<-time.After(time.Minute)
		f.memory.mu.Lock()
		active := f.memory.active
		f.memory.mu.Unlock()
		if looks.Load() != 0 || active {
			t.Error("somebody looks though no process runs")
		}
		variant.mu.Lock()
		variant.running = nil
		variant.mu.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := f.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestSizeText(t *testing.T) {
	for size, want := range map[int64]string{0: "0 MiB", 1 << 20: "1 MiB", 1<<30 - 1: "1024 MiB", 1 << 30: "1 GiB", 3 << 29: "1.5 GiB", 4 << 30: "4 GiB"} {
		if got := sizeText(size); got != want {
			t.Errorf("%d: %s, want %s", size, got, want)
		}
	}
	many := &personMemory{}
	for i := range namedServers + 2 {
		many.servers = append(many.servers, serverMemory{server: &Server{definition: definition{toolbox: "T", config: config.Server{Name: fmt.Sprint(i)}}}, size: 1 << 20})
	}
	if got := many.names(); !strings.HasSuffix(got, "T/4 1 MiB and 2 more") {
		t.Error(got)
	}
}

// limited has servers without people in mind run with a limit of their own.
func limited(limit int64, box *config.Sandbox) func(*config.Server) {
	return func(server *config.Server) { server.Limits.Memory, server.Sandbox = limit, box }
}

func TestLimitOfAServer(t *testing.T) {
	for _, test := range []struct {
		name         string
		own, sandbox int64
		want         int64
		key          string
	}{
		{"none", 0, 0, 0, keyOfServer},
		{"its own", 5, 0, 5, keyOfServer},
		{"the sandbox's", 0, 7, 7, keyOfSandbox},
		{"the lower of two", 5, 7, 5, keyOfServer},
		{"the lower of two, the other way round", 9, 7, 7, keyOfSandbox},
	} {
		s := &Server{}
		limited(test.own, &config.Sandbox{Memory: int(test.sandbox)})(&s.config)
		if got, key := s.memoryLimit(); got != test.want || key != test.key {
			t.Errorf("%s: %d of %s", test.name, got, key)
		}
	}
}

// A server over its limit is stopped, alone; again and again, there is a pause before the next start.
func TestServerOverItsLimitOfMemory(t *testing.T) {
	r := newRig(t, map[string]string{"A": hungry, "B": hungry}, limited(64<<20, nil), Options{})
	lookByHand(r)
	a, b := r.server(t, "A"), r.server(t, "B")
	if err := call(t.Context(), b, "hi"); err != nil {
		t.Fatal(err)
	}
	for round := 1; round <= 2; round++ {
		lease, err := a.Lease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		end := make(ending, 1)
		if _, err := lease.Session.CallTool(downstream.ToolCall{Name: "wait"}, end); err != nil {
			t.Fatal(err)
		}
		weigh(r, map[*Server]int64{a: 63, b: 60})
		if !r.looksAgain() || a.Status().State != Ready {
			t.Fatal("it is stopped below its limit, or nobody looks again")
		}
		if use := lease.Usage(time.Now()); use == nil || use.Memory != 63<<20 {
			t.Errorf("it is said to use %+v", use)
		}
		weigh(r, map[*Server]int64{a: 65, b: 60})
		r.looksAgain()
		over, ok := errors.AsType[*MemoryLimitError](lease.Explain(<-end))
		if !ok || *over != (MemoryLimitError{Used: 65 << 20, Limit: 64 << 20, Key: "limits.memory"}) {
			t.Fatalf("its call failed with: %v", over)
		}
		lease.Release()
		status := a.Status()
		if want := "it was stopped, because its processes used 65 MiB of memory; the limit is 64 MiB (limits.memory); let it do less at a time, or raise the limit"; status.LastError != want {
			t.Errorf("its last error is %q", status.LastError)
		}
		if isBack := status.NextTry > 0; isBack != (round == 2) || status.Failures != round {
			t.Errorf("after %d: %+v", round, status)
		}
	}
	if b.Status().State != Ready {
		t.Error("another server was stopped as well")
	}
}

// Without a limit, somebody looks while servers are in use, and only then.
func TestWhoIsLookedAt(t *testing.T) {
	r := newRig(t, map[string]string{"A": hungry}, nil, Options{})
	lookByHand(r)
	a := r.server(t, "A")
	if err := call(t.Context(), a, "hi"); err != nil {
		t.Fatal(err)
	}
	weigh(r, map[*Server]int64{a: 1})
	if pause, _ := r.memory.look(); pause != usagePause {
		t.Errorf("the next look is in %s", pause)
	}
	if pause, _ := r.memory.look(); pause != 0 || !r.memory.sleeps.Load() {
		t.Errorf("nobody uses it, and it is looked at in %s", pause)
	}
	if err := call(t.Context(), a, "hi"); err != nil {
		t.Fatal(err)
	}
	r.memory.mu.Lock()
	isAwake := r.memory.active && !r.memory.sleeps.Load()
	r.memory.mu.Unlock()
	if !isAwake {
		t.Error("it is in use again, and nobody looks")
	}
}

// What was seen long ago says nothing of a call, and what has just ended is as it was seen last.
func TestUsageIsOfTheMoment(t *testing.T) {
	in := &instance{}
	lease := &Lease{instance: in}
	if use := lease.Usage(time.Now()); use != nil {
		t.Errorf("unseen: %+v", use)
	}
	in.note(process.Usage{Memory: 5, CPU: time.Second, Age: 2 * time.Second})
	in.note(process.Usage{Memory: 6, CPU: 4 * time.Second, Age: 4 * time.Second})
	in.note(process.Usage{})
	if use := lease.Usage(time.Now()); use == nil || use.Memory != 6 || use.CPU != 1.5 {
		t.Errorf("seen: %+v", use)
	}
	if use := lease.Usage(time.Now().Add(usageAge + time.Second)); use != nil {
		t.Errorf("long ago: %+v", use)
	}
}
