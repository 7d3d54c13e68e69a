package fleet

import (
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// shownSteps writes steps as "command=DETAIL start", with a mark behind the one that failed.
func shownSteps(steps []Step) string {
	var texts []string
	for _, step := range steps {
		text := step.Name
		if step.Detail != "" {
			text += "=" + step.Detail
		}
		if step.Failed {
			text += "!"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}

func TestStepsOfLocalServers(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, spec string
		change     func(*config.Server)
		want       string // PID stands for its number
	}{
		{
			name: "all goes well",
			spec: `{"tools":[{"name":"a","inputSchema":{}}]}`,
			want: "command=" + executable + " start=process PID handshake=fake 1, revision 2025-11-25 tools=1 tool",
		},
		{
			name: "no command", spec: `{}`, change: func(s *config.Server) { s.Command = "no-such-program" },
			want: "command!",
		},
		{
			name: "no folder", spec: `{}`, change: func(s *config.Server) { s.Dir = "/no/such/folder" },
			want: "start!",
		},
		{
			name: "crash", spec: `{"start":[{"exit":3}]}`,
			want: "command=" + executable + " start=process PID handshake!",
		},
		{
			name: "no tools", spec: `{"on":{"tools/list":[{"error":{"code":-1,"message":"not today"}}]}}`,
			want: "command=" + executable + " start=process PID handshake=fake 1, revision 2025-11-25 tools!",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, map[string]string{"S": test.spec}, test.change, Options{})
			server := r.server(t, "S")
			if lease, err := server.Lease(t.Context()); err == nil {
				lease.Release()
			}
			steps := server.Status().Steps
			for i, step := range steps {
				if words := strings.Fields(step.Detail); len(words) == 2 && words[0] == "process" {
					steps[i].Detail = "process PID"
				}
			}
			if got := shownSteps(steps); got != test.want {
				t.Errorf("the steps are\n%s\nnot\n%s", got, test.want)
			}
		})
	}
}

func TestStepsOfRemoteServers(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	nobody := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	plain := httptest.NewServer(streamableHandler())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(streamableHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	_, port, _ := net.SplitHostPort(plain.Listener.Addr().String())

	tests := []struct{ name, url, want string }{
		{"fine", plain.URL, "connect=" + plain.Listener.Addr().String() + " handshake="},
		{"by name", "http://localhost:" + port, "dns="},
		{"nobody listens", "http://" + nobody, "connect!"},
		{"unknown authority", secure.URL, "connect=" + secure.Listener.Addr().String() + " tls!"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, server := remoteRig(t, test.url, "http", nil, Options{})
			if lease, err := server.Lease(t.Context()); err == nil {
				lease.Release()
			}
			if got := shownSteps(server.Status().Steps); !strings.HasPrefix(got, test.want) {
				t.Errorf("the steps are %q, not %q", got, test.want)
			}
		})
	}
}

func TestStepUnderWay(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"start":[{"wait":"forever"}]}`}, func(s *config.Server) {
		s.Timeouts.Connect = 20 * time.Second
	}, Options{})
	server := r.server(t, "S")
	waiting := make(chan struct{})
	go func() {
		defer close(waiting)
		if lease, err := server.Lease(t.Context()); err == nil {
			lease.Release()
		}
	}()
	eventually(t, "the handshake", func() bool {
		steps := server.Status().Steps
		return len(steps) == 3 && steps[2].Name == StepHandshake && !steps[2].Done && !steps[2].Failed
	})
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	<-waiting
	if steps := server.Status().Steps; !steps[2].Failed {
		t.Errorf("the steps are %+v", steps)
	}
}
