package fleet

import (
	"context"
	"errors"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// TestFault checks that a faulty server fails at once, alone and always in the same words,
// until another configuration makes it whole.
func TestFault(t *testing.T) {
	fault := &config.Error{File: "f.json", Problems: []config.Problem{{Line: 2, Column: 3, Message: "it is wrong"}}}
	r := newRig(t, map[string]string{"A": `{"tools":[{"name":"t","inputSchema":{}}]}`, "B": `{"tools":[{"name":"t","inputSchema":{}}]}`}, nil, Options{})
	whole := r.table.Load().config
	broken := *whole
	broken.Toolboxes = []config.Toolbox{{Name: "T"}}
	for _, server := range whole.Toolboxes[0].Servers {
		if server.Name == "B" {
			server = config.Server{Name: "B", Fault: fault}
		}
		broken.Toolboxes[0].Servers = append(broken.Toolboxes[0].Servers, server)
	}
	r.Apply(&broken)
	r.box, _ = r.Toolbox("T")
	profile := NewClientProfile(ProfileOptions{Capabilities: []byte(`{"sampling":{}}`)})
	defer profile.Close()
	for range 2 {
		for _, opened := range Connect(context.Background(), r.box.Servers, profile, nil) {
			isFaulty := opened.Server.Name() == "B"
			if isFaulty != errors.Is(opened.Err, fault) || isFaulty == (opened.Lease != nil) {
				t.Errorf("%s: %v", opened.Server.Name(), opened.Err)
			}
			if opened.Lease != nil {
				opened.Lease.Release()
			}
		}
	}
	server := r.server(t, "B")
	if status := server.Status(); status.State != Faulty || status.LastError != "f.json:2:3: it is wrong" {
		t.Errorf("status %+v", status)
	}
	if err := server.Restart(context.Background()); !errors.Is(err, fault) {
		t.Errorf("restart: %v", err)
	}
	if r.starts(t, "B") != 0 {
		t.Error("the faulty server was started")
	}
	r.Apply(whole)
	r.box, _ = r.Toolbox("T")
	lease, err := r.server(t, "B").Lease(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	lease.Release()
}
