package fleet

import "testing"

// Who looks why a call failed comes after its client has left.
func TestFailureOutlivesTheClient(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"start":[{"exit":3}]}`}, nil, Options{})
	server := r.server(t, "S")
	m := newMember(t, `{"roots":{}}`)
	if _, err := server.For(m.ClientProfile).Lease(t.Context()); err == nil {
		t.Fatal("it started")
	}
	m.MarkAway()
	status := r.Status()
	if len(status) != 1 || status[0].LastError == "" || status[0].Failures != 1 || status[0].Since.IsZero() {
		t.Fatalf("the failure is gone with its client: %+v", status)
	}
	if err := server.Restart(t.Context()); err == nil {
		t.Fatal("it started again")
	}
	if server.variants.gone.Load() != nil {
		t.Error("a failure from before the restart is still shown")
	}
}
