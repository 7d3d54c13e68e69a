package front

import "testing"

func TestOnlyClientsThatUseSomethingAreListed(t *testing.T) {
	server := newServer(Options{})
	address, _ := listen(t, server, HTTPOptions{})
	discover, headers := modernRequest("server/discover", "")
	exchangeWith(t, "POST", address+"/mcp", discover, headers...)
	if got := server.Clients(); len(got) != 0 {
		t.Errorf("one that only asked which revisions there are is listed: %+v", got)
	}
	list, headers := modernRequest("tools/list", "")
	exchangeWith(t, "POST", address+"/mcp", list, headers...)
	if got := server.Clients(); len(got) != 1 {
		t.Errorf("%d clients are listed, want the one that listed tools", len(got))
	}
}
