package fleet

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

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
