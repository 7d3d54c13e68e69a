package front

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
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

// Who looks at the workbench sees the names of people, and not what tells them apart.
func TestInstancesHaveNamesOfPeople(t *testing.T) {
	host := process.NewHost(process.HostOptions{})
	servers := fleet.New(fleet.Options{Host: host, Config: &config.Config{Toolboxes: []config.Toolbox{{Name: "T", Servers: []config.Server{
		{Name: "S", Command: "/no/such/command", Instances: config.InstancesPerPerson},
	}}}}})
	defer func() {
		if err := errors.Join(servers.Stop(context.Background()), host.Close(context.Background())); err != nil {
			t.Error(err)
		}
	}()
	box, _ := servers.Toolbox("T")
	f := newServer(Options{}).newHTTPServer(HTTPOptions{})
	for _, who := range []Identity{
		{ID: "person f016f016", Caller: config.CallerPerson + "ann", Display: "Ann Example"},
		{ID: "person 0b0b0b0b", Caller: config.CallerPerson + "auth0|ben:1"},
		{ID: "0c0c0c0c", Caller: config.CallerToken + "ci"},
		{ID: "certificate 0d0d0d0d", Caller: config.CallerCertificate + "ci.example.com"},
	} {
		client := newHTTPSession(f.server, f.spill.of(""), senderOf(who, "127.0.0.1:1", ""))
		f.server.add(client.session)
		client.joinFleet(nil, wire.Payload{})
		defer f.dropSession(client)
		if _, err := box.Servers[0].LeaseFor(t.Context(), client.Profile()); err == nil {
			t.Fatal("the server started")
		}
	}
	names := map[string]bool{}
	for _, row := range servers.Status() {
		names[row.For.Person] = true
	}
	if !maps.Equal(names, map[string]bool{"Ann Example": true, "auth0|ben:1": true, "ci": true, "ci.example.com": true}) {
		t.Errorf("the instances are for %v", names)
	}
}
