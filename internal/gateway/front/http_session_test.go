package front

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// What runs for one client alone ends when it has not been heard of for a while, and not
// while anything of it is under way.
func TestHTTPClientThatIsAwayHasNothingRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := fleet.New(fleet.Options{Config: &config.Config{Toolboxes: []config.Toolbox{{Name: "T", Servers: []config.Server{{Name: "S", Command: "x"}}}}}})
		box, _ := servers.Toolbox("T")
		server := box.Servers[0]
		f := newServer(Options{}).newHTTPServer(HTTPOptions{})
		client := newHTTPSession(f.server, f.spill.of(""), sender{})
		f.server.add(client.session)
		client.enter()
		client.joinFleet([]byte(`{"roots":{}}`), wire.Payload{})
		own := server.For(client.Profile())
		pass := func(d time.Duration) {
			<-time.After(d) // of the bubble
			client.rest(f.options.ClientIdle)
		}
		same := func() bool { return server.For(client.Profile()) == own }

		pass(2 * defaultAway) // a stream is open
		if !same() {
			t.Error("it lost its server while it was there")
		}
		client.idle.release()
		pass(defaultAway)
		if !same() {
			t.Error("it lost its server too early")
		}
		client.idle.hold() // for the request
		pass(defaultAway)
		if !same() {
			t.Error("it lost its server while a request was under way")
		}
		client.idle.release()
		client.enter()
		client.idle.release()
		pass(defaultAway)
		if !same() {
			t.Error("a request did not count")
		}
		pass(time.Second)
		client.enter()
		if same() {
			t.Error("its server is still there for it")
		}
		if again := server.For(client.Profile()); again == server {
			t.Error("it came back, and shares a server that it should not")
		}
		client.idle.release()
		f.dropSession(client)
	})
}
