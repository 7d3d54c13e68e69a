package cli

import (
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
)

func TestUnusedLogins(t *testing.T) {
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for _, test := range []struct {
		login       credentials.Credential
		state       string
		isRenewable bool
	}{
		{credentials.Credential{Access: "a", Expires: future}, "signed in", false},
		{credentials.Credential{Access: "a"}, "signed in", false},
		{credentials.Credential{Access: "a", Expires: past}, "expired", false},
		{credentials.Credential{Access: "a", Refresh: "r", Expires: past}, "expired, will refresh", true},
		{credentials.Credential{Access: "a", Refresh: "r", Expires: past, Dead: "it was refused"}, "login needed", false},
	} {
		if got := new(logins).unused(&test.login); got.State != test.state || got.Renewable != test.isRenewable {
			t.Errorf("%+v: %q, renewable %v", test.login.Expires, got.State, got.Renewable)
		}
	}
}
