package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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
	byPID := make(map[int]int64)
	for server, size := range sizes {
		byPID[server.Status().PID] = size << 20
	}
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	r.memory.read = func([]int) map[int]int64 { return byPID }
}

const hungry = `{"tools":[{"name":"hi","inputSchema":{}},{"name":"wait","inputSchema":{}}],"calls":{"wait":[{"wait":"forever"}]}}`

func TestPersonOverTheLimitOfMemory(t *testing.T) {
	r := newRig(t, map[string]string{"A": hungry, "B": hungry, "C": hungry}, perPerson, Options{})
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
	if !r.memory.look() {
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
	if r.memory.look() {
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
	r.memory.read = func(leaders []int) map[int]int64 { return map[int]int64{leaders[0]: 2 << 30} }
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
		f.memory.read = func([]int) map[int]int64 {
			looks.Add(1)
			<-time.After(time.Second) // a machine with very many processes
			return map[int]int64{}
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

// sharedLog is a log that can be read while it is written.
type sharedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *sharedLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// has reports whether a line has all parts, in this order.
func (l *sharedLog) has(parts ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		for _, part := range parts {
			var found bool
			if _, line, found = strings.Cut(line, part); !found {
				line = "\x00"
				break
			}
		}
		if line != "\x00" {
			return true
		}
	}
	return false
}

// The log says whose instance begins and ends, also that of one client alone, and that of one who uses too much memory.
func TestLogsNameThePerson(t *testing.T) {
	for name, change := range map[string]func(*config.Server){"per person": perPerson, "per client": perClient} {
		t.Run(name, func(t *testing.T) {
			log := &sharedLog{}
			r := newRig(t, map[string]string{"S": hungry}, change, Options{
				Log: slog.New(slog.NewTextHandler(log, nil)), Config: &config.Config{Secrets: []string{"hunter2hunter2"}},
			})
			a, b := person(t, "person f016", ""), person(t, "person 0b0b", "")
			a.options.PersonName, b.options.PersonName = "Ada hunter2hunter2", "bob"
			server := r.server(t, "S")
			<-a.begin(t, server, "hi")
			<-b.begin(t, server, "hi")
			if err := call(t.Context(), server, "hi"); err != nil {
				t.Fatal(err)
			}
			weigh(r, map[*Server]int64{server.For(a.ClientProfile): 5 << 10, server.For(b.ClientProfile): 1})
			r.limitMemory(1 << 30)
			r.memory.look()
			const ada = `person="Ada [hidden]"`
			for _, parts := range [][]string{
				{`msg="server is ready"`, ada},
				{`msg="server is ready"`, "person=bob"},
				{`msg="server is ready" toolbox=T server=S pid=`},
				{"level=WARN", `msg="server stopped"`, ada, "http.limits.memory"},
			} {
				eventually(t, strings.Join(parts, " … "), func() bool { return log.has(parts...) })
			}
			if log.has("hunter2") || log.has("person f016") {
				t.Error("the log has a secret, or an id")
			}
		})
	}
}
